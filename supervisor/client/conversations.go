package client

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"claude-supervise/procs/claude"
)

// DropConversations removes the transcripts of a run's agents, claude's own and what we keep of them. It is for a run
// that others go on with from a snapshot that has them: when the run comes back here it has gone on, and what was left
// would be in its way. None of its agents may live here any more.
func (c Client) DropConversations(ctx context.Context, run string) error {
	s, err := c.State(ctx, run)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(KeptConversations(c.Dirs, run)); err != nil {
		return err
	}
	env := TranscriptEnv(nil, c.Dirs, s)
	for _, a := range s.Agents {
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
