package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// What is in a repository was written by whoever wrote it, its .git/config included: filters, hooks, fsmonitor,
// textconv, external diffs, credential helpers, pagers and transports are programs that git would run for it. None of
// them may run because a person packs or unpacks a run. So git works in a shadow: a git folder of our own, with its own
// empty configuration, that borrows the repository's objects and looks at its work tree. Built-in conversions are off,
// too: a file is packed as it is on disk, byte for byte. The repository's own git folder is only read in ways that run
// nothing, and written (pack/unpack_git.go) by the two commands that add objects and move HEAD.

// A Shadow is such a git folder.
type Shadow struct {
	Dir     string   // the shadow itself
	Top     string   // the work tree
	Git     string   // the repository's own git folder: its index and HEAD
	Common  string   // and the one with the objects and refs; another in a linked work tree
	Prefix  string   // the folder that was asked for, relative to top; ""
	Format  string   // of object names
	Brought []string // commits that come along otherwise: a bundle lacks them
	Muted   []string // what switches the hooks off that the repository's configuration names, as an environment
}

// ErrNoWorkTree means that a folder is in no git work tree.
var ErrNoWorkTree = errors.New("in no git work tree")

// safely are settings that stand over those of any repository.
var safely = []string{
	"-c", "safe.directory=*", // nothing of it runs, whoever owns it
	"-c", "core.fsmonitor=false", "-c", "core.untrackedCache=false", "-c", "core.hooksPath=/dev/null",
	"-c", "core.pager=cat", "-c", "credential.helper=", "-c", "protocol.allow=never", "-c", "gc.auto=0",
	// whatever their names, from 2.55 on; see mute
	"-c", "hook.reference-transaction.enabled=false", "-c", "hook.post-checkout.enabled=false",
	"-c", "maintenance.auto=false", "-c", "advice.addEmbeddedRepo=false", "-c", "core.quotePath=false",
}

// safeEnv is the environment of every git that we start. Nothing of the person's reaches it but PATH.
func safeEnv(home string) []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_ALLOW_PROTOCOL=none",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_PAGER=cat",
		"GIT_AUTHOR_NAME=claude-supervise", "GIT_AUTHOR_EMAIL=claude-supervise@localhost",
		"GIT_COMMITTER_NAME=claude-supervise", "GIT_COMMITTER_EMAIL=claude-supervise@localhost",
	}
}

// rawAttributes switch off all that would change a file's bytes on their way; they stand over those of the work tree.
const rawAttributes = "* -text !eol -ident !filter !working-tree-encoding !diff !merge\n"

// OpenShadow makes a shadow of the repository whose work tree a folder is in, below scratch, an existing folder of
// ours. ErrNoWorkTree if there is none.
func OpenShadow(ctx context.Context, folder, scratch string) (*Shadow, error) {
	s, err := findShadow(ctx, folder, scratch)
	if err != nil {
		return s, err
	}
	s.Dir = filepath.Join(scratch, "shadow.git")
	return s, s.build(ctx, scratch)
}

// TempShadow is OpenShadow in a temporary folder whose name begins with name; drop removes it.
func TempShadow(ctx context.Context, folder, name string) (s *Shadow, drop func(), err error) {
	scratch, err := os.MkdirTemp("", name)
	if err != nil {
		return nil, nil, err
	}
	drop = func() { _ = os.RemoveAll(scratch) } // nobody knows of it
	if s, err = OpenShadow(ctx, folder, scratch); err != nil {
		drop()
	}
	return s, drop, err
}

// findShadow finds the repository whose work tree a folder is in, for a shadow that is yet to be made. home is a folder
// that holds no configuration.
func findShadow(ctx context.Context, folder, home string) (*Shadow, error) {
	s := new(Shadow)
	top := TopAbove(folder)
	if top == "" {
		return nil, ErrNoWorkTree
	}
	// What is above is not looked at: it may be anybody's.
	out, err := RunGit(ctx, folder, home, []string{"GIT_CEILING_DIRECTORIES=" + filepath.Dir(top)}, nil,
		"rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--show-toplevel", "--absolute-git-dir",
		"--git-common-dir", "--show-object-format", "--show-prefix")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(out), "\n")
	if len(lines) < 6 || lines[0] != "true" {
		return nil, ErrNoWorkTree
	}
	s.Top, s.Git, s.Common, s.Format, s.Prefix = lines[1], lines[2], lines[3], lines[4],
		strings.TrimSuffix(lines[5], "/")
	if _, err := os.Lstat(filepath.Join(s.Top, ".git")); err != nil {
		return nil, ErrNoWorkTree // its configuration calls another folder its work tree
	}
	return s, s.mute(ctx, home)
}

// mute looks for hooks that the configuration names (hook.NAME.command, from git 2.54 on), among which are always those
// of safely: a core.hooksPath does not switch these off, but each can be by its name.
func (s *Shadow) mute(ctx context.Context, home string) error {
	env := []string{"GIT_DIR=" + s.Git, "GIT_WORK_TREE=" + s.Top}
	out, err := RunGit(ctx, s.Top, home, env, nil, "config", "--null", "--name-only", "--get-regexp", `^hook\.`)
	if err != nil {
		return err
	}
	var names []string
	for key := range strings.SplitSeq(string(out), "\x00") {
		name := strings.TrimPrefix(key, "hook.")
		if end := strings.LastIndexByte(name, '.'); end > 0 && !slices.Contains(names, name[:end]) {
			names = append(names, name[:end])
		}
		if len(names) > maxHooks {
			return fmt.Errorf("the configuration of %s names more than %d hooks", s.Top, maxHooks)
		}
	}
	s.Muted = []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(names))}
	for i, name := range names {
		s.Muted = append(s.Muted, fmt.Sprintf("GIT_CONFIG_KEY_%d=hook.%s.enabled", i, name),
			fmt.Sprintf("GIT_CONFIG_VALUE_%d=false", i))
	}
	return nil
}

// maxHooks bounds how many hooks a configuration may name.
const maxHooks = 200

// HasGitAbove reports whether a folder is in the work tree of a repository, as TopAbove finds it.
func HasGitAbove(folder string) bool { return TopAbove(folder) != "" }

// TopAbove returns the folder, or the nearest of those that it is in, that has a .git, "" if none has. Links to the
// folder are followed, as git does. Anybody can put a .git into /tmp: one that is empty is none, and one above the
// folder must be of this user, of root, or of whoever owns the folder.
func TopAbove(folder string) string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	owners := []int{0, os.Geteuid(), ownerOf(folder)}
	for dir := folder; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		if owner := ownerOf(dotGit); owner >= 0 && (dir == folder || slices.Contains(owners, owner)) {
			if entries, err := os.ReadDir(dotGit); err != nil || len(entries) > 0 { // a file names the folder that it is
				return dir
			}
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// ownerOf returns the user whom a path belongs to, -1 if it is not there.
func ownerOf(path string) int {
	info, err := os.Lstat(path)
	if err != nil {
		return -1
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}

// build makes the shadow, or has one that is there look at this repository.
func (s *Shadow) build(ctx context.Context, scratch string) error {
	if _, err := RunGit(ctx, scratch, scratch, nil, nil,
		"init", "--quiet", "--bare", "--template=", "--object-format="+s.Format, s.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "info"), 0o700); err != nil {
		return err
	}
	write := func(name, text string) error {
		file := filepath.Join(s.Dir, filepath.FromSlash(name))
		if now, err := os.ReadFile(file); err == nil && string(now) == text {
			return nil // some git may be reading it
		}
		return os.WriteFile(file, []byte(text), 0o600)
	}
	if err := write("info/attributes", rawAttributes); err != nil || s.Common == "" {
		return err
	}
	persons, err := personsIgnores(ctx, s.Top)
	ignored, shallow := Settings(filepath.Join(s.Common, "info", "exclude")),
		Settings(filepath.Join(s.Common, "shallow"))
	objects := filepath.Join(s.Common, "objects") + "\n"
	before := Settings(filepath.Join(s.Dir, "objects", "info", "alternates"))
	if strings.Contains("\n"+before, "\n"+objects) {
		objects = ""
	}
	err = errors.Join(
		err,
		write("objects/info/alternates", before+objects),
		write("info/exclude", persons+"\n"+ignored), // the last one that fits counts
	)
	if shallow != "" {
		err = errors.Join(err, write("shallow", shallow))
	}
	return err
}

// Settings returns a small file of the repository's or the person's, "" if there is none that can be read.
func Settings(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // whatever the configuration names must not hold us
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(f, 1<<20))
	return string(text)
}

// personsIgnores returns what the person's own configuration lets every repository ignore: secrets, as often as not.
func personsIgnores(ctx context.Context, top string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", top, "config", "--type=path", "--get", "core.excludesFile")
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	endWithGroup(cmd)
	out, err := cmd.Output() // unset is an error, too, and a configuration that cannot be read names none
	if GitWasKilled(err) {
		return "", GitFailed(ctx, []string{"config"}, new(bytes.Buffer), err)
	}
	file := strings.TrimSuffix(string(out), "\n")
	if file == "" {
		config := os.Getenv("XDG_CONFIG_HOME")
		if config == "" {
			config = filepath.Join(os.Getenv("HOME"), ".config")
		}
		file = filepath.Join(config, "git", "ignore")
	}
	return Settings(file), nil
}

// In runs git in the shadow, with an index of its own by that name, and gives its output.
func (s *Shadow) In(ctx context.Context, index string, stdin io.Reader, args ...string) ([]byte, error) {
	return RunGit(ctx, s.Top, filepath.Dir(s.Dir), s.Env(index), stdin, args...)
}

// Env is what tells git to work in the shadow.
func (s *Shadow) Env(index string) []string {
	return []string{"GIT_DIR=" + s.Dir, "GIT_WORK_TREE=" + s.Top, "GIT_INDEX_FILE=" + filepath.Join(s.Dir, index)}
}

// bounded runs git in the shadow and gives what it prints, of more than limit bytes the first: it is ended then.
func (s *Shadow) bounded(ctx context.Context, env []string, limit int64, args ...string) (out []byte, more bool,
	err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd, stderr := GitCommand(ctx, s.Top, filepath.Dir(s.Dir), env, args...)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, false, err
	}
	if err := cmd.Start(); err != nil {
		return nil, false, GitFailed(ctx, args, stderr, err)
	}
	out, err = io.ReadAll(io.LimitReader(pipe, limit+1))
	if more = int64(len(out)) > limit; more {
		cancel() // it may go on for ever
	}
	if err = errors.Join(err, cmd.Wait()); err != nil && !more {
		return nil, false, GitFailed(ctx, args, stderr, err)
	}
	return out, more, nil
}

// Own runs git in the repository itself: only commands that run nothing, or with what they could run switched off.
func (s *Shadow) Own(ctx context.Context, args ...string) ([]byte, error) {
	env := append([]string{"GIT_DIR=" + s.Git, "GIT_WORK_TREE=" + s.Top}, s.Muted...)
	return RunGit(ctx, s.Top, filepath.Dir(s.Dir), env, nil, args...)
}

// A GitError is what git said when it failed.
type GitError struct {
	args   []string
	stderr string
	err    error
}

func (e *GitError) Error() string {
	said := strings.TrimSpace(e.stderr)
	if said == "" {
		said = e.err.Error()
	}
	return fmt.Sprintf("git %s: %s", e.args[0], said)
}

func (e *GitError) Unwrap() error { return e.err }

// RunGit runs one git command and gives its output. home is a folder that holds no configuration.
func RunGit(ctx context.Context, dir, home string, env []string, stdin io.Reader, args ...string) ([]byte, error) {
	cmd, stderr := GitCommand(ctx, dir, home, env, args...)
	cmd.Stdin = stdin
	out, err := cmd.Output()
	if err != nil {
		return nil, GitFailed(ctx, args, stderr, err)
	}
	return out, nil
}

// GitCommand prepares a command of git that runs no program of a repository. What it writes to stderr is kept.
func GitCommand(ctx context.Context, dir, home string, env []string, args ...string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, safely...), args...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(safeEnv(home), env...), &stderr
	endWithGroup(cmd)
	return cmd, &stderr
}

// gitsPatience is how long after the end of git what it has started may keep its output open.
const gitsPatience = time.Second

// endWithGroup lets the end of its context end a command with all that it has started. A ctrl-C at the terminal is for
// us.
func endWithGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	cmd.WaitDelay = gitsPatience
}

// GitFailed says why a command of git has failed, in words.
func GitFailed(ctx context.Context, args []string, stderr *bytes.Buffer, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New(
			"the folder is a git work tree, and there is no git in $PATH: install it, or leave the work out with --without-work")
	}
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", args[0], context.Cause(ctx))
	}
	const most = 4 << 10
	said := stderr.Bytes()
	return &GitError{args: args, stderr: string(said[max(0, len(said)-most):]), err: err}
}

// GitSaysNo reports whether git failed only to say that what it was asked for is not there, or not so.
func GitSaysNo(err error) bool {
	var failed *exec.ExitError
	return errors.As(err, &failed) && failed.ExitCode() == 1
}

// GitWasKilled reports whether git failed for a signal that it was sent, by the kernel that ran out of memory, say.
func GitWasKilled(err error) bool {
	var failed *exec.ExitError
	return errors.As(err, &failed) && failed.ExitCode() < 0
}

// GitsWord returns what git has printed, "" if it said no.
func GitsWord(out []byte, err error) (string, error) {
	if GitSaysNo(err) {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// Head returns the commit that is checked out, "" if there is none yet, and its branch, "" if HEAD is detached.
func (s *Shadow) Head(ctx context.Context) (commit, branch string, err error) {
	if branch, err = GitsWord(s.Own(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")); err != nil {
		return "", "", err
	}
	commit, err = GitsWord(s.Own(ctx, "rev-parse", "--quiet", "--verify", "HEAD"))
	return commit, branch, err
}

// CopyIndex gives the shadow the repository's index, with what it knows of the files: so an unchanged file is not read
// again, and one that a filter had made stays as it is in the index. Its time must stay, for git tells by it which
// entries it cannot trust.
func (s *Shadow) CopyIndex(index string) error {
	split, err := filepath.Glob(filepath.Join(s.Git, "sharedindex.*"))
	if err != nil {
		return err
	}
	for _, from := range append(split, filepath.Join(s.Git, "index")) {
		to := filepath.Join(s.Dir, filepath.Base(from))
		if filepath.Base(from) == "index" {
			to = filepath.Join(s.Dir, index)
		}
		info, err := os.Stat(from)
		if errors.Is(err, os.ErrNotExist) {
			continue // nothing was ever added
		}
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", from)
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
		if err == nil {
			err = os.Chtimes(to, info.ModTime(), info.ModTime())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A TreeEntry is a file of a tree, as git names it: its mode and what is in it. The zero value is none.
type TreeEntry struct{ Mode, Object string }

// The modes of files that are told apart.
const (
	ModeLink      = "120000"
	ModeSubmodule = "160000"
	ModeExec      = "100755"
)

// Differences returns what of a tree differs from another one, as it is in the second; "" is the empty tree. A tree
// that was made to have no end is cut off.
func (s *Shadow) Differences(ctx context.Context, from, to string) (map[string]TreeEntry, error) {
	if from == "" {
		from = s.emptyTree()
	}
	args := []string{"diff-tree", "-r", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
		from, to}
	out, more, err := s.bounded(ctx, s.Env("none"), MaxEntries*300, args...)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, fmt.Errorf("more than %d files have changed", MaxEntries)
	}
	fields := strings.Split(string(out), "\x00") // :OLDMODE NEWMODE OLD NEW STATUS, then the path
	changed := map[string]TreeEntry{}
	for i := 0; i+1 < len(fields); i += 2 {
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff-tree printed %.60q", fields[i])
		}
		e := TreeEntry{Mode: f[1], Object: f[3]}
		if f[4] == "D" {
			e = TreeEntry{}
		}
		changed[fields[i+1]] = e
	}
	return changed, nil
}

// emptyTree is the name of the tree without files.
func (s *Shadow) emptyTree() string {
	if s.Format == "sha256" {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}
