package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// Checked says which deliverables of the report are missing.
type Checked struct {
	Agent   string
	Part    int `json:",omitempty"` // the report of a subagent that it is about; 0: the agent's own
	Missing []string
}

var _ = kind[Checked]("checked")

func (e Checked) apply(d *transition) error {
	a := d.agent(e.Agent)
	if e.Part > 0 {
		return d.checkedPart(a, e.Part, e.Missing)
	}
	if a.Report == nil {
		return unwelcome("%s has no report", e.Agent)
	}
	report := *a.Report
	report.Checked, report.Missing = true, e.Missing
	a.Report = &report
	return nil
}

// finishIdle ends an agent whose process is gone and to whom nothing is left to say; false if it must be told what
// is missing first.
func (d *transition) finishIdle(a *Agent) bool {
	switch r := a.Report; {
	case a.PartDue() != nil:
		d.setStatus(a, checkpoints.Running, "the deliverables of its subagents are checked")
	case r == nil:
		d.finish(a, checkpoints.Unreported, d.whyUnreported(a))
	case !r.Checked:
		d.setStatus(a, checkpoints.Running, "has reported; its deliverables are checked")
	case d.tellMissing(a):
		return false
	case r.Status == "failed":
		d.finish(a, checkpoints.Failed, "reported failure: "+text.FirstLine(r.Summary))
	case len(r.Missing) > 0:
		d.finish(a, checkpoints.Partial, "deliverables are missing: "+strings.Join(r.Missing, ", "))
	case r.Status == "partial_success":
		d.finish(a, checkpoints.Partial, "reported partial success: "+text.FirstLine(r.Summary))
	default:
		d.finish(a, checkpoints.Succeeded, "reported success")
	}
	return true
}

// whyUnreported says why an agent counts as one that has not reported.
func (d *transition) whyUnreported(a *Agent) string {
	const why = "ended without a report"
	if l := d.last(a.ID); l != nil && l.Foreign != "" && !d.Abilities().UsesOurID {
		return why + "; what it printed as " + text.Line(l.Foreign, maxForeign) + " was ignored"
	}
	return why
}

// maxForeign bounds how much is shown of an id, in bytes.
const maxForeign = 60

// tellMissing puts the deliverables that are not there into the outbox, once. A command has no conversation in which it
// could be told: started again, it would do all of its work again.
func (d *transition) tellMissing(a *Agent) bool {
	if !d.Abilities().Resumes || a.Report == nil || len(a.Report.Missing) == 0 || a.ToldMissing ||
		a.Report.Status == "failed" {
		return false
	}
	a.ToldMissing = true
	a.Enqueue(checkpoints.OutboxItem{Key: fmt.Sprintf("missing %d", a.Launches),
		Text: prompts.DeliverablesMissing(a.ID, a.Report.Missing), At: d.at})
	return true
}

// tellUnreported puts what asks for a report among what is to be said to an agent whose last turn was let end without
// one for something that has come to nothing since, such as a question that was withdrawn, or the end of a child that
// its client told.
func (d *transition) tellUnreported(a *Agent, l *Launch) bool {
	if !l.ReportWaived || !d.canRequestReport(a) {
		return false
	}
	a.ReportRequested = true
	wantReport(a, l, "You ended your turn without a report.", d.at)
	return true
}

// canRequestReport reports whether an agent has neither reported nor been asked to, and could be: one that continues no
// conversation would begin its work again.
func (d *transition) canRequestReport(a *Agent) bool {
	return a.Report == nil && !a.ReportRequested && d.Abilities().Resumes
}

// wantReport puts what asks for a report among what is to be said to an agent.
func wantReport(a *Agent, l *Launch, why string, at time.Time) {
	a.Enqueue(checkpoints.OutboxItem{Key: fmt.Sprintf("report %d.%d", l.N, l.Turns), At: at,
		Text: prompts.ReportWanted(a.ID, why)})
}

// checkDue reports whether the agent seems done, so that its report can be held against the disk.
func (s State) checkDue(a *Agent, l *Launch) bool {
	if a.Report == nil || a.Report.Checked || l.Phase.InTurn() || l.End != "" && !l.Phase.Ended() {
		return false
	}
	unsaid := s.FindDeliveries(a.ID, func(v *Delivery) bool {
		// A result that did not come by the end of the turn comes no more: the transcript tells, once the process has ended.
		return v.Undelivered() && (v.Prompt() || v.Unsent())
	})
	return len(unsaid) == 0 && len(s.Open(a.ID))+len(s.Assuming(a.ID)) == 0 && len(a.Outbox) == 0 && len(l.Alive()) == 0 &&
		l.Phase != checkpoints.LaunchTurnDue && len(s.WaitsFor(a.ID)) == 0
}

// checking is of an agent that has reported, while its deliverables are looked for.
var checking = concern{
	name: "checking",
	live: func(d *transition, of subject) bool {
		if of.Report == nil || of.Report.Checked {
			return false
		}
		d.setStatus(of.Agent, checkpoints.Running, "has reported; its deliverables are checked")
		return true
	},
	plan: func(s State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l != nil && !slices.ContainsFunc(so, effect.Effect.Acts) && s.checkDue(a, l) {
			so = append(so, effect.Check.Of(l))
		}
		return so
	},
}

// missing has an agent told which deliverables are not there.
var missing = concern{name: "missing", live: func(d *transition, of subject) bool {
	return d.tellMissing(of.Agent) && d.speak(of, "was told which deliverables are missing")
}}

// unreported has an agent asked for its report.
var unreported = concern{name: "unreported", live: func(d *transition, of subject) bool {
	return d.tellUnreported(of.Agent, of.launch) && d.speak(of, "was asked for its report")
}}

// done is of an agent with nothing left to do.
var done = concern{
	name: "done",
	live: func(d *transition, of subject) bool {
		d.end(of.ID, EndFinish, "the work is done")
		d.setStatus(of.Agent, checkpoints.Running, "finishing")
		return true
	},
	idle: func(d *transition, of subject) bool { return d.toldAll(of) && d.finishIdle(of.Agent) },
	group: func(d *transition, of subject) bool {
		status, reason := d.CameTo(of.ID)
		of.FaultReason = "" // of a group the children alone tell
		d.finish(of.Agent, status, reason)
		return true
	},
}

// parts are the reports of subagents, whose deliverables are looked for one after the other.
var parts = concern{
	name: "parts",
	plan: func(_ State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if part := a.PartDue(); part != nil && l != nil {
			e := effect.Check.Of(l)
			e.Key, e.Part = fmt.Sprintf("%s part %d", e.Key, part.N), part.N
			so = append(so, e)
		}
		return so
	},
	tells: func(_, after State, e Event, tell notice.Teller) {
		if e, ok := e.(Checked); ok {
			if p := task.PartAt(after.Agents.Get(e.Agent), e.Part); p != nil {
				tell(notice.Progress, e.Agent, partNotice(p))
			}
		}
	},
}
