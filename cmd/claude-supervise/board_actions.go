package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
)

// boardActions is what the board does for a person: what the commands do, by the same functions as the page.
type boardActions struct{ pageActions }

// Answer leaves an answer in the inbox. Whether a command runs is answered here, too: this is a terminal.
func (boardActions) Answer(ctx context.Context, id string, r terminal.Reply) (string, error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was left is on disk
	run, also, err := reply(ctx, c, id, r, answerFlags{}, who("board"))
	if err != nil {
		return "", err
	}
	if also == "" {
		also = id + " is answered."
	}
	if run != "" && !c.Supervised(run) {
		also += " Nobody supervises " + run + ": r goes on with it."
	}
	return also, nil
}

// Say leaves a message for an agent.
func (a boardActions) Say(ctx context.Context, id, text string) (string, error) {
	return a.pageActions.Say(ctx, id, text, who("board"))
}

// Retry tries again what has failed in a run.
func (boardActions) Retry(ctx context.Context, run string) (string, error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // nothing was written
	if _, err := c.Retryable(ctx, run); err != nil {
		return "", err
	}
	if _, err := inTheBackground(c, run, nil, nil, "resume", "--failed", run); err != nil {
		return "", err
	}
	return "What has failed in " + run + " is tried again in the background.", nil
}

// Prune forgets a run that has ended.
func (boardActions) Prune(ctx context.Context, run string) (string, error) {
	c, err := openClient()
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }() // what was written is on disk
	pruned, err := c.Prune(ctx, []string{run}, time.Now(), false)
	if err != nil {
		return "", err
	}
	if len(pruned) == 0 {
		return "There is nothing to forget.", nil
	}
	return prunedWords(pruned[0], false), nil
}

// Open shows a folder on the desktop.
func (boardActions) Open(ctx context.Context, folder string) error {
	if !filepath.IsAbs(folder) {
		return errors.New("the folder of it is not known")
	}
	if err := openOnDesktop(ctx, folder); err != nil {
		return fmt.Errorf("%s cannot be shown here: %w", folder, err)
	}
	return nil
}

// gitPatience bounds what a merge or the removal of a worktree may take.
const gitPatience = 5 * time.Minute

// Git runs the commands as the person who has confirmed them would, but without hooks and a file system monitor of the
// repository's: those may be an agent's.
func (boardActions) Git(ctx context.Context, commands []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), gitPatience) // one that has begun is ended by itself
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", strings.Join(commands, "\n"))
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "GIT_MERGE_AUTOEDIT=no",
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null",
		"GIT_CONFIG_KEY_1=core.fsmonitor", "GIT_CONFIG_VALUE_1=false")
	out, err := cmd.CombinedOutput()
	said := terminal.CleanLine(string(out), 400)
	if err != nil {
		return "", fmt.Errorf("git failed (%w), and nothing more was run: %s", err, said)
	}
	return "Done. " + said, nil
}
