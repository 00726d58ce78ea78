package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// askUserQuestion is the CLI's own tool to ask.
const askUserQuestion = "AskUserQuestion"

// What a person may answer to a permission prompt and to a blocker, beside free text.
const (
	allow    = "allow"
	deny     = "deny"
	resolved = "resolved"
	giveUp   = "give up"
)

// asking reads a control request as the questions that a person answers. AskUserQuestion holds one to four; any
// other tool, and an AskUserQuestion whose input is not of its form, is one question of permission.
func asking(m procs.Ask) (checkpoints.QuestionKind, []signals.Question) {
	if m.Name == askUserQuestion {
		if qs := userQuestions(m.Input); len(qs) > 0 {
			return checkpoints.AskClarification, qs
		}
	}
	text := "Allow " + m.Name + "?"
	if m.Description != "" {
		text = fmt.Sprintf("Allow %s: %s?", m.Name, firstLine(m.Description))
	}
	context := preview(m.Input)
	if m.Reason != "" {
		context += "\nAsked because: " + m.Reason
	}
	if m.AgentID != "" {
		context += "\nAsked by the subagent " + m.AgentID
	}
	return checkpoints.AskPermission, []signals.Question{{
		ID: m.Name, Header: m.Name, Text: text, Context: context,
		Options: []signals.Option{
			{Label: allow, Description: "this once"},
			{Label: deny, Description: "refuse it; add why, e.g. deny: use the test database"},
		},
	}}
}

func userQuestions(input json.RawMessage) []signals.Question {
	var in struct {
		Questions []struct {
			Question    string           `json:"question"`
			Header      string           `json:"header"`
			Options     []signals.Option `json:"options"`
			MultiSelect bool             `json:"multiSelect"`
		} `json:"questions"`
	}
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	var qs []signals.Question
	for i, q := range in.Questions {
		if q.Question == "" {
			return nil
		}
		qs = append(qs, signals.Question{
			ID: fmt.Sprintf("Q%d", i+1), Text: q.Question, Header: q.Header, Options: q.Options, MultiSelect: q.MultiSelect,
		})
	}
	return qs
}

// asks reads a text signal as the questions that a person answers: a clarification is its own, a stop is one, anything
// else none.
func asks(s signals.Signal) (checkpoints.QuestionKind, []signals.Question) {
	switch s.Kind {
	case signals.Clarification:
		return checkpoints.AskClarification, s.Questions
	case signals.Stop:
		return checkpoints.AskBlocker, []signals.Question{blockerQuestion(s)}
	}
	return "", nil
}

// maxPreview bounds what of a tool's input a question carries, in bytes.
const maxPreview = 16 << 10

// preview shows a tool's input so that a person can judge it: each member on its own line, texts unescaped.
func preview(input json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(input, &members) != nil {
		return bounded(string(input))
	}
	var b bytes.Buffer
	dec := json.NewDecoder(bytes.NewReader(input))
	_, _ = dec.Token() // the opening brace; the input was read whole above
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			break
		}
		var value any
		if dec.Decode(&value) != nil {
			break
		}
		if text, ok := value.(string); ok {
			fmt.Fprintf(&b, "%v: %s\n", name, text)
			continue
		}
		doc, err := json.Marshal(value)
		if err != nil {
			break
		}
		fmt.Fprintf(&b, "%v: %s\n", name, doc)
	}
	return bounded(string(bytes.TrimRight(b.Bytes(), "\n")))
}

func bounded(s string) string {
	if len(s) <= maxPreview {
		return s
	}
	return fmt.Sprintf("%s\n(%d bytes more)", s[:maxPreview], len(s)-maxPreview)
}
