package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"claude-supervise/cmd/internal/programs"
	"claude-supervise/supervisor/text"
)

// AnswerName is the name under which this program lists what is asked and takes an answer.
const AnswerName = "claude-answer"

// answerLink returns what is to be done to ~/.local/bin/claude-answer, where the XDG base directory specification has a
// person's own programs. The link is a convenience: what is in its way is said, and keeps nothing else from being done.
func answerLink(undo bool) change {
	c := change{shown: AnswerName}
	home, err := homeFolder()
	if err != nil {
		c.said = "is not linked: " + err.Error()
		return c
	}
	path := filepath.Join(home, ".local", "bin", AnswerName)
	c.shown = underHome(path, home)
	target, standing := linked(path)
	if undo {
		switch standing {
		case linkMissing:
			c.said = "is not there"
		case linkForeign:
			c.said = "is not init's and stays"
		default:
			c.verb, c.do = removes, func() error { return os.Remove(path) }
		}
		return c
	}
	self, err := lastingPath()
	if err != nil {
		c.said = "is not linked: " + err.Error()
		return c
	}
	switch {
	case standing == linkForeign:
		c.said = "is not init's and stays; `claude-supervise answer` does the same"
		return c
	case target == self:
		c.said = "is up to date"
		return c
	}
	c.verb, c.said = links, " to "+self
	if !slices.Contains(filepath.SplitList(os.Getenv("PATH")), filepath.Dir(path)) {
		c.note = "its folder is not on your PATH"
	}
	c.ask, c.need = "Link "+c.shown+" to this program?", standing == linkOurs
	if standing == linkOurs {
		c.lines = c.shown + " is a link to " + target + "."
	}
	c.do = func() error { return link(self, path) }
	return c
}

// What stands where the link is to be.
const (
	linkMissing = iota
	linkOurs    // to this program, or one of its name
	linkForeign
)

func linked(path string) (target string, standing int) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return "", linkMissing
	}
	target, err := os.Readlink(path)
	if err != nil {
		return "", linkForeign
	}
	if self, err := programs.Own(); filepath.Base(target) == "claude-supervise" || err == nil && target == self {
		return target, linkOurs
	}
	return target, linkForeign
}

// goRun is where `go run` builds a program, which it removes at its end.
var goRun = text.Lazily(`/go-build\d+/`)

// lastingPath is the path by which this program will be found tomorrow: as PATH has it rather than where a package
// manager keeps this release.
func lastingPath() (string, error) {
	self, err := programs.Own()
	if err != nil {
		return "", err
	}
	if goRun().MatchString(self) {
		return "", errors.New("this program is gone once it ends (go run): install it, then run init again")
	}
	if found, err := exec.LookPath("claude-supervise"); err == nil && filepath.IsAbs(found) && sameFile(found, self) {
		return found, nil
	}
	return self, nil
}

// link makes a symlink, in place of one that is there, in one step.
func link(target, path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if _, standing := linked(path); standing == linkForeign {
		return fmt.Errorf("something else is there now: %w", fs.ErrExist)
	}
	own, err := os.MkdirTemp(dir, ".claude-answer.*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(own) }() // empty again
	made := filepath.Join(own, AnswerName)
	if err := os.Symlink(target, made); err != nil {
		return err
	}
	if err := os.Rename(made, path); err != nil {
		return errors.Join(err, os.Remove(made))
	}
	return nil
}
