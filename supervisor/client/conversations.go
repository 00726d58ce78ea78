package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/view"
)

// DropConversations removes the transcripts of a run's agents, claude's own and what we keep of them. It is for a run
// that others go on with from a snapshot that has them: when the run comes back here it has gone on, and what was left
// would be in its way. None of its agents may live here any more.
func (c Client) DropConversations(ctx context.Context, run string) error {
	s, err := view.State(ctx, c.Store, run)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(KeptConversations(c.Dirs, run)); err != nil {
		return err
	}
	env := TranscriptEnv(nil, c.Dirs, s)
	for a := range s.Agents.Values() {
		for a.SessionID != "" { // until no folder has one
			transcript, err := claude.Transcript(env, a.SessionID)
			if errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err != nil {
				return err
			}
			companion, err := claude.TranscriptCompanion(transcript)
			if err != nil {
				return err
			}
			if err := errors.Join(os.RemoveAll(companion), os.Remove(transcript)); err != nil {
				return err
			}
			_ = os.Remove(filepath.Dir(transcript)) // it stays if it holds anything else
		}
	}
	return nil
}

// DemoEnv is what the agents' environment has on top of ours: in a demo the stand-in's transcripts stay out of the
// person's own.
func DemoEnv(dirs checkpoints.Dirs, s supervisor.State) []string {
	if s.Config.Demo == "" {
		return nil
	}
	return []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(dirs.RunDir(s.Run.ID), "claude")}
}

// TranscriptEnv is the environment by which the transcripts of a run's agents are found.
func TranscriptEnv(env []string, dirs checkpoints.Dirs, s supervisor.State) []string {
	if env == nil {
		env = os.Environ()
	}
	return slices.Concat(env, DemoEnv(dirs, s))
}

// Continuable says why the conversation of a run cannot be continued at the question of a fork, for people; nil if it
// can. It reads the transcript until there.
func (c Client) Continuable(s supervisor.State, f task.Fork) error {
	path, err := Transcript(nil, c.Dirs, s, f.Session)
	if err == nil {
		_, err = claude.PrefixOf(path, []string{f.Questions[0].Tool.ToolUse})
	}
	return err
}

// conversationsDir is where the conversations of a run are kept, in its folder. They go with it (prune).
const conversationsDir = "conversations"

// KeptConversations is the folder in which the conversations of a run are kept (claude.KeepConversation).
func KeptConversations(dirs checkpoints.Dirs, run string) string {
	return dirs.RunFile(run, conversationsDir)
}

// Transcript finds the transcript of a conversation of a run. One that the CLI has removed is put back first. env is as
// in TranscriptEnv, and the error as of claude.Transcript.
func Transcript(env []string, dirs checkpoints.Dirs, s supervisor.State, session string) (string, error) {
	env = TranscriptEnv(env, dirs, s)
	path, err := claude.Transcript(env, session)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := claude.LayBackConversation(env, session, KeptConversations(dirs, s.Run.ID)); err != nil {
		return "", err
	}
	if path, err = claude.Transcript(env, session); errors.Is(err, fs.ErrNotExist) {
		err = gone{}
	}
	return path, err
}

// gone says to people that nobody has a conversation any more.
type gone struct{}

func (gone) Error() string        { return "the conversation is gone" }
func (gone) Is(target error) bool { return target == fs.ErrNotExist }
