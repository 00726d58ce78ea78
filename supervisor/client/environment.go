package client

import (
	"os"
	"path/filepath"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

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
