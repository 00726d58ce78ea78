package engine

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/task"
)

// A run may begin as a fork: with the question of another run, and another answer to it.

// forking reports whether this is a world in which runs begin so. The seeds of the others stay as they are.
func (w *simulation) forking() bool { return w.seed%64 == 4 || w.seed%64 == 28 || w.seed%64 == 41 }

// forked is the call that the other run has asked by.
const forked = "toolu_forked"

// asFork makes the task of a run that of a fork.
func (w *simulation) asFork(t *task.Task) {
	c := &t.Config
	c.Exec, c.Relaunch, c.Snapshots, t.Children, t.Group = nil, conf.Resume, nil, nil, false
	f := task.Fork{Forked: checkpoints.Forked{Run: "r-origin", Agent: "a-origin", Question: "q-origin", Session: "origin",
		Folder: "/work", Before: "what it was"}, Moment: "moment", Version: w.nature.version, Answer: w.id("V"), By: "a test"}
	for i := range 1 + w.rng.IntN(2) {
		q := checkpoints.Question{ID: fmt.Sprintf("q-other%d", i), Kind: questions.AskClarification,
			State: checkpoints.QuestionDelivered}
		q.Text, q.Answer = fmt.Sprintf("Which of %s?", w.id("T")), "before"
		q.Tool = &checkpoints.ToolCall{Name: ask.AskUserQuestion, ToolUse: forked, Launch: 7, Line: "line of " + forked}
		f.Questions = append(f.Questions, q)
	}
	var asked []string
	for _, q := range f.Questions {
		asked = append(asked, fmt.Sprintf(`{"question":%q,"header":"Choice"}`, q.Text))
	}
	for _, q := range f.Questions {
		q.Tool.Input = []byte(`{"questions":[` + strings.Join(asked, ",") + `]}`)
	}
	f.Asked = w.rng.IntN(len(f.Questions))
	t.Fork = &f
}

// forkBegun has the answer of a fork count as acknowledged, once its run is there.
func (w *simulation) forkBegun(after supervisor.State, e supervisor.Happened) {
	created, is := e.Event.(supervisor.Created)
	if !is || created.Fork == nil {
		return
	}
	q := after.FindQuestionsOf(after.Run.Root, func(q *supervisor.Question) bool { return q.Index == created.Fork.Asked })[0]
	w.truth.acknowledged(supervisor.InboxEntry{Question: q.ID, Value: created.Fork.Answer, By: "a test"})
}

// layFork copies the conversation with which a fork begins, or says why it cannot.
func (w *simulation) layFork(s supervisor.State, a *supervisor.Agent) (why string) {
	if !s.ForkDue(a) || w.talks[a.SessionID] != nil {
		return ""
	}
	if w.one(8) {
		return "the conversation is gone"
	}
	t := &talk{agent: a.ID, session: a.SessionID}
	asked := s.FindQuestionsOf(a.ID, func(q *supervisor.Question) bool { return q.Tool != nil })[0]
	t.entries = []talkEntry{{read: "the task of another run"},
		{said: procs.ToolUse{ID: forked, Name: ask.AskUserQuestion, Input: asked.Tool.Input}}}
	t.written = len(t.entries)
	w.talks[a.SessionID] = t
	return ""
}

// forksAreReady is of the root of a fork: it works in a worktree of its own.
func forksAreReady(_ *simulation, before, after supervisor.State, _ supervisor.Happened) string {
	if after.Run.Forked == nil || before.Run == nil {
		return ""
	}
	root := after.Agents.Get(after.Run.Root)
	if len(after.Launches.Get(root.ID)) == len(before.Launches.Get(root.ID)) || root.Worktree == nil {
		return "" // it was unpacked, where it has no folder of its own
	}
	if root.Worktree.State != checkpoints.WorktreeMade {
		return fmt.Sprintf("%s is launched in %+v", root.ID, root.Worktree)
	}
	return ""
}
