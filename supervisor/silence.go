package supervisor

import (
	"fmt"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
)

// Stalled says that a process at work has printed nothing and used no processor for as long as the person
// lets it.
type Stalled struct {
	Agent  string
	Launch int
	Since  time.Time
	Doing  string
}

var _ = kind[Stalled]("fell_silent")

// apply takes note of a silence, and does about it what the person wants done.
func (e Stalled) apply(d *transition) error {
	a := d.Agents.Get(e.Agent)
	if l, err := d.current(e.Agent, e.Launch); err != nil || l.End != "" || !d.watched(a, l) {
		return unwelcome("%s is not watched any more", e.Agent)
	}
	if l := d.last(e.Agent); l.Phase == checkpoints.LaunchTurnDue { // the turn does not come by itself
		l.Enter(checkpoints.LaunchIdle)
		d.agent(e.Agent).GoOn = true
		return nil
	}
	d.last(e.Agent).Stalled = &checkpoints.Stall{Since: e.Since, Doing: e.Doing}
	switch f := (procs.Failure{Kind: faultSilent, Reason: silence(e.Since, e.Doing)}); d.Config.OnSilence {
	case conf.RetrySilence:
		f.Passing = true
		d.failure(d.agent(e.Agent), f)
	case conf.FailSilence:
		d.failure(d.agent(e.Agent), f)
	}
	return nil
}

// Recovered says that a silent process has printed something.
type Recovered struct {
	Agent  string
	Launch int
}

var _ = kind[Recovered]("spoke")

func (e Recovered) apply(d *transition) error {
	return d.onLaunch(e.Agent, e.Launch, func(l *Launch) { l.Stalled = nil })
}

func (Recovered) mayBeLost() bool { return true }

// faultSilent is the failure of a process of which nothing is heard any more.
const faultSilent procs.FailureKind = "silent"

// silence says in words since when nothing is heard of a process, and what it was last seen to do.
func silence(since time.Time, doing string) string {
	return fmt.Sprintf("silent since %s, no output and no processor time: %s", since.UTC().Format(time.RFC3339), doing)
}

// watched reports whether something ought to be heard of a process: it works, or waits for work of its own that may
// hang, or is about to begin a turn by itself. One in which a nested run waits has nothing to say.
func (s State) watched(a *Agent, l *Launch) bool {
	return l.Stalled == nil && (a.Status == checkpoints.Running ||
		a.Status == checkpoints.Blocked && (len(l.Background) > 0 || l.Phase == checkpoints.LaunchTurnDue)) &&
		!s.Awaited(a.ID) // last: it looks at each child
}

// turnPatience is how long after the end of background work the CLI is given to begin its turn: it takes milliseconds.
const turnPatience = 10 * time.Second

// sayIfSilent makes the silence of an agent at work its reason.
func (d *transition) sayIfSilent(a *Agent) {
	l := d.Live(a.ID)
	if l != nil && l.Stalled != nil && l.End == "" &&
		(a.Status == checkpoints.Running || a.Status == checkpoints.Blocked) {
		a.Reason = silence(l.Stalled.Since, l.Stalled.Doing)
	}
}

// silences of an agent at work are told of, and what the person wants is done about them.
var silences = concern{
	name: "silences",
	plan: func(s State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if !l.Works() || !s.watched(a, l) {
			return so
		}
		e := effect.Watch.Of(l)
		e.Patience = s.Config.SilentAfter
		if l.Phase == checkpoints.LaunchTurnDue {
			e.Key, e.Patience = e.Key+" due", turnPatience
		}
		if e.Patience > 0 {
			so = append(so, e)
		}
		return so
	},
	tells: func(_, _ State, e Event, tell notice.Teller) {
		switch e := e.(type) {
		case Stalled:
			tell(notice.Progress, e.Agent, notice.Notification{Text: silence(e.Since, e.Doing), Trouble: true})
		case Recovered:
			tell(notice.Progress, e.Agent, notice.Notification{Text: "is heard of again"})
		}
	},
}
