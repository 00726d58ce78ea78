package ask

import (
	"encoding/json"

	"claude-supervise/signals"
)

// A Reply is the body that answers a call in its own turn, as the CLI takes it.
type Reply struct {
	Behavior     string          `json:"behavior,omitempty"` // allow, deny
	UpdatedInput json.RawMessage `json:"updatedInput,omitempty"`
	Message      string          `json:"message,omitempty"`

	Action  string          `json:"action,omitempty"` // of an elicitation: accept, decline, cancel
	Content json.RawMessage `json:"content,omitempty"`
}

// A SeenCall is what a person is shown of a call, as it looks here.
type SeenCall struct {
	signals.Question
	Rule string
}
