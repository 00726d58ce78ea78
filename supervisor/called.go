package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/text"
)

// This file is what becomes of a call of one of our own tools (signals.Tools). ask_user and stop_work wait for a
// person, unless the agent goes on under an assumption; the others are answered at once, by a reply that goes with the
// process: what they have changed is in the records.

// asksPerson reports whether a call waits for a person.
func asksPerson(sig signals.Signal) bool {
	return sig.Kind == signals.Clarification || sig.Kind == signals.Stop
}

// Called is a call of a tool of ours.
type Called struct {
	Agent  string
	Launch int
	Call   checkpoints.ToolCall
	Named
}

var _ = kind[Called]("called")

func (e Called) apply(d *transition) error {
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	l, a, call := d.last(e.Agent), d.agent(e.Agent), e.Call
	if d.knowsRequest(l, call.Request) {
		return unwelcome("request %s again", call.Request)
	}
	reply := checkpoints.Reply{Request: call.Request}
	switch sig := e.Signal; {
	case asksPerson(sig) && !blocks(sig):
		var done bool
		if reply.Text, reply.IsError, done = d.assume(e); !done {
			return nil
		}
	case asksPerson(sig):
		kind, qs := ParseQuestions(sig)
		d.openQuestions(e.Agent, kind, qs, e.Naming, func(q *Question) {
			q.Fingerprint, q.Signal, q.Tool = ask.FingerprintOf(call), text.JSON(sig), &call
		})
		return nil
	case call.Name == checkWork:
		d.checkWork(a, l, call)
		return nil
	case sig.Kind == signals.Completion:
		reply.Text = "Your report is recorded. If nothing is left to do, end your turn."
		if call.From != nil {
			d.reportedPart(a, sig, call.From)
			reply.Text = fmt.Sprintf("Your report on your part is recorded and shown to the person. Return your result to who "+
				"started you all the same: agent %s reports on the whole task itself.", a.ID)
		} else {
			d.reported(a, sig)
		}
	case sig.Kind == signals.Delegate:
		return d.delegate(a, e.Named, &call)
	case sig.Kind == signals.Progress:
		d.progressed(a, sig, call.From)
		reply.Text = "Noted."
	case sig.Kind == signals.Message:
		reply.Text, reply.IsError = d.pass(a, call.From, sig, fmt.Sprintf("message %d %s", l.N, call.Request))
	default:
		reply.Text, reply.IsError = "This call cannot be read. Make it shorter, and put what is long into a file.", true
	}
	l.AnswerAtOnce(reply)
	return nil
}

// Replied says that a call has got its reply.
type Replied struct {
	Agent   string
	Launch  int
	Request string
}

var _ = kind[Replied]("replied")

func (e Replied) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) { d.forget(l, e.Request) })
}

// knowsRequest reports whether a call was read before.
func (d *transition) knowsRequest(l *Launch, request string) bool {
	if l.ReplyAt(request) >= 0 {
		return true
	}
	return len(d.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return q.Tool != nil && q.Tool.Launch == l.N && q.Tool.Request == request
	})) > 0
}
