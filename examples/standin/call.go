package standin

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A call is one use of a tool by the model.
type call struct {
	id, name string
	input    map[string]any
	changed  bool // a person has permitted another content of the file than the model's
}

// text returns a member of the input that is a text.
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
	// blocks says that the text is shown as a block, not by itself.
	blocks bool
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
	refusedCall = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file " +
		"edit, " +
		"the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to " +
		"proceed."
	stoppedCall = refusedCall +
		" Correction to the text above: this call was stopped while running, not refused before it ran. " +
		"It may have run in part or in full, and its changes may have been written."
	closedStream = "Tool permission request failed: AbortError: Tool permission stream closed before response received"
)

// callAll makes the calls of a reply and gives their results to the model: one after the other, but those that follow
// each other and do not get in each other's way at once. When the turn is interrupted those that are left are refused.
func (c *conversation) callAll(t *turn, calls []call) error {
	for len(calls) > 0 {
		n := 1
		for n < len(calls) && c.beside(calls[0]) && c.beside(calls[n]) {
			n++
		}
		made, err := calls[:n], error(nil)
		calls = calls[n:]
		if n == 1 {
			err = c.callOne(t, made[0])
		} else {
			err = c.callTogether(t, made)
		}
		if errors.Is(err, errInterrupted) {
			for _, left := range calls {
				if kept := c.give(t, left, brokenOff(refusedCall)); kept != nil {
					return kept
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// beside reports whether a call may go on beside others of its kind.
func (c *conversation) beside(made call) bool {
	return made.name == "Agent" && !c.toBackground(made) || c.server.readOnly(made.name)
}

// callOne makes a call and gives its result.
func (c *conversation) callOne(t *turn, made call) error {
	r, err := c.call(t, made)
	if r.text != "" {
		if kept := c.give(t, made, r); kept != nil {
			return kept
		}
	}
	return err
}

// callTogether makes calls at once, and gives each result when it comes.
func (c *conversation) callTogether(t *turn, calls []call) error {
	type made struct {
		call
		strand *strand
		result result
	}
	under := make([]*made, len(calls))
	for i, one := range calls {
		m := &made{call: one}
		m.strand = c.begin(func(s *strand) (err error) {
			m.result, err = c.in(s).call(t, m.call)
			return err
		})
		under[i] = m
	}
	var cut error
	for len(under) > 0 {
		err := c.wait()
		if err != nil && !errors.Is(err, errInterrupted) {
			return err
		}
		for _, m := range under {
			if !m.strand.over {
				if err == nil {
					continue
				}
				m.result = brokenOff(stoppedCall)
			}
			if kept := c.give(t, m.call, m.result); kept != nil {
				return kept
			}
			cut = errors.Join(cut, m.strand.err)
		}
		if err != nil {
			return err
		}
		under = slices.DeleteFunc(under, func(m *made) bool { return m.strand.over })
	}
	return cut
}

// give prints and keeps the result of a call.
func (c *conversation) give(t *turn, made call, r result) error {
	block := doc{"type": "tool_result", "tool_use_id": made.id, "content": r.text}
	switch {
	case r.fails:
		block["is_error"] = true
	case r.blocks:
		block["content"] = []doc{{"type": "text", "text": r.text}}
	case made.name == "Bash":
		block["is_error"] = false
	}
	shown := doc{"tool_use_result": r.data}
	kept := doc{"toolUseResult": r.data}
	if r.meta != nil || r.kind != "" {
		meta := doc{"id": made.id}
		if r.meta != nil {
			meta["permission_decision"] = r.meta
			kept["permissionDecision"] = doc{"decision": r.meta["decision"], "source": r.meta["source"],
				"reasonType": r.meta["reason_type"]}
		}
		if r.kind != "" {
			meta["non_execution_kind"] = r.kind
			kept["toolDenialKind"] = r.kind
		}
		shown["tool_result_meta"] = []doc{meta}
	}
	t.users++
	c.messages = append(c.messages, user(r.text))
	return c.userLine([]doc{block}, shown, kept)
}

// call makes one call. With errInterrupted the result is that of a call that was broken off.
func (c *conversation) call(t *turn, made call) (result, error) {
	t.calls++
	use, known := tools[made.name]
	switch {
	case known:
	case c.server.serves(made.name):
		use = tool{run: (*conversation).served}
	case c.local(made.name) != nil:
		use = tool{run: (*conversation).servedByProcess}
	default:
		return misuse("Error: No such tool available: " + made.name), nil
	}
	if c.sub != nil && made.name == "AskUserQuestion" {
		return misuse("Error: No such tool available: AskUserQuestion. AskUserQuestion is not available inside subagents. " +
			"Complete the task with the tools provided and return findings to the orchestrator."), nil
	}
	if made.name == exitPlanMode && c.opts.mode != modePlan {
		return misuse(notPlanning), nil
	}
	for _, name := range use.needs {
		if _, ok := made.input[name]; !ok {
			return misuse("InputValidationError: " +
				made.name + " failed due to the following issue:\nThe required parameter `" + name + "` is missing"), nil
		}
	}
	t.used = append(t.used, made.name)
	v, err := c.permit(made)
	if err != nil || !v.allowed {
		if v.refusal.fails && !v.lost {
			c.main.turn.denials = append(c.main.turn.denials,
				doc{"tool_name": made.name, "tool_use_id": made.id, "tool_input": made.input})
		}
		return v.refusal, err
	}
	if v.input != nil {
		proposed := made.text("content")
		made.input = v.input
		made.changed = made.text("content") != proposed
	}
	r, err := use.run(c, made)
	r.meta = v.meta
	return r, err
}

// A tool is one that the model may call.
type tool struct {
	needs []string // members that the input must have
	run   func(*conversation, call) (result, error)
}

var tools map[string]tool

func init() {
	tools = map[string]tool{
		"AskUserQuestion": {needs: []string{"questions"}, run: (*conversation).askedAndAnswered},
		"Bash":            {needs: []string{"command"}, run: (*conversation).bash},
		"Read":            {needs: []string{"file_path"}, run: (*conversation).read},
		"Write":           {needs: []string{"file_path", "content"}, run: (*conversation).write},
		"Edit":            {needs: []string{"file_path", "old_string", "new_string"}, run: (*conversation).edit},
		"Agent":           {needs: []string{"description", "prompt"}, run: (*conversation).delegate},
		exitPlanMode:      {run: (*conversation).leavePlan},
		"SendMessage":     {needs: []string{"to", "message"}, run: (*conversation).sendMessage},
	}
}

// askedAndAnswered is the result of AskUserQuestion: its input, which came back with the answers. Words of the person's
// own are told otherwise than labels.
func (*conversation) askedAndAnswered(made call) (result, error) {
	var in struct {
		Questions []struct {
			Question string
			Options  []struct{ Label string }
		}
		Answers     map[string]string
		Annotations map[string]struct{ Preview, Notes string }
	}
	if err := json.Unmarshal(encode(made.input), &in); err != nil {
		return misuse("InputValidationError: AskUserQuestion failed: " + err.Error()), nil
	}
	var pairs []string
	own := false
	for _, q := range in.Questions {
		answer, ok := in.Answers[q.Question]
		if !ok {
			continue
		}
		pair, beside := string(encode(q.Question))+"="+string(encode(answer)), in.Annotations[q.Question]
		if beside.Preview != "" {
			pair += " selected preview:\n" + beside.Preview
		}
		if beside.Notes != "" {
			pair, own = pair+" notes: "+beside.Notes, true
		}
		pairs = append(pairs, pair)
		for label := range strings.SplitSeq(answer, ", ") {
			own = own || !slices.ContainsFunc(q.Options, func(o struct{ Label string }) bool { return o.Label == label })
		}
	}
	form := "Your questions have been answered: %s. You can now continue with these answers in mind."
	if own {
		form = "The user answered: %s. Read the answers carefully — they may request clarification, changes, or that you " +
			"not proceed — and follow what they actually say."
	}
	return result{text: fmt.Sprintf(form, strings.Join(pairs, ", ")), data: made.input}, nil
}
