package supervisor

import (
	"errors"
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/task"
)

// A fork is a run that goes on from a question of another run, with another answer. It is what that run would be had it
// been parked at the question: its agent has the conversation until then, under a session of its own, the work as it
// was then (moment.go) in a worktree of its own, and an answer that waits. All that follows is as after a park
// (place.go). The other run is only read.

// Fork returns the run that goes on from a question of this one with the answer given, by whom and when, under the ids
// of a new run. The error says why there can be none. What of it is on disk is not looked at.
func (s State) Fork(question string) (f task.Fork, err error) {
	q := s.Questions.Get(question)
	if q == nil {
		return f, fmt.Errorf("%s has no question %s", s.Run.ID, question)
	}
	group := s.Group(q.Group)
	first, of := group[0], s.Run.Forked
	switch err := ask.ForksAt(first); {
	case err != nil:
		return f, err
	case of != nil && first.Tool.Launch == forkLaunch && q.Agent == s.Run.Root:
		return f, fmt.Errorf("it was asked in %s: answer %s again", of.Run, of.Question)
	case q.State == checkpoints.QuestionOpen:
		return f, errors.New("its run has no answer to it yet")
	case q.State == checkpoints.QuestionAnswered && s.Run.EndedAt == nil:
		return f, errors.New("its answer has not been delivered: --change replaces it")
	case q.State == checkpoints.QuestionWithdrawn:
		return f, errors.New("it was withdrawn before it was answered")
	case first.Moment == "" && first.NoMoment != "":
		return f, fmt.Errorf("the work as it was then was not kept: %s", first.NoMoment)
	case first.Moment == "":
		return f, errors.New("the work as it was then was not kept: an older release has asked it")
	}
	a := s.Agents.Get(q.Agent)
	if a.Delegated != nil && a.Delegated.Type != "" {
		return f, fmt.Errorf("its agent is one of the type %s, which only another agent starts", a.Delegated.Type)
	}
	f = task.Fork{
		Forked: checkpoints.Forked{Run: s.Run.ID, Agent: a.ID, Question: q.ID, Session: a.SessionID, Folder: s.Folder(a.ID),
			Before: prompts.Answer(q)},
		Moment: first.Moment,
	}
	for _, l := range s.Launches.Get(a.ID) {
		if l.N <= first.Tool.Launch && l.Version != "" {
			f.Version = l.Version
		}
	}
	for i, other := range group {
		if other.ID == q.ID {
			f.Asked = i
		}
		f.Questions = append(f.Questions, *other)
	}
	return f, nil
}

// forkLaunch is the launch in which an agent has asked before its run began, as its records have it.
const forkLaunch = 1

// ForkTask returns the task of a fork: that of the agent, as the run was begun.
func (s State) ForkTask(f task.Fork) task.Task {
	a, cfg := s.Agents.Get(f.Agent), s.Config
	cfg.AcceptIDs = append(slices.Clip(cfg.AcceptIDs), a.ID) // its conversation calls it so
	if said := a.Delegated; said != nil && said.Model != "" {
		cfg.Flags = append(slices.Clip(cfg.Flags), "--model="+said.Model)
	}
	cfg.Relaunch, cfg.TraceParent, cfg.Snapshots = conf.Resume, "", nil
	return task.Task{Prompt: a.Task, Cwd: f.Folder, Config: cfg, Fork: &f,
		Brief: task.Brief{SuccessCriteria: a.SuccessCriteria, Deliverables: a.Deliverables}}
}

// forks has the root of a new run go on from a question of another: as one that was parked there, and is answered.
func (d *transition) forks(root *Agent, f task.Fork) {
	d.run().Forked = &f.Forked
	root.Worktree = &checkpoints.Worktree{State: checkpoints.WorktreeWanted, Branch: label.Branch(root), From: d.Run.Cwd,
		Moment: &checkpoints.MomentOf{Run: f.Run, ID: f.Moment}}
	asked := slices.Clone(f.Questions)
	for i := range asked {
		q := &asked[i]
		q.State, q.Handling = checkpoints.QuestionAnswered, checkpoints.Handling{NoMoment: "it is that of " + f.Run}
		q.Grant, q.Like, q.ForAllLike = checkpoints.Grant{}, "", false
	}
	d.askedBefore(root, f.Version, "was in "+f.Run+", until "+f.Question, asked)
	d.answer(InboxEntry{Question: f.Questions[f.Asked].ID, Value: f.Answer, By: f.By, At: d.at})
}

// askedBefore has an agent have asked in a launch before its first, which nobody supervised for this run.
func (d *transition) askedBefore(a *Agent, version, outcome string, qs []checkpoints.Question) {
	a.Launches = forkLaunch
	ended := d.at
	d.addLaunch(&Launch{Agent: a.ID, N: forkLaunch, Phase: checkpoints.LaunchSurveyed, Resume: true, Begun: true,
		Version: version, End: endPark, EndedAt: &ended, Outcome: outcome})
	for i, q := range qs {
		q.Run, q.Agent, q.Who, q.Group, q.Index, q.AskedAt = d.Run.ID, a.ID, "", qs[0].ID, i, d.at
		if q.Tool != nil {
			call := *q.Tool
			call.Launch, call.Request = forkLaunch, ""
			q.Tool = &call
		}
		d.addQuestion(&q)
	}
}

// takesUp has the root of a new run go on, in its own conversation, from the questions with which that has ended.
func (d *transition) takesUp(root *Agent, of task.Session) {
	root.SessionID = of.ID
	d.askedBefore(root, of.Version, "was a session that nobody supervised", of.Questions)
	d.saysParked()
}

// ForkDue reports whether the conversation with which an agent begins is still to be made of that of another run. One
// that is lost later is not made again: it would lack all that was said since.
func (s State) ForkDue(a *Agent) bool { return s.Forked(a) && a.Launches == forkLaunch }

// elsewhere tells the agent of a fork, with the result of its call, that its folder is another than before; "" to
// others.
func (s State) elsewhere(q *Question) string {
	a := s.Agents.Get(q.Agent)
	if !s.Forked(a) || q.Tool == nil || q.Tool.Launch != forkLaunch {
		return ""
	}
	return "\n\n" + prompts.Forked(s.Run.Forked.Folder, s.Folder(a.ID), a.Worktree == nil || !a.Worktree.IsCopy())
}
