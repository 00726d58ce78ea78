package supervisor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// This file is the client of a run that is started inside an agent: it asks the supervisor of the agent's own run for another
// agent, and follows that to its end.

// A Caller is the agent in whose process tree a run is started.
type Caller struct {
	Run, Agent string
	Launch     int
	Cwd        string   // where it works
	Demo       string   // the scenario that the agents of its run play; "": they play none
	Exec       []string // the command that they run in claude's place
}

// Caller gives the agent that this process belongs to, by the processes above it or else by env; nil where it belongs to none, or
// to one of a run that this user's state does not know: such a run is another's, and whatever is started here stands by itself. An
// environment that somebody has changed below the agent's own process changes nothing.
func (c Client) Caller(ctx context.Context, env []string) (*Caller, error) {
	for _, env := range [][]string{{}, env} {
		m, inside := procs.Inside(env)
		if !inside {
			continue
		}
		s, err := c.state(ctx, m.Run)
		switch {
		case NoSuchID(err):
			continue
		case err != nil:
			return nil, err
		case s.Agents[m.Agent] == nil:
			return nil, fmt.Errorf("this process says that it belongs to agent %s, which is none of run %s; nothing was started",
				firstLine(m.Agent), s.Run.ID)
		}
		return &Caller{
			Run: s.Run.ID, Agent: m.Agent, Launch: m.Launch, Cwd: s.folder(m.Agent), Demo: s.Config.Demo, Exec: s.Config.Exec,
		}, nil
	}
	return nil, nil
}

// state loads a run.
func (c Client) state(ctx context.Context, run string) (State, error) {
	l, err := c.Store.Load(ctx, run)
	if err != nil {
		return State{}, err
	}
	return loaded(l)
}

// Within gives the place in the caller's folder that a path names, and whether it does.
func (c Caller) Within(path string) (place string, ok bool) {
	folder, err := filepath.EvalSymlinks(c.Cwd)
	if err != nil {
		return "", false
	}
	if path, err = filepath.EvalSymlinks(path); err != nil || !under(path, folder) {
		return "", false
	}
	rel, err := filepath.Rel(folder, path)
	return filepath.Join(c.Cwd, rel), err == nil
}

// A NestedTask is what a run inside an agent asks for. Of the Task its Config does not count: that of the run does.
type NestedTask struct {
	Task
	Model    string // "": that of the run
	MaxTurns int    // 0: no limit
}

// A NestedRun is a run inside an agent, as its client knows it.
type NestedRun struct {
	Run, Agent string // Agent is the id of the new agent, which may turn out to be one that is at work on this already
	Caller     Caller
	Again      bool // it was started before by the same agent, and goes on

	client      Client
	seq         int64 // of the note
	fingerprint string
	work        Work
}

// CallLimit tells how long whoever has started a process with this environment waits for it, if that is known.
func CallLimit(env []string) (time.Duration, bool) { return procs.CallLimit(env) }

// A NotNestedError says why nothing is started for a run inside an agent, so that the agent can act on it.
type NotNestedError struct{ Why string }

func (e *NotNestedError) Error() string { return "nothing was started: " + e.Why }

func notNested(format string, args ...any) error {
	return &NotNestedError{Why: fmt.Sprintf(format, args...)}
}

// Nest leaves the task of a run inside an agent for the supervisor of that agent's run. With waits the client follows the new agent
// to its end, and has to say by Seen or Leave how it went. It does not wait for the supervisor. The error is a *NotNestedError
// where the limits, the policy or the end of the caller refuse it.
func (c Client) Nest(ctx context.Context, caller Caller, t NestedTask, waits bool) (*NestedRun, error) {
	s, err := c.state(ctx, caller.Run)
	if err != nil {
		return nil, err
	}
	w := Work{
		Task: t.Brief.Compose(t.Prompt), SuccessCriteria: t.Brief.SuccessCriteria, Deliverables: t.Brief.Deliverables, Cwd: t.Cwd,
		Said: checkpoints.Delegated{
			Name: t.Name, Model: t.Model, MaxTurns: t.MaxTurns,
			Reason: "the agent has started it as a run of its own, and waits for it or goes on",
		},
	}.usual()
	nest := nesting{Agent: newAgent(), Launch: caller.Launch, Waits: waits, Work: w}
	if len(w.Task) > MaxNestedTask || len(encode(nest)) > maxNesting {
		return nil, notNested("the task is longer than %d KiB: put the material into files and name them", MaxNestedTask>>10)
	}
	n := &NestedRun{Run: caller.Run, Agent: nest.Agent, Caller: caller, client: c, fingerprint: nest.fingerprint(), work: w}
	if child, q := s.nestedFor(n); child != nil {
		n.Agent, n.Again = child.ID, true
	} else if why := s.nestedRefused(s.Agents[caller.Agent], w); q == nil && why != "" {
		return nil, notNested("%s", why)
	}
	at(c.At, beforeNote+noteNested)
	note, err := c.Store.Leave(ctx, Note{
		Run: caller.Run, Kind: noteNested, Agent: caller.Agent, By: "agent " + caller.Agent, At: time.Now().UTC(), Doc: encode(nest),
	})
	if errors.Is(err, ErrEnded) {
		return nil, notNested("run %s, which this process belongs to, has ended", caller.Run)
	}
	if err != nil {
		return nil, err
	}
	at(c.At, afterNote+noteNested)
	n.seq = note.Seq
	return n, c.ring(ctx, caller.Run)
}

// nestedFor gives what has become of a nested run: its agent, or the question whether there may be one, which may be settled.
func (s State) nestedFor(n *NestedRun) (*Agent, *Question) {
	if c := s.Agents[n.Agent]; c != nil {
		return c, nil
	}
	if c := s.sameWork(n.Caller.Agent, n.fingerprint); c != nil {
		return c, nil
	}
	if q := s.nestedQuestion(n.Caller.Agent, n.fingerprint); q != nil {
		return s.Agents[q.Child], q
	}
	if settled := s.questionsOf(n.Caller.Agent, func(q *Question) bool { return q.Child == n.Agent }); len(settled) > 0 {
		return nil, settled[0]
	}
	return nil, nil
}

// A NestedEnd is how far a nested run got while its client looked.
type NestedEnd struct {
	Agent    *Agent    // nil: it has not been started
	Question *Question // whether it may be started, if a person is asked that and it has not been started
	Code     int       // once the agent has ended: what a run of its own would exit with
	Left     *RunView  // nobody supervises the run any more
	Refused  string    // why it was not started, in words
}

// errNestedOver ends the looking of a client that has seen all.
var errNestedOver = errors.New("over")

// Watch follows a nested run until its agent has ended, it was refused, nobody supervises the run any more, or ctx ends, whose cause
// is then the error. Meanwhile tell is given, from several goroutines, what happens to the agent and below it, and what it says.
func (n *NestedRun) Watch(ctx context.Context, tell func(Notice)) (NestedEnd, error) {
	return n.watch(ctx, tell, func(e NestedEnd) bool { return e.Refused != "" || e.Agent != nil && e.Agent.Status.Ended() })
}

// Taken follows a nested run until it is known whether it is started.
func (n *NestedRun) Taken(ctx context.Context) (NestedEnd, error) {
	return n.watch(ctx, nil, func(e NestedEnd) bool { return e.Refused != "" || e.Agent != nil || e.Question != nil })
}

func (n *NestedRun) watch(ctx context.Context, tell func(Notice), enough func(NestedEnd) bool) (NestedEnd, error) {
	reader := Reader{Dirs: n.client.Dirs, Store: n.client.Store}
	var end NestedEnd
	over := make(chan struct{})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(over)
		listening := false
		err := reader.Attend(ctx, n.Run, func(s Sight) error {
			end = n.seen(s.state)
			if tell != nil && end.Agent != nil {
				if !listening {
					listening = true
					log := Log{Run: n.Run, Agent: end.Agent.ID, reader: reader}
					group.Go(func() error { return listen(ctx, log, over, tell) })
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

// seen says how far the nested run has got in a state.
func (n *NestedRun) seen(s State) (end NestedEnd) {
	if s.Taken < n.seq {
		return end
	}
	c, q := s.nestedFor(n)
	switch {
	case c != nil:
		n.Agent, end.Agent = c.ID, c
		if c.Status.Ended() {
			end.Code = ExitCode(s.decisiveIn(c))
		}
	case q == nil:
		if end.Refused = s.nestedRefused(s.Agents[n.Caller.Agent], n.work); end.Refused == "" {
			end.Refused = "it was refused, as its run stood then; it may be tried again"
		}
	case q.State == Open:
		n.Agent, end.Question = q.Child, q
	case q.State == checkpoints.QuestionWithdrawn:
		n.Agent, end.Refused = q.Child, "the question whether it may start is no longer open"
	default:
		if _, ok := approved(q); ok {
			return end // its agent is made in the same step
		}
		n.Agent, end.Refused = q.Child, whyDenied(q.Answer, q.AnsweredBy)
	}
	return end
}

// pass hands on what happens to the agent, to those below it, and to the question whether it may be started.
func (n *NestedRun) pass(s Sight, tell func(Notice)) {
	for _, news := range s.News {
		a := s.state.Agents[news.Agent]
		ours := a != nil && (a.ID == n.Agent || s.state.below(a, n.Agent)) || news.Question != nil && news.Question.Child == n.Agent
		if ours {
			tell(news)
		}
	}
}

// listen hands on what the agent says and does, until over is closed.
func listen(ctx context.Context, l Log, over <-chan struct{}, tell func(Notice)) error {
	ears := newEars(l.Agent, nil, nil)
	return l.until(ctx, over, func(line []byte) error {
		for _, said := range loggedNotices(line, ears.hear) {
			said.Run, said.Agent = l.Run, l.Agent
			tell(said)
		}
		return nil
	})
}

// loggedNotices says as notices what a line of a log holds. hear finds the signals in it.
func loggedNotices(line []byte, hear func(procs.Message) []signals.Signal) []Notice {
	var e logEntry
	if json.Unmarshal(line, &e) != nil {
		return nil // a line that is no protocol, or was cut by a crash
	}
	var said []Notice
	text := func(text string, m procs.Message) {
		said = append(said, Notice{Time: e.Time, Type: TextSaid, Text: text, Prose: prose(text, hear(m))})
	}
	switch e.Line.Type {
	case "raw":
		text(e.Line.Text, procs.Raw{Text: e.Line.Text})
	case "assistant":
		for _, b := range e.blocks() {
			switch b.Type {
			case "text":
				text(b.Text, procs.Text{Text: b.Text, ID: e.Line.Message.ID, Parent: e.Line.Parent})
			case "tool_use":
				use := procs.ToolUse{ID: b.ID, Name: b.Name, Input: b.Input, Parent: e.Line.Parent}
				hear(use)
				said = append(said, Notice{Time: e.Time, Type: Progress, Text: doing(use)})
			}
		}
	case "result":
		hear(procs.Result{Text: e.Line.Result})
	}
	return said
}

// Seen says that the end of the agent, or why there is none, was told where the run was started: no prompt says it again. Where
// that could not be saved, one does.
func (n *NestedRun) Seen(ctx context.Context) error { return n.leave(ctx, noteNestedSeen) }

// Leave says that the client goes before the end: the agent that called is told of that by a prompt.
func (n *NestedRun) Leave(ctx context.Context) error { return n.leave(ctx, noteNestedLeft) }

func (n *NestedRun) leave(ctx context.Context, kind string) error {
	at(n.client.At, beforeNote+kind)
	_, err := n.client.Store.Leave(ctx, Note{Run: n.Run, Kind: kind, Agent: n.Agent, By: "agent " + n.Caller.Agent, At: time.Now().UTC()})
	if errors.Is(err, ErrEnded) {
		return nil // nobody is told of anything any more
	}
	if err != nil {
		return err
	}
	at(n.client.At, afterNote+kind)
	return n.client.ring(ctx, n.Run)
}
