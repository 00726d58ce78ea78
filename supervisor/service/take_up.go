package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/task"
)

// takeUp makes a run of a session that has ended while it asked: its conversation goes on in place once the questions,
// which keep their ids, have their answers and the run is resumed, as one that was parked there. Who is second finds it
// made. The error says why it cannot be.
func takeUp(ctx context.Context, c client.Client, of *sessions.Ask) error {
	opening, err := of.Opening()
	if err != nil {
		return err
	}
	none := supervisor.State{Records: records.Records{Run: &supervisor.Run{}}}
	at, err := client.Transcript(nil, c.Dirs, none, of.Session)
	switch {
	case err != nil:
		return err
	case filepath.Base(filepath.Dir(at)) != filepath.Base(filepath.Dir(of.Transcript)):
		return fmt.Errorf("the conversation lies in %s, not here", of.Transcript)
	case c.Fresh == nil:
		return errors.New("no run is begun here")
	}
	t, look, err := c.Fresh(opening.Prompt, opening.Folder, of.Cwd)
	if err != nil {
		return err
	}
	asked, err := supervisor.ParseAsk(of.Request(), look)
	if err != nil {
		return err
	}
	if len(asked.Questions) != len(of.Questions) {
		return errors.New("it asks something else than it did")
	}
	call := checkpoints.ToolCall{ToolUse: of.Call, Name: of.Tool, Input: of.Input, Line: of.Line, Cwd: asked.Call.Cwd}
	if of.Agent != "" {
		call.From = &checkpoints.Subagent{ID: of.Agent, Type: of.AgentType}
	}
	session := task.Session{ID: of.Session, Version: of.Version}
	for i, one := range asked.Questions {
		q := ask.Question(asked.Kind, one)
		q.ID, q.Rule, q.Tool, q.Fingerprint = of.Questions[i].ID, asked.Rule, &call, ask.FingerprintOf(call)
		session.Questions = append(session.Questions, *q)
	}
	begins := supervisor.Happened{At: checkpoints.Now(), Event: supervisor.Created{
		Run: checkpoints.NewID(checkpoints.RunPrefix, rand.Reader), Cwd: t.Cwd, Task: t.Prompt, Config: t.Config,
		Agent: checkpoints.NewID(checkpoints.AgentPrefix, rand.Reader), TakesUp: &session}}
	s, err := supervisor.Step(supervisor.State{}, begins)
	if err != nil {
		return err
	}
	change := records.Changes(records.Records{}, s.Records)
	if change.Event, err = begins.Record(s.Run.ID, 1); err != nil {
		return err
	}
	supervisor.At(c.At, supervisor.BeforeSave+change.Event.Type)
	if err := c.Store.Commit(ctx, change); err != nil && !errors.Is(err, checkpoints.ErrDuplicateID) {
		return err
	}
	supervisor.At(c.At, supervisor.AfterSave+change.Event.Type)
	_ = sessions.Dismiss(c.Dirs, of) // else lists leave it out, for a run has its questions
	return nil
}
