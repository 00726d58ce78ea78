package supervisor

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
)

// sessionOf derives the id of a new session from how often the agent was launched, so that Step needs no randomness.
func sessionOf(a *Agent) string {
	return uuid.NewSHA1(namespace, fmt.Appendf(nil, "session\x00%s\x00%s\x00%d", a.Run, a.ID, a.Launches)).String()
}

// namespace is what the uuids of deliveries are derived under. It never changes: a second sending must be the same.
var namespace = uuid.MustParse("6f0a5a0e-3f0c-5d6e-9d51-2b8c7e6f4a10")

// current returns the agent's launch n, if that lives.
func (d *transition) current(agent string, n int) (*Launch, error) {
	l := d.Live(agent)
	if l == nil || l.N != n {
		return nil, unwelcome("launch %d of %s is over", n, agent)
	}
	return l, nil
}

// onLaunch changes a launch that lives.
func (d *transition) onLaunch(agent string, n int, change func(*Launch)) error {
	if _, err := d.current(agent, n); err != nil {
		return err
	}
	change(d.last(agent))
	return nil
}

// onEnded changes a launch that has ended and is still the agent's last.
func (d *transition) onEnded(agent string, n int, change func(*Launch)) error {
	if l := d.Launch(agent); l == nil || l.N != n || !l.Phase.Ended() {
		return unwelcome("launch %d of %s is not the last", n, agent)
	}
	change(d.last(agent))
	return nil
}

// starting is of an agent whose process is not there yet.
var starting = concern{
	name: "starting",
	live: func(d *transition, of subject) bool {
		if of.launch.Phase != checkpoints.LaunchIntended {
			return false
		}
		d.setStatus(of.Agent, checkpoints.Starting, fmt.Sprintf("launch %d", of.launch.N))
		return true
	},
	plan: func(_ State, _ *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if l != nil && l.Phase == checkpoints.LaunchIntended && l.End != EndRecover {
			so = append(so, effect.Launch.Of(l))
		}
		return so
	},
}

// surveyDue reports whether an ended launch leaves something that a later one may need to know.
func surveyDue(a *Agent, l *Launch) bool {
	return l.Phase != checkpoints.LaunchSurveyed && (l.End != EndFinish || a.Report == nil)
}

// distrustLaunches takes from the launches in a pack file what is of processes of another machine.
func (d *transition) distrustLaunches(id string) {
	if len(d.Launches.Get(id)) == 0 {
		return
	}
	launches := slices.Clone(d.Launches.Get(id))
	for i, l := range launches {
		own := *l
		own.PID, own.StartTicks, own.Transcript, own.Replies, own.Gate = 0, 0, "", nil, nil
		launches[i] = &own
	}
	d.Launches.Put(id, launches)
}

// forget takes a reply from a launch.
func (d *transition) forget(l *Launch, request string) {
	l.Replies = slices.DeleteFunc(slices.Clone(l.Replies), func(r checkpoints.Reply) bool { return r.Request == request })
}
