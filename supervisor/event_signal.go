package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/text"
)

// SignalRead is a signal of the agent.
type SignalRead struct {
	Agent  string
	Launch int
	Named
}

var _ = kind[SignalRead]("heard")

func (e SignalRead) apply(d *transition) error {
	if _, err := d.current(e.Agent, e.Launch); err != nil {
		return err
	}
	return d.signal(e.Agent, e.Named)
}

// mayBeLost: a report is told once it was checked; what a subagent has said nobody finds in the transcript.
func (e SignalRead) mayBeLost() bool {
	kind := e.Signal.Kind
	return !e.Signal.Inside && (kind == signals.Completion || kind == signals.WorkflowComplete)
}

// signal takes what an agent says of its work.
func (d *transition) signal(agent string, n Named) error {
	a, l := d.agent(agent), d.Launch(agent)
	switch n.Signal.Kind {
	case signals.Completion, signals.WorkflowComplete:
		if sub := n.by(); sub != nil {
			d.reportedPart(a, n.Signal, sub)
		} else {
			d.reported(a, n.Signal)
		}
	case signals.Clarification:
		if n.Signal.Dialect == signals.Prose {
			return d.askInProse(a, l, n)
		}
		return d.ask(agent, n)
	case signals.Stop:
		if n.Signal.Field("stop_reason") == "completion" {
			if n.by() != nil {
				return unwelcome("a subagent of %s has done its part", a.ID)
			}
			return d.stoppedComplete(a, l)
		}
		return d.ask(agent, n)
	case signals.Delegate:
		return d.delegate(a, n, nil)
	case signals.Progress:
		d.progressed(a, n.Signal, n.by())
	case signals.Message:
		d.pass(a, n.by(), n.Signal, fmt.Sprintf("message %d.%d %.12s", l.N, l.Turns, n.Signal.Fingerprint()))
	default:
		if _, asked := ParseQuestions(n.Signal); len(asked) > 0 {
			return d.ask(agent, n)
		}
		return unwelcome("%s changes nothing", n.Signal.Kind)
	}
	return nil
}

// ask opens the questions of a text signal, unless they are already open or the conversation does not have their answer
// yet: then they are the same ones, said again. Asked after it, they are new, also in the turn that the answer began.
func (d *transition) ask(agent string, n Named) error {
	fp := ask.Fingerprint(n.Signal)
	if same := d.FindQuestionsOf(agent, func(q *Question) bool {
		return q.Fingerprint == fp && q.Tool == nil &&
			(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered && !d.BegunAnswer(q))
	}); len(same) > 0 {
		if q := same[0]; q.File != nil && q.File.Polls {
			return d.escalate(d.Group(q.Group), n)
		}
		return unwelcome("the same signal as question %s", same[0].ID)
	}
	doc := text.JSON(n.Signal)
	kind, qs := ParseQuestions(n.Signal)
	var file *checkpoints.FileAsked
	if n.Signal.Dialect == signals.Escalated {
		file = &checkpoints.FileAsked{ID: n.Signal.Field("question_id"), Lost: true}
	}
	d.openQuestions(agent, kind, qs, n.Naming, func(q *Question) {
		q.Fingerprint, q.Signal, q.File, q.From = fp, doc, file, n.by()
		if q.Index == 0 {
			d.leftState(q, n.Kept)
		}
	})
	return nil
}

// askInProse asks the question that an agent has ended its turn with in its own words, if it would end without a report
// else: it was told how to ask, and that nobody reads along.
func (d *transition) askInProse(a *Agent, l *Launch, n Named) error {
	if a.Report != nil || d.canRequestReport(a) || a.StopWanted != "" || l.End != "" ||
		len(l.Alive()) > 0 || len(d.WaitsFor(a.ID)) > 0 || len(d.Open(a.ID)) > 0 {
		return unwelcome("%s has not ended with a question", a.ID)
	}
	return d.ask(a.ID, n)
}

// stoppedComplete takes a stop that says the work is complete: without a report it is not, and one is asked for, once.
func (d *transition) stoppedComplete(a *Agent, l *Launch) error {
	if !d.canRequestReport(a) {
		return unwelcome("the work of %s is known to be complete", a.ID)
	}
	a.ReportRequested = true
	wantReport(a, l, "You stopped because the work is complete.", d.at)
	return nil
}
