package supervisor

import (
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// AgentDetails is what `show` tells of an agent beside what `ps` does.
type AgentDetails struct {
	Children    []string               `json:"children,omitempty"`
	Delegated   *checkpoints.Delegated `json:"delegated,omitempty"` // how it came about; nil for the root
	Budget      *checkpoints.Budget    `json:"budget,omitempty"`    // what it and all below it may use
	Progress    *checkpoints.Progress  `json:"progress,omitempty"`  // as it last told it
	Worked      float64                `json:"worked_seconds"`      // how long its processes have lived
	CPU         float64                `json:"cpu_seconds,omitempty"`
	RSS         int64                  `json:"rss_bytes,omitempty"` // of all of its processes; 0: it has none
	GoesOnFrom  string                 `json:"goes_on_from,omitempty"`
	ContinuedBy string                 `json:"continued_by,omitempty"` // the agent that goes on with its conversation
}

// agentDetails gives what is known of an agent. It looks at the processes of one whose run is supervised.
func (s State) agentDetails(a *Agent, pid int, at time.Time) AgentDetails {
	d := AgentDetails{
		Delegated: a.Delegated, Budget: a.Budget, Progress: a.Progress, Worked: s.worked(a, at).Seconds(), ContinuedBy: a.ContinuedBy,
		GoesOnFrom: s.goesOnFrom(a),
	}
	for _, c := range s.children(a.ID) {
		d.Children = append(d.Children, c.ID)
	}
	if pid != 0 {
		if cpu, rss, err := procs.Resources(pid); err == nil { // else it has just ended
			d.CPU, d.RSS = cpu.Seconds(), rss
		}
	}
	return d
}

// worked is how long the processes of an agent have lived, that which lives included.
func (s State) worked(a *Agent, at time.Time) time.Duration {
	sum := s.duration(a)
	if l := s.live(a.ID); l != nil && l.StartedAt != nil {
		sum += max(at.Sub(*l.StartedAt), 0)
	}
	return sum
}

// goesOnFrom names the agent whose conversation one goes on with, by its session where it is of another run; "" if it began empty.
func (s State) goesOnFrom(a *Agent) string {
	if a.From == "" {
		return ""
	}
	agents := s.agents()
	if at := slices.IndexFunc(agents, func(b *Agent) bool { return b.SessionID == a.From }); at >= 0 {
		return agents[at].ID
	}
	return "session " + a.From
}
