package supervisor

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/pace"
	"claude-supervise/supervisor/text"
)

// fail decides that the agent has failed, with or without a process.
func (d *transition) fail(agent, fault, reason string) {
	a := d.agent(agent)
	a.Fault, a.FaultReason = fault, reason
	d.end(agent, endFail, reason)
}

// failure decides what a failure of a launch or turn means: another try, or the end.
func (d *transition) failure(a *Agent, f procs.Failure) {
	a.Failures++
	if f.Passing && a.Failures <= d.Config.Retries {
		due := d.at.Add(pace.Backoff(a.Failures))
		a.NotBefore, a.GoOn = &due, true
		if l := d.Launch(a.ID); l.Phase.Ended() {
			d.last(a.ID).EndReason = f.Reason
		}
		d.end(a.ID, endRetry, f.Reason)
		return
	}
	reason := f.Reason
	if f.Passing && d.Config.Retries > 0 {
		reason += " (after " + text.Plural(d.Config.Retries, "retry", "retries") + ")"
	}
	d.fail(a.ID, string(f.Kind), reason)
}

// failedBy says what an agent has failed by. One that a limit has ended may have reported before, which was shown: its
// turn was cut short all the same, and nobody knows what of it is lost.
func failedBy(a *Agent) string {
	if a.Report == nil || a.Fault != string(procs.OverBudget) {
		return a.FaultReason
	}
	said := strings.ReplaceAll(a.Report.Status, "_", " ")
	if said == "failed" {
		said = "failure"
	}
	return a.FaultReason + ", after it had reported " + said
}

// failures end an agent that has failed for good.
var failures = concern{name: "failures", idle: func(d *transition, of subject) bool {
	if of.Fault == "" {
		return false
	}
	d.finish(of.Agent, checkpoints.Failed, failedBy(of.Agent))
	return true
}}

// retries hold an agent back after a failure that passes.
var retries = concern{
	name: "retries",
	idle: func(d *transition, of subject) bool {
		if of.NotBefore == nil {
			return false
		}
		d.setStatus(of.Agent, checkpoints.Queued,
			fmt.Sprintf("%s; tried again at %s", of.launch.LastWords(), of.NotBefore.Format(time.RFC3339)))
		return true
	},
	plan: func(_ State, a *Agent, l *Launch, so []effect.Effect) []effect.Effect {
		if a.NotBefore != nil && (l == nil || l.Phase.Ended()) {
			key := fmt.Sprintf("%s %s %d %d", effect.Retry, a.ID, a.Launches, a.NotBefore.UnixMilli()) // it may be put off
			so = append(so, effect.Effect{Do: effect.Retry, Key: key, Agent: a.ID, Until: *a.NotBefore})
		}
		return so
	},
}
