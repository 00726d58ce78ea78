package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// What the process itself has to deal with; none is handed on.
type (
	// unanswerable is a control request that nobody above understands.
	unanswerable struct {
		procs.Own
		Request, Subtype string
	}

	// replied is the answer to a control request of ours.
	replied struct {
		procs.Own
		Request, Error string
	}

	// calling is the hook before a call.
	calling struct {
		procs.Own
		Request string
		Input   json.RawMessage
		Call    *procs.Ask // as Refused.Call; nil as there
	}

	// compacted is the hook after a conversation was compacted.
	compacted struct {
		procs.Own
		Request string
		Input   json.RawMessage
	}
)

// A decoder turns the lines of one process into messages. It remembers what several lines say together.
type decoder struct {
	ledger      ledger
	background  background
	receipts    receipts
	subagents   subagents
	serverCalls serverCalls
	places      callPlaces
	asksRefused bool      // Spec.AsksRefused
	past        bool      // the lines are those of a transcript, which has no hooks and no permission_denied
	resets      time.Time // of the usage limit that is reached, by the last rate_limit_event
	hookRefused string    // why a hook let no turn begin for what was said last
	begun       bool      // a line of the protocol was read
}

// decode returns the messages that one line holds, most often one or none, and whether the line was JSON. What it gives
// shares no memory with data.
func (d *decoder) decode(data []byte) (messages []procs.Message, isJSON bool) {
	if data = stream.Clean(data); len(data) == 0 {
		return nil, false
	}
	var l line
	if !stream.Decode(data, &l) {
		return []procs.Message{garbled(data)}, false
	}
	d.begun = d.begun || l.Type != ""
	return d.messages(&l), true
}

// beginning returns where the first line of the protocol begins behind what a wrapper has printed without ending its
// own line, 0 if there is nothing before it. Later lines are only taken whole: what stands in their middle may be
// quoted.
func (d *decoder) beginning(data []byte) int {
	const opening = `{"`
	for at := 0; !d.begun; at++ {
		next := bytes.Index(data[at:], []byte(opening))
		if at += next; next < 0 || at >= procs.MaxShown {
			break
		}
		var l line
		if stream.Decode(data[at:], &l) && l.Type != "" {
			return at
		}
	}
	return 0
}

func garbled(data []byte) procs.Garbled { return procs.Garbled{Line: procs.Shown(data)} }

func (d *decoder) messages(l *line) []procs.Message {
	if refused := l.hookRefused(); refused != "" {
		return d.refused(l, refused)
	}
	return append(d.receipts.next(), d.read(l)...)
}

// refused takes the line by which the CLI tells that a hook has refused what was said. One that has it stopped keeps
// it in the conversation, so that it is not said again.
func (d *decoder) refused(l *line, why string) []procs.Message {
	if l.Outcome.Kept {
		d.hookRefused = why
		return d.receipts.next()
	}
	if uuid := d.receipts.refuse(); uuid != "" {
		return one(procs.PromptRefused{UUID: uuid, Reason: why})
	}
	d.hookRefused = why
	return nil
}

// hookRefused returns what a hook has refused what was said with, "" for any other line. 2.1.200 tells it in words
// alone.
func (l *line) hookRefused() string {
	if l.Type != "system" || l.Subtype != "informational" || !l.Prevents {
		return ""
	}
	why, blocked := strings.CutPrefix(l.Content, "UserPromptSubmit operation blocked by hook:")
	if !blocked && l.Outcome.Kind == "" && !strings.HasPrefix(l.Content, "Operation stopped by hook") {
		return ""
	}
	why, _, _ = strings.Cut(why, "\n\nOriginal prompt: ")
	why = strings.Join(strings.Fields(procs.Cut(why, procs.MaxShown)), " ")
	return cmp.Or(why, l.Outcome.Reason, "it gave no reason")
}

func (d *decoder) read(l *line) []procs.Message {
	switch l.Type {
	case "assistant":
		return d.assistant(l)
	case "user":
		return d.user(l)
	case "result":
		return d.result(l)
	case "system":
		return d.system(l)
	case "command_lifecycle":
		if l.WakeUpSource != "" {
			return append(d.receipts.lifecycle(l.CommandUUID, l.State), procs.WakeUp{Source: procs.Cut(l.WakeUpSource, maxID)})
		}
		return d.receipts.lifecycle(l.CommandUUID, l.State)
	case "control_request":
		return d.request(l)
	case "control_cancel_request":
		return one(procs.AskCancelled{Request: l.RequestID})
	case "control_response":
		if l.Response != nil {
			if session := l.Response.Response.Session; session != nil && l.Response.RequestID == usageRequest {
				d.ledger.told(session.TotalCostUSD, session.ModelUsage)
			}
			return one(replied{Request: l.Response.RequestID, Error: l.Response.Error})
		}
	case "tool_progress":
		return one(procs.Activity{Text: l.ToolName + ", " + (time.Duration(l.Elapsed) * time.Second).String(), Beat: true})
	case "rate_limit_event":
		d.resets = time.Time{} // a warning names the end of what is not reached yet
		if l.RateLimit.Status == "rejected" && l.RateLimit.ResetsAt > 0 {
			d.resets = time.Unix(l.RateLimit.ResetsAt, 0).UTC()
		}
	}
	return nil
}

func one(m procs.Message) []procs.Message { return []procs.Message{m} }

func (d *decoder) assistant(l *line) (out []procs.Message) {
	d.subagents.says(l)
	if used, isNew := d.ledger.line(l); isNew {
		out = append(out, used)
	}
	for _, b := range l.Message.Content {
		switch {
		case b.Type == "text" && l.APIError: // not the assistant's words; the result tells it too, but a subagent's
			if l.Parent != "" {
				out = append(out, procs.Activity{Text: procs.Cut(b.Text, procs.MaxShown)})
			}
		case b.Type == "text":
			out = append(out, procs.Text{ID: l.Message.ID, Parent: l.Parent, Text: b.Text, Agent: l.AgentID})
		case b.Type == "tool_use":
			d.subagents.used(l.Parent, b)
			d.serverCalls.begin(b)
			d.places.at(b.ID).line = l.UUID
			if d.past {
				d.keep(procs.Ask{ToolUse: b.ID, Name: b.Name, Input: b.Input, Line: l.UUID})
			}
			out = append(out, procs.ToolUse{MessageID: l.Message.ID, Parent: l.Parent, ID: b.ID, Name: b.Name, Input: b.Input,
				Agent: l.AgentID})
		}
	}
	return out
}

func (d *decoder) user(l *line) (out []procs.Message) {
	d.subagents.says(l)
	var said []string
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_result":
			text := b.Content.Text()
			d.subagents.gave(b.ToolUseID)
			d.serverCalls.end(b.ToolUseID)
			r := procs.ToolResult{
				Parent: l.Parent, ToolUse: b.ToolUseID, Text: procs.Cut(text, procs.MaxResult), IsError: b.IsError,
				BrokenOff: b.IsError && inPlaceOfAnswer(text),
			}
			for _, meta := range l.ResultMeta {
				if meta.ID == b.ToolUseID {
					r.Hook = meta.Decision.byHook(b, l.ToolUseResult)
				}
			}
			call := d.places.forget(b.ToolUseID)
			if call != nil && d.past && l.Decision.byItself() {
				call.Cwd = l.Cwd
				out = append(out, refusedIn(call.Name, b.ToolUseID, l.Decision.Reason, "", call))
			}
			out = append(out, r)
		case "text":
			said = append(said, b.Text)
		}
	}
	if len(said) > 0 && l.Parent == "" { // a subagent's prompt is told by the call that makes it
		out = append(out, procs.Said{UUID: l.UUID, Text: strings.Join(said, "\n")})
		if o := l.Origin; o.Kind == "peer" {
			out = append(out, procs.Peer{From: procs.Cut(cmp.Or(o.Name, o.From), procs.MaxShown),
				Text: procs.Cut(cmp.Or(o.Body, said[0]), procs.MaxResult)})
		}
		if l.Replay && l.Origin.Kind == "" {
			out = append(out, d.receipts.echo(l.UUID)...)
		}
	}
	return out
}

func (d *decoder) result(l *line) []procs.Message {
	spent := d.ledger.result(l)
	r := procs.Result{
		Subtype:        l.Subtype,
		TerminalReason: l.TerminalReason,
		Text:           l.Result,
		Origin:         l.Origin.Kind,
		IsError:        l.IsError,
		APIStatus:      l.APIStatus,
		NumTurns:       l.NumTurns,
		InputTokens:    spent.input,
		OutputTokens:   spent.output,
		CacheRead:      spent.cacheRead,
		CacheCreation:  spent.cacheCreation,
		ServiceTier:    procs.Cut(l.Usage.ServiceTier, procs.MaxShown),
		CostUSD:        spent.cost,
	}
	if r.Text == "" {
		r.Text = strings.Join(l.Errors, "\n")
	}
	if r.NumTurns == 0 && !r.IsError {
		r.HookRefused = d.hookRefused
	}
	d.hookRefused = ""
	if r.IsError {
		r.Resets = d.resets
	}
	out := one(r)
	if changed, ok := d.background.turnEnded(r); ok {
		out = []procs.Message{changed, r}
	}
	return append(out, d.receipts.end(r)...)
}

func (d *decoder) system(l *line) []procs.Message {
	switch l.Subtype {
	case "init":
		d.receipts.begin()
		d.ledger.goesOn = ReleaseOf(l.Version).TotalsGoOn
		return one(procs.Init{SessionID: l.SessionID, Version: l.Version, PermissionMode: l.PermissionMode,
			Model: l.Model, Agents: l.Agents})
	case "api_retry":
		return one(procs.Retry{
			Attempt: l.Attempt, Max: l.MaxRetries, Status: l.ErrorStatus, Error: l.Error,
			Delay: time.Duration(l.RetryDelayMS * float64(time.Millisecond)),
		})
	case "background_tasks_changed", "task_started", "task_notification":
		var out []procs.Message
		switch l.Subtype {
		case "task_started":
			d.subagents.started(l.streamTask)
		case "task_notification":
			out = d.subagents.ended(l.streamTask)
		}
		if changed, ok := d.background.told(l); ok {
			out = append(out, changed)
		}
		return out
	case "task_progress":
		d.subagents.progressed(l.streamTask)
		return one(procs.Activity{}) // what it does, the subagent's own lines tell
	case "notification":
		if strings.HasSuffix(l.Text, dressing) {
			return one(procs.Activity{})
		}
		return activity(l.Text)
	case "status":
		return activity(l.Status)
	case "permission_denied":
		return one(refusedIn(l.ToolName, l.ToolUseID, l.ReasonType, l.Reason, d.places.forget(l.ToolUseID)))
	}
	return nil
}

func refusedIn(tool, toolUse, by, reason string, call *procs.Ask) procs.Refused {
	if tool == noAnswers {
		call = nil
	}
	return procs.Refused{Tool: procs.Cut(tool, maxID), ToolUse: procs.Cut(toolUse, maxID), Why: refusedFor(by, reason),
		Fixed: slices.Contains(fixed, by), Call: call}
}

// fixed are the types of reasons that an answer of the hook before a call does not lift (2.1.332).
var fixed = []string{"rule", "subcommandResults", "hook"}

// noAnswers is the tool that would go on without any answer if the hook before the call let it through.
const noAnswers = "AskUserQuestion"

// refusals are why the CLI refuses calls without a question, by the type that it gives for it (2.1.332).
var refusals = map[string]string{
	"mode":              "its permission mode asks nobody",
	"asyncAgent":        "nobody may be asked",
	"subcommandResults": "a rule denies it, or part of it",
	"rule":              "a rule denies it",
	"classifier":        "the check of the mode auto has refused it",
	"hook":              "a hook denies it",
}

// refusedFor returns why a call was refused, in words.
func refusedFor(by, reason string) string {
	said := strings.Join(strings.Fields(procs.Cut(reason, procs.MaxShown)), " ")
	switch why := refusals[by]; {
	case why != "" && said != "":
		return why + ": " + said
	case why != "":
		return why
	}
	return said
}

// dressing ends what the CLI shows on a terminal of its own, of things that are told here in another way: that the Stop
// hook sent the agent on.
const dressing = " · ctrl+o to see"

func activity(text string) []procs.Message {
	if text == "" {
		return nil
	}
	return one(procs.Activity{Text: procs.Cut(text, procs.MaxShown)})
}

func (d *decoder) request(l *line) []procs.Message {
	if l.Request == nil {
		return one(unanswerable{Request: l.RequestID})
	}
	switch r := l.Request; {
	case r.Subtype == "can_use_tool" && r.ToolName != "":
		return one(procs.Ask{
			Request: l.RequestID, ToolUse: r.ToolUseID, Name: r.ToolName, Description: r.Description,
			Reason: r.DecisionReason, From: d.subagents.caller(r.ToolUseID, r.AgentID, r.ToolName), Input: r.Input,
			Suggestions: r.Suggestions, Cwd: d.places.get(r.ToolUseID).cwd,
			Line: d.places.get(r.ToolUseID).line,
		})
	case r.Subtype == "elicitation":
		return one(d.elicits(l.RequestID, r))
	case r.Subtype == "mcp_message":
		return one(d.mcpMessage(l.RequestID, r))
	case r.Subtype == "hook_callback" && r.CallbackID == callCallback:
		d.places.note(r.Input)
		return one(calling{Request: l.RequestID, Input: r.Input, Call: d.expectable(l.RequestID, r.Input)})
	case r.Subtype == "hook_callback" && r.CallbackID == compactCallback:
		return one(compacted{Request: l.RequestID, Input: r.Input})
	case r.Subtype == "hook_callback" && r.CallbackID == stopCallback:
		return one(d.stopHook(l.RequestID, r.Input))
	default:
		return one(unanswerable{Request: l.RequestID, Subtype: r.Subtype})
	}
}

func (d *decoder) mcpMessage(request string, r *controlRequest) mcpMessage {
	m := mcpMessage{Request: request, Server: r.ServerName, Message: r.Message}
	var call struct {
		Method string `json:"method"`
		Params struct {
			Name string `json:"name"`
			Meta struct {
				ToolUse string `json:"claudecode/toolUseId"`
			} `json:"_meta"`
		} `json:"params"`
	}
	if json.Unmarshal(r.Message, &call) == nil && call.Method == "tools/call" {
		m.ToolUse = call.Params.Meta.ToolUse
		m.Line = d.places.get(m.ToolUse).line
		m.From = d.subagents.caller(m.ToolUse, "", ToolPrefix+call.Params.Name)
	}
	return m
}

func (d *decoder) stopHook(request string, raw json.RawMessage) procs.StopHook {
	var in stopInput
	// What does not fit is a field that this release has in another form; the request has to be answered anyway.
	_ = json.Unmarshal(raw, &in)
	hook := procs.StopHook{Request: request, Transcript: in.Transcript, LastMessage: in.LastMessage, Active: in.Active}
	if in.Background != nil {
		d.background.replace(*in.Background)
	}
	hook.Background = d.background.list()
	for _, c := range in.Crons {
		hook.Crons = append(hook.Crons, procs.Cut(c.Schedule+": "+c.Prompt, procs.MaxShown))
	}
	return hook
}
