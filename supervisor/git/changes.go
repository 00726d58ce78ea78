package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claude-supervise/supervisor/text"
)

// How much is asked of git and told of what it says. A repository belongs to whoever wrote it: it may be as large or as
// slow as they like.
const (
	SurveyGitTime     = 5 * time.Second
	maxGitOutput      = 64 << 10  // bytes read of one command
	maxGitIndex       = 256 << 20 // bytes of an index that is looked at
	maxGitChanges     = 60
	maxGitCommits     = 20
	gitReadsNoMore    = "2m" // the lines of a larger file are not counted
	scratchForSurveys = "claude-supervise-survey-"
)

// ChangedInGit tells what has changed in a folder that git keeps: what is not committed there, and the commits since a
// time. "" if that is nothing, the folder is in no work tree, or there is no git. It takes at most SurveyGitTime, and
// runs nothing that the repository names (shadow.go).
func ChangedInGit(ctx context.Context, folder string, since time.Time) (string, error) {
	if _, err := exec.LookPath("git"); err != nil || !HasGitAbove(folder) {
		return "", nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, SurveyGitTime, fmt.Errorf("it took longer than %v", SurveyGitTime))
	defer cancel()
	s, drop, err := TempShadow(ctx, folder, scratchForSurveys)
	if errors.Is(err, ErrNoWorkTree) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer drop()
	return s.changes(ctx, since)
}

// changes is ChangedInGit in a shadow.
func (s *Shadow) changes(ctx context.Context, since time.Time) (string, error) {
	head, err := s.TakeOver(ctx)
	if err != nil {
		return "", err
	}
	against := s.emptyTree()
	if head != "" {
		against = head
	}
	here := []string{"--", ":(top,literal)" + s.Prefix}
	if s.Prefix == "" {
		here = []string{"--", ":/"}
	}
	status, err := s.Uncommitted(ctx, here...)
	if err != nil {
		return "", err
	}
	counts, err := s.some(ctx,
		append([]string{"diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
			"--ignore-submodules=all", against}, here...)...)
	if err != nil {
		return "", err
	}
	var commits []string
	if head != "" && !since.IsZero() {
		if commits, err = s.some(ctx, "log", "-z", "--format=%h %s", "--no-show-signature", "--no-decorate", "--no-color",
			"--max-count="+strconv.Itoa(maxGitCommits+1), "--since="+since.UTC().Format(time.RFC3339), head); err != nil {
			return "", err
		}
	}
	for i := range commits {
		commits[i] = text.PlainLine(commits[i])
	}
	var b strings.Builder
	text.TellList(&b, "Not committed, by you or others, as git shows it:", s.changesOf(status, counts), maxGitChanges)
	text.TellList(&b, "Commits made here since you began, the last first:", commits, maxGitCommits)
	return b.String(), nil
}

// TakeOver gives the shadow the HEAD and the index of the repository, so that it can tell what has changed, and gives
// the commit; "" if there is none yet.
func (s *Shadow) TakeOver(ctx context.Context) (head string, err error) {
	if head, _, err = s.Head(ctx); err != nil {
		return "", err
	}
	if err := s.fits(); err != nil {
		return "", err
	}
	if err := s.CopyIndex("index"); err != nil {
		return "", err
	}
	if head != "" {
		_, err = s.In(ctx, "none", nil, "update-ref", "--no-deref", "HEAD", head)
	}
	return head, err
}

// Uncommitted returns what is not committed, as entries of `git status --porcelain=v1 -z`. Submodules are not looked
// into.
func (s *Shadow) Uncommitted(ctx context.Context, where ...string) ([]string, error) {
	return s.some(ctx,
		append([]string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal",
			"--ignore-submodules=all"}, where...)...)
}

// fits refuses an index that copyIndex would wait for, or that fills the memory.
func (s *Shadow) fits() error {
	files, err := filepath.Glob(filepath.Join(s.Git, "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(s.Git, "index")) {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() > maxGitIndex:
			return fmt.Errorf("%s is not an index of git, or too large to look at", file)
		}
	}
	return nil
}

// some runs git in the shadow and gives the first of what it prints, as texts that each end in a NUL.
func (s *Shadow) some(ctx context.Context, args ...string) ([]string, error) {
	env := append(s.Env("index"), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bigFileThreshold",
		"GIT_CONFIG_VALUE_0="+gitReadsNoMore)
	out, _, err := s.bounded(ctx, env, maxGitOutput, args...)
	if err != nil {
		return nil, err
	}
	texts := strings.Split(string(out), "\x00")
	return texts[:len(texts)-1], nil
}

// changesOf says in words what `git status --porcelain=v1 -z` and `git diff --numstat -z` have printed, with the paths
// as they are in the folder that was asked for.
func (s *Shadow) changesOf(status, counts []string) []string {
	lines := map[string]string{}
	for _, count := range counts { // ADDED<tab>DELETED<tab>PATH; - for what is no text
		if f := strings.SplitN(count, "\t", 3); len(f) == 3 && f[0] != "-" {
			lines[f[2]] = text.PlainLine(fmt.Sprintf(" (+%s -%s lines)", f[0], f[1]))
		}
	}
	var changes []string
	for _, entry := range status { // XY, a space, PATH
		if len(entry) < 4 {
			continue
		}
		path := entry[3:]
		changes = append(changes,
			changeWord(entry[:2])+": "+text.PlainLine(strings.TrimPrefix(path, s.Prefix+"/"))+lines[path])
	}
	return changes
}

// changeWord names a state of git-status(1), "Short Format".
func changeWord(xy string) string {
	switch {
	case xy == "??":
		return "new, unknown to git"
	case strings.Contains(xy, "U") || xy == "AA" || xy == "DD":
		return "in conflict"
	case strings.Contains(xy, "D"):
		return "deleted"
	case strings.Contains(xy, "A"):
		return "added"
	}
	return "changed"
}
