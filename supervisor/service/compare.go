package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/view"
	"claude-supervise/supervisor/worktree"
)

// A Compared is what came of one of the answers to a question.
type Compared struct {
	Run     string            `json:"run"`
	Answer  string            `json:"answer"`
	Status  supervisor.Status `json:"status"`
	Reason  string            `json:"reason"`
	CostUSD float64           `json:"cost_usd"` // in all; of the run that was asked, with what came before
	Seconds float64           `json:"seconds"`  // since the answer
	Report  string            `json:"report"`
	Folder  string            `json:"folder"`
	Changed map[string]string `json:"changed"` // by path: changed or removed since the question
	Problem string            `json:"problem"` // why it is not known what has changed

	objects map[string]git.TreeEntry
}

// SameAs reports whether two runs have made the same of a file that both have changed.
func (c Compared) SameAs(other Compared, path string) bool {
	return c.Changed[path] != "" && c.Changed[path] == other.Changed[path] && c.objects[path] == other.objects[path]
}

// Compare looks at two runs that have answered the same question.
func (m Machine) Compare(ctx context.Context, one, other string) ([2]Compared, error) {
	return Act(m, func(c client.Client) ([2]Compared, error) { return compare(ctx, c, [2]string{one, other}) })
}

func compare(ctx context.Context, c client.Client, ids [2]string) (both [2]Compared, err error) {
	var states [2]supervisor.State
	for i, id := range ids {
		r, err := c.Reader().Run(ctx, id)
		if err != nil {
			return both, err
		}
		if states[i], err = view.State(ctx, c.Store, r.ID); err != nil {
			return both, err
		}
		both[i] = Compared{Run: r.ID, Status: r.Status, Reason: view.Because(r.Reason), CostUSD: r.CostUSD}
	}
	run, question := commonQuestion(states)
	if run == "" {
		return both, Refused("neither %s nor %s continues from a question of the other, nor both from the same one "+
			"(%s answer --again); `%[3]s show RUN --diff` shows what one run has changed", both[0].Run, both[1].Run, program)
	}
	origin, err := view.State(ctx, c.Store, run)
	if err != nil {
		return both, fmt.Errorf("the run that asked is gone: %w", err)
	}
	asked := origin.Questions.Get(question)
	if asked == nil {
		return both, fmt.Errorf("%s has no question %s any more", run, question)
	}
	store, moment := worktree.MomentsOf(c.Dirs, run), origin.Group(asked.Group)[0].Moment
	defer func() { _ = store.Close() }() // what is left goes with the run
	for i := range both {
		both[i].look(ctx, states[i], asked, store, moment)
	}
	return both, nil
}

// commonQuestion returns the question that two runs have answered, and the run that asked it; "" if there is none.
func commonQuestion(of [2]supervisor.State) (run, question string) {
	a, b := of[0].Run, of[1].Run
	switch {
	case b.Forked != nil && b.Forked.Run == a.ID:
		return b.Forked.Run, b.Forked.Question
	case a.Forked != nil && a.Forked.Run == b.ID:
		return a.Forked.Run, a.Forked.Question
	case a.Forked != nil && b.Forked != nil && a.Forked.Run == b.Forked.Run && a.Forked.Question == b.Forked.Question:
		return a.Forked.Run, a.Forked.Question
	}
	return "", ""
}

// look reads what a run has made of its answer to a question.
func (c *Compared) look(ctx context.Context, s supervisor.State, asked *supervisor.Question, store *git.Store,
	moment string) {
	q := asked
	if s.Run.ID != asked.Run {
		answered := s.FindQuestionsOf(s.Run.Root, func(q *supervisor.Question) bool { return q.Index == asked.Index })
		q = answered[0] // the oldest
	}
	a := s.Agents.Get(q.Agent)
	c.Answer, c.Folder, c.Changed = prompts.Answer(q), s.Folder(a.ID), map[string]string{}
	if until := time.Now(); q.AnsweredAt != nil {
		if a.EndedAt != nil {
			until = *a.EndedAt
		}
		c.Seconds = until.Sub(*q.AnsweredAt).Seconds()
	}
	if a.Report != nil {
		c.Report = a.Report.Status + ": " + a.Report.Summary
	}
	if w := a.Worktree; w != nil && w.Path == "" { // it has left nothing in it
		return
	}
	var err error
	if c.objects, err = store.Diff(ctx, moment, c.Folder); err != nil {
		c.Problem = err.Error()
		return
	}
	for path, entry := range c.objects {
		c.Changed[path] = "changed"
		if strings.Trim(entry.Object, "0") == "" {
			c.Changed[path] = "removed"
		}
	}
}
