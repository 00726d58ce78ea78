package supervisor

import (
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
)

// Notifications tells what a step changed, in words for who watches.
func Notifications(before, after State, e Happened) []notice.Notification {
	var ns []notice.Notification
	tell := func(t notice.Type, agent string, n notice.Notification) {
		n.Time, n.Run, n.Agent, n.Type, n.Who = e.At, after.Run.ID, agent, t, after.Who(agent)
		ns = append(ns, n)
	}
	if _, ok := e.Event.(Opened); ok {
		tell(notice.RunStarted, "", notice.Notification{RunState: after.Run})
	}
	if b, ok := e.Event.(Ended); ok && len(b.Survivors) > 0 {
		for _, s := range b.Survivors {
			tell(notice.Progress, b.Agent, notice.Notification{Text: "still ran at the end: " + s})
		}
	}
	agents, changed, _ := after.Changed(before.Records)
	for _, a := range agents {
		old := before.Agents.Get(a.ID)
		if old == a {
			continue
		}
		l, was := after.Launch(a.ID), before.Launch(a.ID)
		if l != nil && l.Phase.Runs() && (was == nil || was.N != l.N || !was.Phase.Runs()) {
			kind := notice.AgentStarted
			if l.N > 1 {
				kind = notice.ResumedNow
			}
			text := ""
			if l.N > 1 && !l.Resume && after.Begun(a.ID) {
				text = after.whyAnew(a.ID)
			}
			tell(kind, a.ID, notice.Notification{State: a, Launch: l.N, Text: text})
		}
		if a.Report != nil && (old == nil || old.Report == nil || !old.Report.Checked) && a.Report.Checked {
			n := notice.Notification{Report: a.Report, State: a, Missing: a.Report.Missing}
			if a.Status == checkpoints.Partial || old != nil && old.ToldMissing && a.Report.Status != "failed" {
				n.Missing = nil
			}
			tell(notice.Reported, a.ID, n)
		}
		if old == nil || a.Status == old.Status {
			continue
		}
		switch a.Status {
		case checkpoints.Limited:
			tell(notice.LimitedNow, a.ID, notice.Notification{State: a, Text: a.Reason})
		case checkpoints.OverBudget:
			tell(notice.Progress, a.ID, notice.Notification{Text: a.Reason, Trouble: true})
		case checkpoints.Parked:
			tell(notice.ParkedNow, a.ID, notice.Notification{State: a, Text: a.Reason})
		case checkpoints.Queued, checkpoints.Blocked, checkpoints.Stopping:
			if after.preparing(a.ID) != "" {
				break // that takes a moment, or a person has just asked for it
			}
			if a.Status == checkpoints.Stopping && a.Fault != "" {
				break // its end says it
			}
			tell(notice.Progress, a.ID, notice.Notification{Text: a.Reason})
		}
	}
	treeNotices(before, agents, changed, tell)
	for _, q := range changed {
		old := before.Questions.Get(q.ID)
		wasOpen := old == nil || old.State == checkpoints.QuestionOpen
		if wasOpen && q.State != checkpoints.QuestionOpen || old != nil &&
			(old.Answer != q.Answer || old.Skipped != q.Skipped || old.Declined != q.Declined) {
			tell(notice.QuestionDone, q.Agent, notice.Notification{Question: q, AtOnce: old == nil})
		}
		for _, lost := range []string{ask.LostServer(old, q), lostAnswer(old, q)} {
			if lost != "" {
				tell(notice.Progress, q.Agent, notice.Notification{Text: lost, Trouble: true})
			}
		}
	}
	notTold := func(problem string) {
		if problem != "" {
			tell(notice.Progress, "", notice.Notification{Text: "the --notify command failed: " + problem, Trouble: true})
		}
	}
	for i := range concerns {
		if tells := concerns[i].tells; tells != nil {
			tells(before, after, e.Event, tell)
		}
	}
	snapshotNotices(before, after, e.Event, tell)
	switch b := e.Event.(type) {
	case Asked:
		if b.Refused != "" {
			tell(notice.Progress, b.Agent,
				notice.Notification{Text: "its call of " + b.Call.Name + " was refused: " + b.Refused})
			break
		}
		if questions.KindOf(b.Kind).Ruled && after.Config.Permissions == conf.DenyPermissions {
			tell(notice.Progress, b.Agent,
				notice.Notification{Text: "permission denied, nobody is asked: " +
					listen.Doing(procs.ToolUse{Name: b.Call.Name, Input: b.Call.Input})})
		} else if rule := before.permitted(b.Rule, b.Agent, b.Call.Cwd); rule != "" {
			tell(notice.Progress, b.Agent, notice.Notification{Text: "allowed by the rule " + rule + ", nobody is asked"})
		}
	case Merged:
		told, trouble := mergedNotices(before.Run, after.Run)
		for _, text := range told {
			tell(notice.Progress, "", notice.Notification{Text: text, Trouble: trouble})
		}
	case NotificationSent:
		notTold(b.Problem)
	case Announced:
		notTold(b.Problem)
	case Left:
		ns = append(ns, EndNotice(after, e.At))
	}
	return ns
}

// whyAnew says why an agent that has had a conversation is launched without it.
func (s State) whyAnew(agent string) string {
	took := func(v *Delivery) bool { return v.State == checkpoints.DeliveryDelivered }
	switch {
	case !s.Abilities().Resumes:
		return "in a new process"
	case len(s.FindDeliveries(agent, took)) == 0:
		return "in a new conversation: its task had not reached it yet"
	case s.Config.Relaunch == conf.Fresh:
		return "in a new conversation, from the checkpoint"
	}
	return "in a new conversation, from the checkpoint: the earlier one is gone"
}

// EndNotice tells how a supervisor leaves its run.
func EndNotice(s State, at time.Time) notice.Notification {
	root, cost := s.Agents.Get(s.Run.Root), 0.0
	for a := range s.Agents.Values() {
		cost += a.CostUSD
	}
	return notice.Notification{
		Time: at, Run: s.Run.ID, Agent: root.ID, Type: notice.RunDone, Text: s.Run.Reason, ExitCode: s.ExitCode(),
		RunState: s.Run, State: root, Report: root.Report, Tasks: s.Table(), CostUSD: cost,
	}
}
