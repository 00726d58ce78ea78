package view

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// A Continuation is the conversation of an agent that has ended, for a new task to go on in: Task.From and Task.Cwd.
type Continuation struct {
	Agent   string
	IDs     []string // that the conversation knows as its agent's: its own, and those of agents that it had continued
	Session string
	Cwd     string // where the agent worked, absolute; the folder of its run, should that be gone
}

// errNotContinued says that an agent's conversation cannot be gone on with.
var errNotContinued = errors.New("nothing was started")

// Continuation returns the conversation of the agent that an id or its start names, that of the root where it names a
// run. The error says why nothing can go on in it: the agent still lives, or has had none that claude knows.
func (r Reader) Continuation(ctx context.Context, id string) (Continuation, error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	if err != nil {
		return Continuation{}, err
	}
	s, err := State(ctx, r.Store, run)
	if err != nil {
		return Continuation{}, err
	}
	if agent == "" {
		agent = s.Run.Root
	}
	a := s.Agents.Get(agent)
	refuse := func(why string) (Continuation, error) {
		return Continuation{}, fmt.Errorf("%s cannot be continued, for %s; %w", a.ID, why, errNotContinued)
	}
	switch {
	case !a.Status.Ended():
		return refuse(fmt.Sprintf("it has not ended (%s); write to it with: claude-supervise attach %s \"MESSAGE\"", a.Status,
			a.ID))
	case s.Run.Packed != "":
		return refuse("its run was packed into " + s.Run.Packed)
	case !s.Abilities().Resumes:
		return refuse("it was a process of " + s.Abilities().Flag + ", which keeps no conversation")
	case s.Config.Demo != "":
		return refuse("it was played by the demo " + s.Config.Demo + ", and was not a conversation of claude's")
	case a.Group, !s.Begun(a.ID), a.Fresh:
		return refuse("it has had no conversation, or that is gone")
	}
	c := Continuation{Agent: a.ID, IDs: append(s.FormerIDs(a.ID), a.ID), Session: a.SessionID, Cwd: s.Folder(a.ID)}
	if info, err := os.Stat(c.Cwd); err != nil || !info.IsDir() { // a worktree that was removed
		c.Cwd = s.Run.Cwd
	}
	return c, nil
}
