package worker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"claude-supervise/supervisor/text"
)

// Repos are the mirrors of repositories that a worker keeps. git uses the worker's own credentials and asks nobody for
// any.
type Repos struct {
	Dir string

	mu    sync.Mutex
	locks map[string]*sync.Mutex
}

// errGone means that the repository has no such commit: no other worker will find it either.
var errGone = errors.New("the repository has no such commit")

// Clone puts a repository into a folder that is not there yet, at ref, which is a branch, a tag or a commit; "" is the
// branch that the repository names. If commit is not "", ref was that before, and it is that commit. It gives the
// commit.
func (r *Repos) Clone(ctx context.Context, url, ref, commit, folder string) (string, error) {
	sum := sha256.Sum256([]byte(url))
	mirror := filepath.Join(r.Dir, hex.EncodeToString(sum[:12])+".git")
	lock := r.lock(mirror)
	lock.Lock()
	defer lock.Unlock()
	known := func(what string) (string, error) {
		return runGit(ctx, mirror, "rev-parse", "--verify", "--quiet", "--end-of-options", what+"^{commit}")
	}
	_, err := os.Stat(mirror)
	if err == nil && commit != "" {
		if _, err := known(commit); err == nil { // nothing is fetched that is here
			return commit, r.checkout(ctx, mirror, url, ref, commit, folder)
		}
	}
	if err == nil {
		_, err = runGit(ctx, mirror, "fetch", "--quiet", "--prune", "--force", "origin")
	} else {
		err = r.mirror(ctx, url, mirror)
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be cloned: %w", text.VisibleLine(url), err)
	}
	want := commit
	if want == "" {
		want = ref
	}
	if want == "" {
		want = "HEAD"
	}
	found, err := known(want)
	if err != nil {
		return "", fmt.Errorf("%w: %s in %s", errGone, text.VisibleLine(want), text.VisibleLine(url))
	}
	return found, r.checkout(ctx, mirror, url, ref, found, folder)
}

func (r *Repos) mirror(ctx context.Context, url, mirror string) error {
	if err := os.MkdirAll(r.Dir, 0o700); err != nil {
		return err
	}
	half, err := os.MkdirTemp(r.Dir, ".clone-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(half) }() // it has another name if it is whole
	if _, err := runGit(ctx, r.Dir, "clone", "--quiet", "--mirror", "--", url, half); err != nil {
		return err
	}
	return os.Rename(half, mirror)
}

// checkout clones a mirror. The clone is whole: it needs the mirror for nothing.
func (r *Repos) checkout(ctx context.Context, mirror, url, ref, commit, folder string) error {
	_, err := runGit(ctx, r.Dir, "clone", "--quiet", "--no-checkout", "--", mirror, folder)
	if err != nil {
		return err
	}
	if _, err := runGit(ctx, folder, "remote", "set-url", "origin", "--", url); err != nil {
		return err
	}
	on := []string{"checkout", "--quiet", "--detach", commit}
	if _, err := runGit(ctx, mirror, "show-ref", "--verify", "--quiet", "refs/heads/"+ref); ref != "" && err == nil {
		on = []string{"checkout", "--quiet", "-B", ref, commit}
	}
	_, err = runGit(ctx, folder, on...)
	return err
}

func (r *Repos) lock(mirror string) *sync.Mutex {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.locks == nil {
		r.locks = map[string]*sync.Mutex{}
	}
	if r.locks[mirror] == nil {
		r.locks[mirror] = &sync.Mutex{}
	}
	return r.locks[mirror]
}

// runGit runs git in a folder, and gives its first line.
func runGit(ctx context.Context, folder string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=core.hooksPath", "GIT_CONFIG_VALUE_0=/dev/null")
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		if words := text.Line(strings.TrimSpace(said.String()), 500); words != "" {
			err = errors.New(words)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line, nil
}
