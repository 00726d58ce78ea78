package standin

import (
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"
)

// A verdict says whether a call may be made.
type verdict struct {
	allowed bool
	input   map[string]any // the person's own, in place of the model's
	meta    doc
	updates []permissionUpdate
	refusal result
	lost    bool // the question went with the input: no denial, as the CLI counts them
}

// A permissionUpdate is what a person allows from now on, beside the one call. The stand-in knows rules and modes.
type permissionUpdate struct {
	Type     string `json:"type"`
	Behavior string `json:"behavior"`
	Mode     string `json:"mode"`
	Rules    []struct {
		Tool    string `json:"toolName"`
		Content string `json:"ruleContent"`
	} `json:"rules"`
}

// How a call came to be allowed, as the stream tells it.
var (
	byRule   = doc{"decision": "accept", "source": "config", "reason_type": "rule"}
	byConfig = doc{"decision": "accept", "source": "config"}
	byOther  = doc{"decision": "accept", "source": "config", "reason_type": "other"}
	byMode   = doc{"decision": "accept", "source": "config", "reason_type": "mode"}
	byHook   = doc{"decision": "accept", "source": "hook", "reason_type": "hook"}
	byPerson = doc{"decision": "accept", "source": "user_temporary"}
)

// permit decides on a call, or asks. The rules are those of the CLI as far as scenarios need them: AskUserQuestion is
// always asked, and so is what a hook wants asked; a rule or a mode allows the rest; reading in the folder is free.
func (c *conversation) permit(made call) (verdict, error) {
	inside := c.inside(c.path(made))
	hooked, err := c.askHooks(made)
	switch {
	case errors.Is(err, errInterrupted):
		return verdict{refusal: brokenOff(refusedCall)}, err
	case errors.Is(err, errStreamClosed):
		return verdict{refusal: brokenOff(refusedCall)}, nil
	case err != nil:
		return verdict{}, err
	case hooked.Decision == "deny":
		return verdict{refusal: refusal(hooked.Reason)}, nil
	case made.name == "AskUserQuestion", made.name == exitPlanMode:
	case made.matches(c.opts.denied):
		return c.deny(made, "rule", "Permission to use "+made.name+" has been denied."), nil
	case hooked.Decision == "allow":
		return verdict{allowed: true, meta: byHook, input: hooked.Updated}, nil
	case hooked.Decision == "ask":
	case made.name == "Agent" || made.name == "SendMessage":
		return verdict{allowed: true, meta: byConfig, input: hooked.Updated}, nil
	case c.opts.mode == modeBypass:
		return verdict{allowed: true, meta: byMode}, nil
	case c.allowedByRule(made):
		return verdict{allowed: true, meta: byRule}, nil
	case made.name == "Read" && inside:
		return verdict{allowed: true, meta: byMode}, nil
	case (made.name == "Write" || made.name == "Edit") && inside && c.opts.mode == modeEdits:
		return verdict{allowed: true, meta: byMode}, nil
	case made.name == "Write" && c.opts.mode == modePlan && c.path(made) == c.planFile():
		return verdict{allowed: true, meta: byOther}, nil
	case c.opts.mode == modeAuto && made.name == "Bash":
		return c.deny(made, "classifier", "Classifier unavailable"), nil
	}
	prompt := c.prompt(made, inside)
	if hooked.Decision == "ask" {
		prompt["decision_reason"] = hooked.Reason
		delete(prompt, "permission_suggestions")
	}
	data, err := c.request(prompt)
	switch {
	case errors.Is(err, errStreamClosed) && made.name == "AskUserQuestion":
		return verdict{refusal: brokenOff(refusedCall), lost: true}, errInterrupted
	case errors.Is(err, errInterrupted):
		return verdict{refusal: brokenOff(refusedCall)}, err
	case errors.Is(err, errStreamClosed):
		return verdict{refusal: refusal(closedStream)}, nil
	case errors.Is(err, errRefused):
		return verdict{refusal: refusal("Tool permission request failed: " + err.Error())}, nil
	case err != nil:
		return verdict{}, err
	}
	v, interrupt := decide(data)
	if interrupt {
		return verdict{refusal: brokenOff(refusedCall)}, errInterrupted
	}
	c.update(v.updates)
	return v, nil
}

// deny refuses a call without a question, which the stream tells.
func (c *conversation) deny(made call, by, reason string) verdict {
	denied := "Permission to use " + made.name + " has been denied."
	said := doc{"type": "system", "subtype": "permission_denied", "tool_name": made.name, "tool_use_id": made.id,
		"decision_reason_type": by, "message": denied}
	if reason != "" {
		said["decision_reason"] = reason
	}
	if c.sub != nil {
		said["agent_id"] = c.sub.id
	}
	c.print(said)
	r := refusal(denied)
	r.meta = doc{"decision": "reject", "source": "config", "reason_type": by}
	return verdict{refusal: r}
}

// update changes what is allowed, as an answer to a request for permission may.
func (a *agent) update(updates []permissionUpdate) {
	for _, u := range updates {
		switch u.Type {
		case "addRules":
			for _, r := range u.Rules {
				if u.Behavior != "allow" {
					continue
				}
				rule := r.Tool
				if r.Content != "" {
					rule += "(" + r.Content + ")"
				}
				a.opts.allowed = append(a.opts.allowed, rule)
			}
		case "setMode":
			a.setMode(u.Mode)
		}
	}
}

func refusal(text string) result {
	r := failure(text)
	r.kind = "permission-rule"
	return r
}

// decide reads the answer to a request for permission, and whether it ends the turn as well.
func decide(data json.RawMessage) (v verdict, interrupt bool) {
	var answer struct {
		Behavior     string             `json:"behavior"`
		Message      string             `json:"message"`
		Interrupt    bool               `json:"interrupt"`
		UpdatedInput map[string]any     `json:"updatedInput"`
		Updates      []permissionUpdate `json:"updatedPermissions"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return verdict{refusal: refusal("Tool permission request failed: " + err.Error())}, false
	}
	switch answer.Behavior {
	case "allow":
		return verdict{allowed: true, input: answer.UpdatedInput, updates: answer.Updates, meta: byPerson}, false
	case "deny":
		r := refusal(answer.Message)
		r.meta = doc{"decision": "reject", "source": "user_reject"}
		return verdict{refusal: r}, answer.Interrupt
	}
	return verdict{refusal: refusal("Tool permission request failed: its behavior is neither allow nor deny")}, false
}

// prompt is the request for permission to make a call.
func (c *conversation) prompt(made call, inside bool) doc {
	d := doc{"subtype": "can_use_tool", "tool_name": made.name, "display_name": made.name, "input": made.input,
		"tool_use_id": made.id}
	if c.sub != nil {
		d["agent_id"] = c.sub.id
	}
	path := c.path(made)
	switch made.name {
	case "AskUserQuestion":
		d["requires_user_interaction"], d["input"] = true, asksTyped(made.input)
		return d
	case exitPlanMode:
		d["requires_user_interaction"] = true
		return d
	case "Bash":
		d["description"], d["decision_reason"] = made.text("description"), "This command requires approval"
		d["permission_suggestions"] = []doc{{
			"type": "addRules", "behavior": "allow", "destination": "localSettings",
			"rules": []doc{{"toolName": "Bash", "ruleContent": made.text("command")}},
		}}
		return d
	}
	if server, tool, ok := servedName(made.name); ok {
		d["mcp_server"], d["display_name"], d["server_policy_ask_only"] = doc{"name": server, "source": "sdk"},
			title(tool), true
		d["permission_suggestions"] = []doc{{
			"type": "addRules", "behavior": "allow", "destination": "localSettings", "rules": []doc{{"toolName": made.name}},
		}}
		return d
	}
	input := maps.Clone(made.input)
	input["file_path"] = path
	if _, given := input["replace_all"]; made.name == "Edit" && !given {
		input["replace_all"] = false
	}
	d["input"] = input
	suggestions := []doc{}
	if c.opts.mode != modeEdits {
		suggestions = append(suggestions, doc{"type": "setMode", "mode": modeEdits, "destination": "session"})
	}
	d["description"] = path
	if inside {
		if rel, err := filepath.Rel(c.cwd, path); err == nil {
			d["description"] = rel
		}
	} else {
		suggestions = append(suggestions,
			doc{"type": "addDirectories", "directories": []string{filepath.Dir(path)}, "destination": "session"})
		d["decision_reason"], d["decision_reason_type"] = "Path is outside allowed working directories", "workingDir"
	}
	d["permission_suggestions"] = suggestions
	return d
}

// asksTyped is the input of AskUserQuestion as it is handed on where it may ask for text and numbers: each question
// says what it asks for, and has options.
func asksTyped(input map[string]any) map[string]any {
	qs, _ := input["questions"].([]any)
	input = maps.Clone(input)
	typed := make([]any, len(qs))
	for i, q := range qs {
		typed[i] = q
		if members, is := q.(map[string]any); is {
			defaults := map[string]any{"kind": "choice", "options": []any{}}
			maps.Copy(defaults, members)
			typed[i] = defaults
		}
	}
	if _, is := input["questions"].([]any); is {
		input["questions"] = typed
	}
	return input
}

// path is the file that a call names, "" if it names none.
func (a *agent) path(c call) string {
	path := c.text("file_path")
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(a.cwd, path)
	}
	return filepath.Clean(path)
}

// inside reports whether a path lies in the working directory, by its name.
func (a *agent) inside(path string) bool {
	rel, err := filepath.Rel(a.cwd, path)
	return err == nil && filepath.IsLocal(rel)
}

// allowedByRule reports whether a rule of --allowedTools lets the call through: Write, Bash(make), Bash(git log:*).
func (a *agent) allowedByRule(c call) bool { return c.matches(a.opts.allowed) }

// matches reports whether one of the rules is about the call.
func (c call) matches(rules []string) bool {
	for _, rule := range rules {
		name, spec, special := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
		if server, _, ok := servedName(c.name); ok && (name == "mcp__"+server || name == "mcp__"+server+"__*") {
			return true
		}
		if name != c.name {
			continue
		}
		prefix, any := strings.CutSuffix(spec, ":*")
		if !special || spec == "*" || any && strings.HasPrefix(c.text("command"), prefix) || !any &&
			c.text("command") == spec {
			return true
		}
	}
	return false
}
