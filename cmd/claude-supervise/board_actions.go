package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/cmd/internal/serving"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// onBoard is the service of the board, on which a person starts runs where they like.
type onBoard struct {
	here
	first bool // there was no state when the board began: its first run makes it
}

// Start starts a run in the background.
func (b onBoard) Start(ctx context.Context, r service.Start) (run string, made bool, err error) {
	folder := strings.TrimSpace(r.Cwd)
	if rest, inHome := strings.CutPrefix(folder, "~"); inHome && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false, err
		}
		folder = home + rest
	}
	cwd, err := serving.WholePath(folder)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(cwd); err == nil && !info.IsDir() {
			err = errors.New("it is not a folder")
		}
	}
	switch {
	case folder == "":
		return "", false, service.Misfilled("cwd", "name the folder to work in")
	case errors.Is(err, fs.ErrNotExist):
		return "", false, service.Misfilled("cwd", "there is no folder %s", folder)
	case err != nil:
		return "", false, service.Misfilled("cwd", "no run can work in %s: %v", folder, err)
	}
	if b.first {
		c, err := openClient()
		if err != nil {
			return "", false, err
		}
		if err := c.Close(); err != nil {
			return "", false, err
		}
	}
	return startAs(ctx, r, "prompt", []string{"run", "--cwd", cwd, "--name", r.Name, "-"})
}

// Say leaves a message for an agent. What is to be done for a run that does not go on is said by keys.
func (onBoard) Say(ctx context.Context, agent, text, by string) (string, error) {
	return sayWith(ctx, agent, text, by, keyed)
}

// keyed is what is done by keys of the board.
var keyed = nextWords{func(r view.RunView) string {
	switch {
	case r.EndedAt != nil || r.Packed:
		return ""
	case len(r.OpenQuestions) > 0:
		return "a answers what it asks; r resumes the run then."
	}
	return "r resumes the run."
}, func(string) string { return "n starts a run for follow-up work" }}

// Retry tries again what has failed in a run.
func (here) Retry(ctx context.Context, run string) (string, error) {
	return onState(func(c client.Client) (string, error) {
		if _, err := c.Retryable(ctx, run); err != nil {
			return "", err
		}
		if _, err := inTheBackground(c, run, nil, nil, "resume", "--failed", run); err != nil {
			return "", err
		}
		return "The failed agents of " + run + " are retried in the background.", nil
	})
}

// Prune forgets a run that has ended.
func (here) Prune(ctx context.Context, run string) (string, error) {
	return onState(func(c client.Client) (string, error) {
		pruned, err := c.Prune(ctx, []string{run}, time.Now(), false, nil)
		if err != nil {
			return "", err
		}
		if len(pruned) == 0 {
			return "There is nothing to delete.", nil
		}
		return prunedWords(pruned[0], false), nil
	})
}

// Open shows a folder on the desktop.
func (here) Open(ctx context.Context, folder string) error {
	if !filepath.IsAbs(folder) {
		return errors.New("its folder is not known")
	}
	if err := serving.OpenOnDesktop(ctx, folder); err != nil {
		return fmt.Errorf("%s cannot be shown here: %w", folder, err)
	}
	return nil
}
