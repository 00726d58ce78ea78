package procs

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// A line is any output line of the protocol: the members that we use of all its types. See doc.go.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"`
	UUID    string `json:"uuid"`

	// assistant, user
	Message   *apiMessage `json:"message"`
	Synthetic bool        `json:"is_api_error_message"` // an API failure told in the assistant's place
	Replay    bool        `json:"isReplay"`

	// control_request, control_cancel_request, control_response
	RequestID string           `json:"request_id"`
	Request   *controlRequest  `json:"request"`
	Response  *controlResponse `json:"response"`

	// command_lifecycle
	CommandUUID string `json:"command_uuid"`
	State       string `json:"state"`

	// result
	IsError        bool     `json:"is_error"`
	TerminalReason string   `json:"terminal_reason"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	APIStatus      int      `json:"api_error_status"`
	NumTurns       int      `json:"num_turns"`
	TotalCostUSD   float64  `json:"total_cost_usd"`
	SinceLast      map[string]struct {
		CostUSD float64 `json:"costUSD"`
	} `json:"model_usage_since_last_result"` // 2.1.329
	Usage  usage `json:"usage"`
	Origin struct {
		Kind string `json:"kind"`
	} `json:"origin"`

	// system
	SessionID      string       `json:"session_id"`
	Version        string       `json:"claude_code_version"`
	PermissionMode string       `json:"permissionMode"`
	Model          string       `json:"model"`
	Tasks          []streamTask `json:"tasks"`
	Status         string       `json:"status"`
	Text           string       `json:"text"`
	Attempt        int          `json:"attempt"`
	MaxRetries     int          `json:"max_retries"`
	RetryDelayMS   float64      `json:"retry_delay_ms"`
	ErrorStatus    int          `json:"error_status"`
	Error          string       `json:"error"`
	streamTask

	// tool_progress
	ToolName string  `json:"tool_name"`
	Elapsed  float64 `json:"elapsed_time_seconds"`

	// rate_limit_event, known from the vendor's documentation only
	RateLimit struct {
		ResetsAt int64 `json:"resetsAt"` // Unix seconds
	} `json:"rate_limit_info"`
}

type apiMessage struct {
	ID      string `json:"id"`
	Content blocks `json:"content"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   blocks          `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks is message content: an array of blocks, or a string for a single text.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		one := block{Type: "text"}
		if err := json.Unmarshal(data, &one.Text); err != nil {
			return err
		}
		*b = blocks{one}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// text joins the texts among the blocks.
func (b blocks) text() string {
	if len(b) == 1 {
		return b[0].Text
	}
	var texts []string
	for _, block := range b {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
}

type usage struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	Output        int64 `json:"output_tokens"`
}

type controlRequest struct {
	Subtype string `json:"subtype"`

	// can_use_tool
	ToolName       string          `json:"tool_name"`
	Input          json.RawMessage `json:"input"`
	ToolUseID      string          `json:"tool_use_id"`
	Description    string          `json:"description"`
	DecisionReason string          `json:"decision_reason"`
	AgentID        string          `json:"agent_id"`

	// hook_callback; its input is read when the callback is ours
	CallbackID string `json:"callback_id"`
}

type stopInput struct {
	Transcript  string      `json:"transcript_path"`
	LastMessage string      `json:"last_assistant_message"`
	Active      bool        `json:"stop_hook_active"`
	Background  *[]hookTask `json:"background_tasks"` // absent before 2.1.200
	Crons       []struct {
		Schedule string `json:"schedule"`
		Prompt   string `json:"prompt"`
	} `json:"session_crons"`
}

type controlResponse struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error"`
}

// What the process itself has to deal with; neither is handed on.
type (
	// unanswerable is a control request that nobody above understands.
	unanswerable struct{ Request, Subtype string }

	// replied is the answer to a control request of ours.
	replied struct{ Request, Error string }
)

func (unanswerable) message() {}
func (replied) message()      {}

// A decoder turns the lines of one process into messages. It remembers what several lines say together.
type decoder struct {
	total      float64 // cost of this process, by its last result
	background background
	receipts   receipts
	resets     time.Time // of the last rate_limit_event
}

// decode gives the messages that one line holds, most often one or none, and whether the line was JSON. What it gives
// shares no memory with data.
func (d *decoder) decode(data []byte) (messages []Message, isJSON bool) {
	data = bytes.TrimSpace(data)
	if bytes.IndexByte(data, 0x1b) >= 0 { // never inside JSON, where it would be escaped
		data = bytes.TrimSpace([]byte(ansi.Strip(string(data))))
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

func garbled(data []byte) Garbled {
	return Garbled{Line: cut(strings.ToValidUTF8(string(data[:min(len(data), maxShown)]), "\uFFFD"), maxShown)}
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
			return one(replied{Request: l.Response.RequestID, Error: l.Response.Error})
		}
	case "tool_progress":
		return one(Activity{Text: l.ToolName + ", " + (time.Duration(l.Elapsed) * time.Second).String()})
	case "rate_limit_event":
		if l.RateLimit.ResetsAt > 0 {
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
	for _, b := range l.Message.Content {
		switch {
		case b.Type == "text" && l.Synthetic:
			out = append(out, Activity{Text: cut(b.Text, maxShown)}) // not the assistant's words; the result tells it too
		case b.Type == "text":
			out = append(out, Text{ID: l.Message.ID, Parent: l.Parent, Text: b.Text})
		case b.Type == "tool_use":
			out = append(out, ToolUse{MessageID: l.Message.ID, Parent: l.Parent, ID: b.ID, Name: b.Name, Input: b.Input})
		}
	}
	return out
}

func (d *decoder) user(l *line) (out []Message) {
	if l.Message == nil {
		return nil
	}
	var said []string
	for _, b := range l.Message.Content {
		switch b.Type {
		case "tool_result":
			out = append(out, ToolResult{
				Parent: l.Parent, ToolUse: b.ToolUseID, Text: cut(b.Content.text(), maxResult), IsError: b.IsError,
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
	r := Result{
		Subtype:        l.Subtype,
		TerminalReason: l.TerminalReason,
		Text:           l.Result,
		Origin:         l.Origin.Kind,
		IsError:        l.IsError,
		APIStatus:      l.APIStatus,
		NumTurns:       l.NumTurns,
		InputTokens:    l.Usage.Input + l.Usage.CacheCreation + l.Usage.CacheRead,
		OutputTokens:   l.Usage.Output,
		CostUSD:        d.cost(l),
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

// cost gives what a result adds. The total of a process cannot be trusted for that on 2.1.329, where it goes on from
// the conversation's earlier processes, or begins at 0 after a kill; but that release says the difference itself. On
// the older ones each process begins at 0.
func (d *decoder) cost(l *line) float64 {
	before := d.total
	d.total = l.TotalCostUSD
	if l.SinceLast == nil {
		return max(l.TotalCostUSD-before, 0)
	}
	sum := 0.0
	for _, model := range l.SinceLast {
		sum += model.CostUSD
	}
	return sum
}

func (d *decoder) system(l *line) []Message {
	switch l.Subtype {
	case "init":
		d.receipts.begin()
		return one(Init{SessionID: l.SessionID, Version: l.Version, PermissionMode: l.PermissionMode, Model: l.Model})
	case "api_retry":
		return one(Retry{
			Attempt: l.Attempt, Max: l.MaxRetries, Status: l.ErrorStatus, Error: l.Error,
			Delay: time.Duration(l.RetryDelayMS * float64(time.Millisecond)),
		})
	case "background_tasks_changed", "task_started", "task_notification":
		if changed, ok := d.background.told(l); ok {
			return one(changed)
		}
	case "task_progress":
		return activity(l.Description)
	case "notification":
		return activity(l.Text)
	case "status":
		return activity(l.Status)
	}
	return nil
}

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
	case r.Subtype == "can_use_tool":
		return one(Ask{
			Request: l.RequestID, ToolUse: r.ToolUseID, Name: r.ToolName, Description: r.Description,
			Reason: r.DecisionReason, AgentID: r.AgentID, Input: r.Input,
		})
	case r.Subtype == "hook_callback" && r.CallbackID == stopCallback:
		return one(d.stopHook(l.RequestID, r.Input))
	default:
		return one(unanswerable{Request: l.RequestID, Subtype: r.Subtype})
	}
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
