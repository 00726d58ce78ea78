package claude

import (
	"bytes"
	"encoding/json"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// This file reads who has decided about a call: from 2.1.332 on, the line of its result says it.

// A permissionDecision is the part of a result that says it. A hook of the person's own has the source "hook", also
// where it was faster than who was asked; what was answered to can_use_tool has "user_temporary" or "user_reject", also
// where a hook has had it asked.
type permissionDecision struct {
	Decision string `json:"decision"` // accept, reject
	Source   string `json:"source"`
	Reason   string `json:"reasonType"` // as decision_reason_type has it; of transcripts alone
}

// byItself reports whether the CLI has refused a call without asking anybody.
func (d permissionDecision) byItself() bool { return d.Decision == "reject" && d.Source == "config" }

// byHook returns what a hook has decided about the call of a result; nil if none has.
func (d permissionDecision) byHook(result stream.Block, answers givenAnswers) *procs.HookDecision {
	if d.Source != "hook" {
		return nil
	}
	if d.Decision == "accept" {
		return &procs.HookDecision{Accepted: true, Answers: answers}
	}
	return &procs.HookDecision{Text: procs.Cut(result.Content.Text(), procs.MaxShown)}
}

// givenAnswers are the answers in the result of AskUserQuestion. That of another call may be anything, of any size.
type givenAnswers map[string]string

func (g *givenAnswers) UnmarshalJSON(data []byte) error {
	var result struct {
		Questions []json.RawMessage          `json:"questions"`
		Answers   map[string]json.RawMessage `json:"answers"`
	}
	if !bytes.Contains(data, []byte(`"answers"`)) || json.Unmarshal(data, &result) != nil || len(result.Questions) == 0 {
		return nil
	}
	*g = givenAnswers{}
	for question, answer := range result.Answers {
		text := string(answer)
		_ = json.Unmarshal(answer, &text) // one that is no string stays as it is written
		(*g)[question] = procs.Cut(text, procs.MaxResult)
	}
	return nil
}

// HookDecidedIn returns what a hook of the person's own has decided about a call, as the conversation has it; nil if
// none has. A subagent's call is looked for in the subagents' transcripts too.
func HookDecidedIn(transcript, toolUse string) (by *procs.HookDecision, err error) {
	err = eachResult(transcript, toolUse, func(l *line, result stream.Block) bool {
		by = l.Decision.byHook(result, l.ResultInFile)
		return by != nil
	})
	return by, err
}
