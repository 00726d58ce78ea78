package procs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// What the process itself has to deal with; none is handed on.
type (
	// unanswerable is a control request that nobody above understands.
	unanswerable struct{ Request, Subtype string }

	// replied is the answer to a control request of ours.
	replied struct{ Request, Error string }

	// starting is the hook before a call that starts a subagent.
	starting struct {
		Request string
		Input   json.RawMessage
	}

	// calling is the hook before a call that AskedFirst has.
	calling starting
)

func (starting) message() {}

func (calling) message() {}

func (unanswerable) message() {}
func (replied) message()      {}

// A decoder turns the lines of one process into messages. It remembers what several lines say together.
type decoder struct {
	ledger      ledger
	background  background
	receipts    receipts
	subagents   subagents
	serverCalls serverCalls
	resets      time.Time // of the usage limit that is reached, by the last rate_limit_event
}

// decode gives the messages that one line holds, most often one or none, and whether the line was JSON. What it gives
// shares no memory with data.
func (d *decoder) decode(data []byte) (messages []Message, isJSON bool) {
	data = bytes.TrimSpace(data)
	if bytes.IndexByte(data, 0x1b) >= 0 { // never inside JSON, where it would be escaped
		data = bytes.TrimFunc([]byte(ansi.Strip(string(data))), func(r rune) bool {
			return unicode.IsSpace(r) || unicode.IsControl(r)
		})
	}
	if len(data) == 0 {
		return nil, false
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		// A member of another type than ours is an unknown field; the rest of the line was read all the same.
		if !isTypeError(err) {
			return []Message{garbled(data)}, false
		}
	}
	return d.messages(&l), true
}

func garbled(data []byte) Garbled { return Garbled{Line: shown(data)} }

// shown gives the beginning of a line that is no JSON.
func shown(data []byte) string {
	return cut(strings.ToValidUTF8(string(data[:min(len(data), maxShown)]), "\uFFFD"), maxShown)
}

func (d *decoder) messages(l *line) []Message {
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
		return d.receipts.lifecycle(l.CommandUUID, l.State)
	case "control_request":
		return d.request(l)
	case "control_cancel_request":
		return one(AskCancelled{Request: l.RequestID})
	case "control_response":
		if l.Response != nil {
			if session := l.Response.Response.Session; session != nil && l.Response.RequestID == usageRequest {
				d.ledger.told(session.TotalCostUSD, session.ModelUsage)
			}
			return one(replied{Request: l.Response.RequestID, Error: l.Response.Error})
		}
	case "tool_progress":
		return one(Activity{Text: l.ToolName + ", " + (time.Duration(l.Elapsed) * time.Second).String(), Beat: true})
	case "rate_limit_event":
		d.resets = time.Time{} // a warning names the end of what is not reached yet
		if l.RateLimit.Status == "rejected" && l.RateLimit.ResetsAt > 0 {
			d.resets = time.Unix(l.RateLimit.ResetsAt, 0).UTC()
		}
	}
	return nil
}

func one(m Message) []Message { return []Message{m} }

func (d *decoder) assistant(l *line) (out []Message) {
	if l.Message == nil {
		return nil
	}
	d.subagents.says(l)
	if used, isNew := d.ledger.line(l); isNew {
		out = append(out, used)
	}
	for _, b := range l.Message.Content {
		switch {
		case b.Type == "text" && l.Synthetic: // not the assistant's words; the result tells it too, but a subagent's
			if l.Parent != "" {
				out = append(out, Activity{Text: cut(b.Text, maxShown)})
			}
		case b.Type == "text":
			out = append(out, Text{ID: l.Message.ID, Parent: l.Parent, Text: b.Text, Agent: l.AgentID})
		case b.Type == "tool_use":
			d.subagents.used(l.Parent, b)
			d.serverCalls.begin(b)
			out = append(out, ToolUse{MessageID: l.Message.ID, Parent: l.Parent, ID: b.ID, Name: b.Name, Input: b.Input,
				Agent: l.AgentID})
		}
	}
	return out
}

func (d *decoder) user(l *line) (out []Message) {
	if l.Message == nil {
		return nil
	}
	d.subagents.says(l)
	var said []string
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_result":
			text := b.Content.text()
			d.subagents.gave(b.ToolUseID)
			d.serverCalls.end(b.ToolUseID)
			out = append(out, ToolResult{
				Parent: l.Parent, ToolUse: b.ToolUseID, Text: cut(text, maxResult), IsError: b.IsError,
				BrokenOff: b.IsError && inPlaceOfAnswer(text),
			})
		case "text":
			said = append(said, b.Text)
		}
	}
	if len(said) > 0 && l.Parent == "" { // a subagent's prompt is told by the call that makes it
		out = append(out, Said{UUID: l.UUID, Text: strings.Join(said, "\n")})
		if l.Replay && l.Origin.Kind == "" {
			out = append(out, d.receipts.echo(l.UUID)...)
		}
	}
	return out
}

func (d *decoder) result(l *line) []Message {
	spent := d.ledger.result(l)
	r := Result{
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
		ServiceTier:    cut(l.Usage.ServiceTier, maxShown),
		CostUSD:        spent.cost,
	}
	if r.Text == "" {
		r.Text = strings.Join(l.Errors, "\n")
	}
	if r.IsError {
		r.Resets = d.resets
	}
	out := one(r)
	if changed, ok := d.background.turnEnded(r); ok {
		out = []Message{changed, r}
	}
	return append(out, d.receipts.end(r)...)
}

func (d *decoder) system(l *line) []Message {
	switch l.Subtype {
	case "init":
		d.receipts.begin()
		d.ledger.goesOn = ReleaseOf(l.Version).TotalsGoOn
		return one(Init{SessionID: l.SessionID, Version: l.Version, PermissionMode: l.PermissionMode,
			Model: l.Model, Agents: l.Agents})
	case "api_retry":
		return one(Retry{
			Attempt: l.Attempt, Max: l.MaxRetries, Status: l.ErrorStatus, Error: l.Error,
			Delay: time.Duration(l.RetryDelayMS * float64(time.Millisecond)),
		})
	case "background_tasks_changed", "task_started", "task_notification":
		var out []Message
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
		return one(Activity{}) // what it does, the subagent's own lines tell
	case "notification":
		if strings.HasSuffix(l.Text, dressing) {
			return one(Activity{})
		}
		return activity(l.Text)
	case "status":
		return activity(l.Status)
	}
	return nil
}

// dressing ends what the CLI shows on a terminal of its own, of things that are told here in another way: that the Stop
// hook sent the agent on.
const dressing = " · ctrl+o to see"

func activity(text string) []Message {
	if text == "" {
		return nil
	}
	return one(Activity{Text: cut(text, maxShown)})
}

func (d *decoder) request(l *line) []Message {
	if l.Request == nil {
		return one(unanswerable{Request: l.RequestID})
	}
	switch r := l.Request; {
	case r.Subtype == "can_use_tool" && r.ToolName != "":
		return one(Ask{
			Request: l.RequestID, ToolUse: r.ToolUseID, Name: r.ToolName, Description: r.Description,
			Reason: r.DecisionReason, From: d.subagents.caller(r.ToolUseID, r.AgentID, r.ToolName), Input: r.Input,
			Suggestions: r.Suggestions,
		})
	case r.Subtype == "elicitation":
		return one(d.elicits(l.RequestID, r))
	case r.Subtype == "mcp_message":
		return one(d.mcpMessage(l.RequestID, r))
	case r.Subtype == "hook_callback" && r.CallbackID == startCallback:
		return one(starting{Request: l.RequestID, Input: r.Input})
	case r.Subtype == "hook_callback" && r.CallbackID == callCallback:
		return one(calling{Request: l.RequestID, Input: r.Input})
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
		m.From = d.subagents.caller(m.ToolUse, "", ToolPrefix+call.Params.Name)
	}
	return m
}

func (d *decoder) stopHook(request string, raw json.RawMessage) StopHook {
	var in stopInput
	// What does not fit is a field that this release has in another form; the request has to be answered anyway.
	_ = json.Unmarshal(raw, &in)
	hook := StopHook{Request: request, Transcript: in.Transcript, LastMessage: in.LastMessage, Active: in.Active}
	if in.Background != nil {
		d.background.replace(*in.Background)
	}
	hook.Background = d.background.list()
	for _, c := range in.Crons {
		hook.Crons = append(hook.Crons, cut(c.Schedule+": "+c.Prompt, maxShown))
	}
	return hook
}
