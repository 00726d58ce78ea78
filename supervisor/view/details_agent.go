package view

import (
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
)

// AgentDetails is what `show` tells of an agent beside what `ps` does.
type AgentDetails struct {
	Children  []string               `json:"children"`
	Delegated *checkpoints.Delegated `json:"delegated"` // how it came about; nil for the root
	Budget    *checkpoints.Budget    `json:"budget"`    // what it and all below it may use
	Progress  *checkpoints.Progress  `json:"progress"`  // as it last told it
	// what its subagents have reported of their parts
	SubagentReports []checkpoints.PartReport `json:"subagent_reports"`
	Worked          float64                  `json:"worked_seconds"` // how long its processes have lived
	CPU             float64                  `json:"cpu_seconds"`
	RSS             int64                    `json:"rss_bytes"` // of all of its processes; 0: it has none
	GoesOnFrom      string                   `json:"goes_on_from"`
	ContinuedBy     string                   `json:"continued_by"` // the agent that goes on with its conversation
}

// agentDetails gives what is known of an agent. It looks at the processes of one whose run is supervised.
func agentDetails(s supervisor.State, a *supervisor.Agent, pid int, at time.Time) AgentDetails {
	d := AgentDetails{
		Delegated: a.Delegated, Budget: a.Budget, Progress: a.Progress, Worked: workedFor(s, a, at).Seconds(),
		ContinuedBy: a.ContinuedBy,
		GoesOnFrom:  s.GoesOnFrom(a),
		Children:    []string{}, SubagentReports: append([]checkpoints.PartReport{}, a.Parts...),
	}
	for _, c := range s.Children(a.ID) {
		d.Children = append(d.Children, c.ID)
	}
	if pid != 0 {
		if cpu, rss, err := procs.Resources(pid); err == nil { // else it has just ended
			d.CPU, d.RSS = cpu.Seconds(), rss
		}
	}
	return d
}

// workedFor is how long the processes of an agent have lived, that which lives included.
func workedFor(s supervisor.State, a *supervisor.Agent, at time.Time) time.Duration {
	sum := s.Duration(a)
	if l := s.Live(a.ID); l != nil && l.StartedAt != nil {
		sum += max(at.Sub(*l.StartedAt), 0)
	}
	return sum
}
