package standin

import (
	"encoding/json"
	"errors"
	"strings"
)

// A call is one use of a tool by the model.
type call struct {
	id, name string
	input    map[string]any
}

// text gives a member of the input that is a text.
func (c call) text(name string) string {
	s, _ := c.input[name].(string)
	return s
}

// A result is what a call gave. Data is what the stream shows beside it: an object, or a text of the failure.
type result struct {
	text  string
	fails bool
	data  any
	meta  doc    // how it was decided that the call may be made; nil for a call that was not understood
	kind  string // why the call was not made: user-rejected, permission-rule
}

func failure(text string) result { return result{text: text, fails: true, data: "Error: " + text} }

// misuse is the result of a call that the CLI does not understand.
func misuse(text string) result {
	return result{text: "<tool_use_error>" + text + "</tool_use_error>", fails: true, data: text}
}

// brokenOff is the result of a call that an interrupt has kept from its end.
func brokenOff(text string) result {
	return result{text: text, fails: true, data: "User rejected tool use", kind: "user-rejected"}
}

const (
	refusedCall = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, " +
		"the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	stoppedCall = refusedCall + " Correction to the text above: this call was stopped while running, not refused before it ran. " +
		"It may have run in part or in full, and its changes may have been written."
	closedStream = "Tool permission request failed: AbortError: Tool permission stream closed before response received"
)

// callAll makes the calls of a reply one after the other and gives their results to the model. When the turn is
// interrupted those that are left are refused.
func (a *agent) callAll(t *turn, calls []call) error {
	for i, c := range calls {
		r, err := a.call(t, c)
		if errors.Is(err, errInterrupted) {
			for _, left := range calls[i:] {
				if kept := a.give(t, left, r); kept != nil {
					return kept
				}
				r = brokenOff(refusedCall)
			}
			return err
		}
		if r.text != "" {
			if kept := a.give(t, c, r); kept != nil {
				return kept
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// give prints and keeps the result of a call.
func (a *agent) give(t *turn, c call, r result) error {
	block := doc{"type": "tool_result", "tool_use_id": c.id, "content": r.text}
	if r.fails {
		block["is_error"] = true
	} else if c.name == "Bash" {
		block["is_error"] = false
	}
	shown := doc{"tool_use_result": r.data}
	kept := doc{"toolUseResult": r.data}
	if r.meta != nil || r.kind != "" {
		meta := doc{"id": c.id}
		if r.meta != nil {
			meta["permission_decision"] = r.meta
		}
		if r.kind != "" {
			meta["non_execution_kind"] = r.kind
			kept["toolDenialKind"] = r.kind
		}
		shown["tool_result_meta"] = []doc{meta}
	}
	t.users++
	a.messages = append(a.messages, user(r.text))
	return a.userLine([]doc{block}, shown, kept)
}

// call makes one call. With errInterrupted the result is that of a call that was broken off.
func (a *agent) call(t *turn, c call) (result, error) {
	tool, known := tools[c.name]
	if !known {
		return misuse("Error: No such tool available: " + c.name), nil
	}
	for _, name := range tool.needs {
		if _, ok := c.input[name]; !ok {
			return misuse("InputValidationError: " + c.name + " failed due to the following issue:\nThe required parameter `" + name + "` is missing"), nil
		}
	}
	v, err := a.permit(c)
	if err != nil || !v.allowed {
		if v.refusal.fails && !v.lost {
			t.denials = append(t.denials, doc{"tool_name": c.name, "tool_use_id": c.id, "tool_input": c.input})
		}
		return v.refusal, err
	}
	if v.input != nil {
		c.input = v.input
	}
	r, err := tool.run(a, c)
	r.meta = v.meta
	return r, err
}

// A tool is one that the model may call.
type tool struct {
	needs []string // members that the input must have
	run   func(*agent, call) (result, error)
}

var tools map[string]tool

func init() {
	tools = map[string]tool{
		"AskUserQuestion": {needs: []string{"questions"}, run: (*agent).askedAndAnswered},
		"Bash":            {needs: []string{"command"}, run: (*agent).bash},
		"Read":            {needs: []string{"file_path"}, run: (*agent).read},
		"Write":           {needs: []string{"file_path", "content"}, run: (*agent).write},
		"Edit":            {needs: []string{"file_path", "old_string", "new_string"}, run: (*agent).edit},
	}
}

// askedAndAnswered is the result of AskUserQuestion: its input, which came back with the answers.
func (a *agent) askedAndAnswered(c call) (result, error) {
	var in struct {
		Questions []struct{ Question string }
		Answers   map[string]string
	}
	data := encode(c.input)
	if err := json.Unmarshal(data, &in); err != nil {
		return misuse("InputValidationError: AskUserQuestion failed: " + err.Error()), nil
	}
	var pairs []string
	for _, q := range in.Questions {
		if answer, ok := in.Answers[q.Question]; ok {
			pairs = append(pairs, string(encode(q.Question))+"="+string(encode(answer)))
		}
	}
	return result{
		text: "Your questions have been answered: " + strings.Join(pairs, ", ") + ". You can now continue with these answers in mind.",
		data: c.input,
	}, nil
}
