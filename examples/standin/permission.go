package standin

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

// A verdict says whether a call may be made.
type verdict struct {
	allowed bool
	input   map[string]any // the person's own, in place of the model's
	meta    doc
	refusal result
	lost    bool // the question went with the input: no denial, as the CLI counts them
}

// How a call came to be allowed, as the stream tells it.
var (
	byRule   = doc{"decision": "accept", "source": "config", "reason_type": "rule"}
	byMode   = doc{"decision": "accept", "source": "config", "reason_type": "mode"}
	byPerson = doc{"decision": "accept", "source": "user_temporary"}
)

// permit decides on a call, or asks. The rules are those of the CLI as far as scenarios need them: AskUserQuestion is
// always asked; a rule or a mode allows the rest; reading in the working directory is free.
func (a *agent) permit(c call) (verdict, error) {
	inside := a.inside(a.path(c))
	switch {
	case c.name == "AskUserQuestion":
	case a.opts.mode == modeBypass:
		return verdict{allowed: true, meta: byMode}, nil
	case a.allowedByRule(c):
		return verdict{allowed: true, meta: byRule}, nil
	case c.name == "Read" && inside:
		return verdict{allowed: true, meta: byMode}, nil
	case (c.name == "Write" || c.name == "Edit") && inside && a.opts.mode == modeEdits:
		return verdict{allowed: true, meta: byMode}, nil
	}
	data, err := a.request(a.prompt(c, inside))
	switch {
	case errors.Is(err, errStreamClosed) && c.name == "AskUserQuestion":
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
	return v, nil
}

func refusal(text string) result {
	r := failure(text)
	r.kind = "permission-rule"
	return r
}

// decide reads the answer to a request for permission, and whether it ends the turn as well.
func decide(data json.RawMessage) (v verdict, interrupt bool) {
	var answer struct {
		Behavior     string         `json:"behavior"`
		Message      string         `json:"message"`
		Interrupt    bool           `json:"interrupt"`
		UpdatedInput map[string]any `json:"updatedInput"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return verdict{refusal: refusal("Tool permission request failed: " + err.Error())}, false
	}
	switch answer.Behavior {
	case "allow":
		return verdict{allowed: true, input: answer.UpdatedInput, meta: byPerson}, false
	case "deny":
		r := refusal(answer.Message)
		r.meta = doc{"decision": "reject", "source": "user_reject"}
		return verdict{refusal: r}, answer.Interrupt
	}
	return verdict{refusal: refusal("Tool permission request failed: its behavior is neither allow nor deny")}, false
}

// prompt is the request for permission to make a call.
func (a *agent) prompt(c call, inside bool) doc {
	d := doc{"subtype": "can_use_tool", "tool_name": c.name, "display_name": c.name, "input": c.input, "tool_use_id": c.id}
	path := a.path(c)
	switch c.name {
	case "AskUserQuestion":
		d["requires_user_interaction"] = true
		return d
	case "Bash":
		d["description"], d["decision_reason"] = c.text("description"), "This command requires approval"
		d["permission_suggestions"] = []doc{{
			"type": "addRules", "behavior": "allow", "destination": "localSettings",
			"rules": []doc{{"toolName": "Bash", "ruleContent": c.text("command")}},
		}}
		return d
	}
	suggestions := []doc{}
	if a.opts.mode != modeEdits {
		suggestions = append(suggestions, doc{"type": "setMode", "mode": modeEdits, "destination": "session"})
	}
	d["description"] = path
	if inside {
		if rel, err := filepath.Rel(a.cwd, path); err == nil {
			d["description"] = rel
		}
	} else {
		suggestions = append(suggestions, doc{"type": "addDirectories", "directories": []string{filepath.Dir(path)}, "destination": "session"})
		d["decision_reason"], d["decision_reason_type"] = "Path is outside allowed working directories", "workingDir"
	}
	d["permission_suggestions"] = suggestions
	return d
}

// path is the file that a call names, "" if it names none.
func (a *agent) path(c call) string {
	path := c.text("file_path")
	if path != "" && !filepath.IsAbs(path) {
		path = filepath.Join(a.cwd, path)
	}
	return filepath.Clean(path)
}

// inside tells whether a path lies in the working directory, by its name.
func (a *agent) inside(path string) bool {
	rel, err := filepath.Rel(a.cwd, path)
	return err == nil && filepath.IsLocal(rel)
}

// allowedByRule tells whether a rule of --allowedTools lets the call through: Write, Bash(make), Bash(git log:*).
func (a *agent) allowedByRule(c call) bool {
	for _, rule := range a.opts.allowed {
		name, spec, special := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
		if name != c.name {
			continue
		}
		prefix, any := strings.CutSuffix(spec, ":*")
		if !special || spec == "*" || any && strings.HasPrefix(c.text("command"), prefix) || !any && c.text("command") == spec {
			return true
		}
	}
	return false
}
