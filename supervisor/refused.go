package supervisor

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is the call that claude has refused by itself, where the person wants to be asked about those
// (conf.AskRefused). Its agent works on. A call that the person allows is let through once, by the hook before it: for
// the same agent, the same tool, the same input to the byte in the same folder, and only as long as the run lasts. That
// it is let through is saved before the hook is answered; should the process be lost after that, the allowance is used
// up, whether the call was made or not.

// maxRefused is how many refused calls of an agent a person is asked about. One that is refused without end is told
// of, as without this.
const maxRefused = 20

// CallRefused says that claude has refused a call by itself.
type CallRefused struct {
	Agent     string
	Launch    int
	ToolUse   string
	Call      *checkpoints.ToolCall `json:",omitempty"`
	Questions []signals.Question    `json:",omitempty"` // nil: it is known before that nobody is to be asked
	Why       string                // as procs.Refused
	Naming
}

var _ = kind[CallRefused]("call_refused")

func (e CallRefused) apply(d *transition) error {
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	if why := d.callRefused(e); why != "" {
		return unwelcome("nobody is asked about a refused call: %s", why)
	}
	return nil
}

// callRefused asks about a refused call, or says why nobody is asked. What the transcript tells of a launch that was
// lost may be known.
func (d *transition) callRefused(e CallRefused) (unasked string) {
	if q := d.LetThrough(e.Agent, e.ToolUse); q != nil {
		if !strings.Contains(q.Remark, stillRefused) {
			d.question(q.ID).Remark = joinRemarks(q.Remark, stillRefused+e.Why)
		}
		return ""
	}
	if e.Call == nil || len(e.Questions) == 0 {
		return "it is not known"
	}
	call := *e.Call
	if call.ToolUse = e.ToolUse; d.notAsked(e.Agent, call) != "" {
		return d.notAsked(e.Agent, call)
	}
	d.openQuestions(e.Agent, questions.AskRefusal, e.Questions, e.Naming, func(q *Question) {
		// no process waits in it, and its result is no receipt: the request stands for the call that was refused
		call.Launch, call.From, call.Request, call.ToolUse = 0, nil, e.ToolUse, ""
		q.Fingerprint, q.Tool, q.From = ask.FingerprintOf(call), &call, e.Call.From
	})
	return ""
}

// stillRefused begins the remark about a call that was allowed, and refused again.
const stillRefused = "it was made again and stays refused, which no answer changes: "

// RefusedUnasked says why a person is not asked about a call that claude has refused; "" if they are. More is said of
// one that they wanted to be asked about.
func (s State) RefusedUnasked(agent string, m procs.Refused) (why string, asks bool) {
	switch q := s.LetThrough(agent, m.ToolUse); {
	case s.Config.Permissions != conf.AskRefused:
		return "", false
	case q != nil:
		return "you had allowed it (" + q.ID + "), and no answer changes this", true
	case m.Fixed:
		return "no answer can lift that, so you are not asked", false
	case m.Call == nil:
		return "what it would do is not known here, or too large to be shown, so you are not asked", false
	}
	why = s.notAsked(agent, checkpoints.ToolCall{Name: m.Call.Name, Input: m.Call.Input,
		ToolUse: m.ToolUse, From: listen.SubagentOf(m.Call.From)})
	return why, why == ""
}

// notAsked says why a person is not asked about a call that may be asked about; "" if they are.
func (s State) notAsked(agent string, call checkpoints.ToolCall) string {
	fp, all := ask.FingerprintOf(call), 0
	for _, q := range s.FindQuestionsOf(agent, func(q *Question) bool { return questions.KindOf(q.Kind).Refused }) {
		all++
		if call.ToolUse != "" && q.Tool.Request == call.ToolUse {
			return "you were asked (" + q.ID + ")"
		}
		switch same := q.Fingerprint == fp && q.From.Same(call.From); {
		case !same || q.State == checkpoints.QuestionWithdrawn:
		case q.IsOpen():
			return "you are asked already (" + q.ID + ")"
		case !questions.Allowed(q):
			return "you have left it refused (" + q.ID + ")"
		case !q.GrantSpent && q.Revoked == "":
			return "you have allowed it (" + q.ID + "), for when it is made again"
		}
	}
	switch {
	case all >= maxRefused:
		return fmt.Sprintf("you were asked about %d calls of this agent, and are about no more", all)
	case s.Config.Policy == conf.Fail:
		return "questions are refused in this run"
	}
	return ""
}

// AsksRefused reports whether the processes of an agent are to be asked about calls that claude refuses: the person
// wants to be, or was asked about one.
func (s State) AsksRefused(agent string) bool {
	return s.Config.Permissions == conf.AskRefused || len(s.FindQuestionsOf(agent, func(q *Question) bool {
		return questions.KindOf(q.Kind).Refused
	})) > 0
}

// Allowable reports whether a person can allow what is about to be asked: all of it can be shown.
func Allowable(asked []signals.Question) bool {
	return len(asked) == 1 && questions.Allowable(ask.Question(questions.AskRefusal, asked[0]))
}

// voidGrants ends what an agent that has come to its end was allowed and has not used.
func (d *transition) voidGrants(agent string) {
	for _, q := range d.FindQuestionsOf(agent, func(q *Question) bool {
		return questions.KindOf(q.Kind).Refused && questions.Allowed(q) && !q.GrantSpent
	}) {
		q = d.question(q.ID)
		q.GrantSpent, q.Remark = true, joinRemarks(q.Remark, "not used before its agent ended")
	}
}

func init() {
	handlers[questions.AskRefusal] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.PermissionDecided(group[0], group[0].Revoked == unpackedBy)
		},
		within: func(group []*Question) string { return prompts.PermissionWithin(group[0]) },
		reply: func(call *checkpoints.ToolCall, _ []*Question) ask.Reply {
			return ask.Reply{Behavior: Allow, UpdatedInput: call.Input}
		},
		anew: func(_ *transition, q *Question, seen map[string]ask.SeenCall) bool {
			now, ok := seen[q.ID]
			if ok {
				ask.Reshow(q, ask.AboutRefused(now.Question))
			}
			return ok
		},
	}
}
