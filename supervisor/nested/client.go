package nested

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/stream"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// This file is the client of a run that is started inside an agent: it asks the supervisor of the agent's own run for
// another agent, and follows that to its end.

// CallerOf returns the agent that this process belongs to, by the processes above it or else by env; nil where it
// belongs to none, or to one of a run that this user's state does not know: such a run is another's, and whatever is
// started here stands by itself. An environment that somebody has changed below the agent's own process changes
// nothing.
func CallerOf(ctx context.Context, c client.Client, env []string) (*records.Caller, error) {
	for _, env := range [][]string{{}, env} {
		m, inside := procs.Inside(env)
		if !inside {
			continue
		}
		s, err := view.State(ctx, c.Store, m.Run)
		switch {
		case view.NoSuchID(err) && procs.StateOf(env) != "":
			return nil, fmt.Errorf("this process belongs to agent %s of run %s, which is not in %s; nothing was started: "+
				"run it on a terminal of your own", text.FirstLine(m.Agent), text.FirstLine(m.Run), c.Dirs.State)
		case view.NoSuchID(err):
			continue
		case err != nil:
			return nil, err
		case s.Agents.Get(m.Agent) == nil:
			return nil, fmt.Errorf("this process says that it belongs to agent %s, which is not one of run %s; nothing "+
				"was started", text.FirstLine(m.Agent), s.Run.ID)
		}
		return &records.Caller{
			Run: s.Run.ID, Agent: m.Agent, Launch: m.Launch, Cwd: s.Folder(m.Agent), Demo: s.Config.Demo,
			Exec: s.Config.Exec,
		}, nil
	}
	if procs.Unmarked(env) {
		return nil,
			errors.New(
				"this process was started by a supervised agent, whose run cannot be told: its environment was taken away; " +
					"nothing was started: leave CLAUDE_SUPERVISE_RUN, _AGENT and _STATE as they are")
	}
	return nil, nil
}

// Within returns the place in the caller's folder that a path names, and whether it does.
func Within(c records.Caller, path string) (place string, ok bool) {
	folder, err := filepath.EvalSymlinks(c.Cwd)
	if err != nil {
		return "", false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || !text.Under(path, folder) {
		return "", false
	}
	rel, err := filepath.Rel(folder, path)
	return filepath.Join(c.Cwd, rel), err == nil
}

// A NestedTask is what a run inside an agent asks for. Of the Task its Config does not count: that of the run does.
type NestedTask struct {
	task.Task
	Model    string // "": that of the run
	MaxTurns int    // 0: no limit
}

// A NestedRun is a run inside an agent, as its client knows it.
type NestedRun struct {
	records.NestedRequest
	client client.Client
}

// CallLimit returns how long the agent that started a process with this environment waits for it, if that is known.
func CallLimit(env []string) (time.Duration, bool) { return claude.CallLimit(env) }

// A NotNestedError says why nothing is started for a run inside an agent, so that the agent can act on it.
type NotNestedError struct{ Why string }

func (e *NotNestedError) Error() string { return "nothing was started: " + e.Why }

func notNested(format string, args ...any) error {
	return &NotNestedError{Why: fmt.Sprintf(format, args...)}
}

// Start leaves the task of a run inside an agent for the supervisor of that agent's run. With waits the client follows
// the new agent to its end, and has to say by Seen or Leave how it went. It does not wait for the supervisor. The error
// is a *NotNestedError where the limits, the policy or the end of the caller refuse it.
func Start(ctx context.Context, c client.Client, caller records.Caller, t NestedTask, waits bool) (*NestedRun,
	error) {
	s, err := view.State(ctx, c.Store, caller.Run)
	if err != nil {
		return nil, err
	}
	w := task.Work{
		Task: t.Brief.Compose(t.Prompt), SuccessCriteria: t.Brief.SuccessCriteria, Deliverables: t.Brief.Deliverables,
		Cwd: t.Cwd,
		Said: checkpoints.Delegated{
			Name: t.Name, Model: t.Model, MaxTurns: t.MaxTurns,
			Reason: "the agent has started it as a run of its own, and waits for it or continues",
		},
	}.Usual()
	nest := ask.Nesting{Agent: checkpoints.NewAgentID(), Launch: caller.Launch, Waits: waits, Work: w}
	if len(w.Task) > ask.MaxNestedTask || len(text.JSON(nest)) > ask.MaxNesting {
		return nil, notNested("the task is longer than %d KiB: put the material into files and name them",
			ask.MaxNestedTask>>10)
	}
	n := &NestedRun{client: c, NestedRequest: records.NestedRequest{
		Run: caller.Run, Agent: nest.Agent, Caller: caller, Fingerprint: nest.Fingerprint(), Work: w,
	}}
	if child, q := s.NestedFor(&n.NestedRequest); child != nil {
		n.Agent, n.Again = child.ID, true
	} else if why := s.NestedRefused(s.Agents.Get(caller.Agent), w); q == nil && why != "" {
		return nil, notNested("%s", why)
	}
	note, err := c.Leave(ctx, supervisor.InboxEntry{
		Run: caller.Run, Kind: ask.EntryNested, Agent: caller.Agent, By: "agent " + caller.Agent,
		At: time.Now().UTC(), Doc: text.JSON(nest),
	})
	if errors.Is(err, supervisor.ErrEnded) {
		return nil, notNested("run %s, which this process belongs to, has ended", caller.Run)
	}
	if err != nil && note.Seq == 0 { // nothing was left
		return nil, err
	}
	n.Seq = note.Seq
	return n, err
}

// A NestedEnd is how far a nested run got while its client looked.
type NestedEnd struct {
	supervisor.NestedState
	Left *view.RunView // nobody supervises the run any more
}

// errNestedOver ends the looking of a client that has seen all.
var errNestedOver = errors.New("over")

// Watch follows a nested run until its agent has ended, it was refused, nobody supervises the run any more, or ctx
// ends, whose cause is then the error. Meanwhile tell is given, from several goroutines, what happens to the agent and
// below it, and what it says.
func (n *NestedRun) Watch(ctx context.Context, tell func(notice.Notification)) (NestedEnd, error) {
	return n.watch(ctx, tell, func(e NestedEnd) bool {
		return e.Refused != "" || e.Agent != nil && e.Agent.Status.Ended()
	})
}

// Taken follows a nested run until it is known whether it is started.
func (n *NestedRun) Taken(ctx context.Context) (NestedEnd, error) {
	return n.watch(ctx, nil, func(e NestedEnd) bool { return e.Refused != "" || e.Agent != nil || e.Question != nil })
}

func (n *NestedRun) watch(ctx context.Context, tell func(notice.Notification),
	enough func(NestedEnd) bool) (NestedEnd, error) {
	reader := n.client.Reader()
	var end NestedEnd
	over := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(over)
		listening := false
		err := reader.Attend(ctx, n.Run, func(s view.Snapshot) error {
			end = NestedEnd{NestedState: s.State.NestedIn(&n.NestedRequest)}
			if tell != nil && end.Agent != nil {
				if !listening {
					listening = true
					log := view.Log{Run: n.Run, Agent: end.Agent.ID, Reader: reader}
					group.Go(func() error { return follow(ctx, log, over, tell) })
				}
				n.pass(s, tell)
			} else if tell != nil && end.Question != nil {
				n.pass(s, tell)
			}
			switch {
			case enough(end):
				return errNestedOver
			case !s.Run.GoesOn():
				end.Left = &s.Run
			}
			return nil
		})
		if errors.Is(err, errNestedOver) {
			return nil
		}
		return err
	})
	err := group.Wait()
	return end, err
}

// pass hands on what happens to the agent, to those below it, and to the question whether it may be started.
func (n *NestedRun) pass(s view.Snapshot, tell func(notice.Notification)) {
	for _, news := range s.News {
		a := s.State.Agents.Get(news.Agent)
		ours := a != nil && (a.ID == n.Agent || s.State.Below(a, n.Agent)) || news.Question != nil &&
			news.Question.Child == n.Agent
		if ours {
			tell(news)
		}
	}
}

// listen hands on what the agent says and does, until over is closed.
func follow(ctx context.Context, l view.Log, over <-chan struct{}, tell func(notice.Notification)) error {
	reader := listen.NewSignalReader(l.Agent, nil, nil)
	return l.Until(ctx, over, func(line []byte) error {
		for _, said := range loggedNotices(line, reader) {
			said.Run, said.Agent = l.Run, l.Agent
			tell(said)
		}
		return nil
	})
}

// loggedNotices says as notices what a line of a log holds.
func loggedNotices(line []byte, reader listen.SignalReader) []notice.Notification {
	var e stream.Entry
	if !stream.Decode(line, &e) {
		return nil // a line that is no protocol, or was cut by a crash
	}
	var said []notice.Notification
	for _, m := range claude.Logged(e.Line) {
		found := reader.Read(m)
		switch m := m.(type) {
		case procs.Raw, procs.Text:
			text := listen.Said(m)
			said = append(said, notice.Notification{Time: e.Time, Type: notice.TextSaid, Text: text,
				Prose: reader.Prose(m, found)})
		case procs.ToolUse:
			said = append(said,
				notice.Notification{Time: e.Time, Type: notice.Progress, Text: listen.Doing(m)})
		}
	}
	return said
}

// Seen says that the end of the agent, or why there is none (refused), was told where the run was started: no prompt
// says it again. Where that could not be saved, or the answer is another by now, one does.
func (n *NestedRun) Seen(ctx context.Context, refused string) error {
	return n.leave(ctx, supervisor.EntryNestedSeen, refused)
}

// Leave says that the client goes before the end: the agent that called is told of that by a prompt.
func (n *NestedRun) Leave(ctx context.Context) error {
	return n.leave(ctx, supervisor.EntryNestedLeft, "")
}

func (n *NestedRun) leave(ctx context.Context, kind, refused string) error {
	_, err := n.client.Leave(ctx, supervisor.InboxEntry{Run: n.Run, Kind: kind, Agent: n.Agent, Value: refused,
		By: "agent " + n.Caller.Agent, At: time.Now().UTC()})
	if errors.Is(err, supervisor.ErrEnded) {
		return nil // nobody is told of anything any more
	}
	return err
}
