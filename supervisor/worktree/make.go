package worktree

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
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// A worktree stands beside the work tree that it was made from, in a folder that is only for this user's eyes:
//
//	src/project                             where the run was started
//	src/.project-worktrees/a-7Qm2xK9fWb4T   a child, and, beside it, the children of that child
//
// So it is in no work tree (nothing there sees its files as its own), most likely on the same disk, finds the same
// settings and CLAUDE.md above it as the project does, and outlives the run's own folder, which is forgotten with the
// run.
//
// git makes the worktree without its files. These come from a shadow (git/shadow.go), for they would pass the filters
// that the repository's configuration names, which are programs: they are as they are committed, byte for byte. No hook
// runs either.

// How long git is given to make a worktree, and to look through one: it writes or reads every file.
const (
	MakeTime = 10 * time.Minute
	TidyTime = 2 * time.Minute
	lockTime = 30 * time.Second // and how long it waits for others of ours

	lockInterval = 10 * time.Millisecond
)

const scratchForWorktrees = "claude-supervise-worktree-"

// MarkerName marks what is started to make or remove the worktree of an agent, in the place of a launch's number:
// should the supervisor be killed, git goes on.
const MarkerName = -1

// Persistently does what is done with git's help and can be done anew, again where git failed: it was killed, or
// another git was at work in the same repository, which the agents' are all the time.
func Persistently(ctx context.Context, do func() error) error {
	err := do()
	for _, pause := range []time.Duration{100 * time.Millisecond, time.Second} {
		if failed := (*git.GitError)(nil); !errors.As(err, &failed) {
			break
		}
		select {
		case <-time.After(pause):
			err = do()
		case <-ctx.Done():
			return err
		}
	}
	return err
}

// A Spec says of what and where the worktree of an agent is made.
type Spec struct {
	Agent  string
	Want   checkpoints.Worktree  // with a Path: it was made before
	Above  *checkpoints.Worktree // another one of the run in which that folder lies; nil if it lies in none
	Marker procs.Marker

	// Moments holds the files of Want.Moment, which the worktree gets in place of those of the commit: nil where it has
	// none. What an earlier try has left of it is not looked at: nobody has worked in it.
	Moments *git.Store
}

// Make makes the worktree, and gives the folder in it that corresponds to the one it is made from. What an earlier try
// has left half made is made anew. The error is for people.
func (p Spec) Make(ctx context.Context) (checkpoints.Worktree, string, error) {
	none := func(err error) (checkpoints.Worktree, string, error) { return p.Want, "", err }
	if _, err := exec.LookPath("git"); err != nil {
		return none(errors.New("there is no git in $PATH"))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, MakeTime, fmt.Errorf("it took longer than %v", MakeTime))
	defer cancel()
	if plain, err := p.plain(ctx); err != nil {
		return none(err)
	} else if plain {
		w, err := p.copy(ctx)
		return w, w.Path, err
	}
	s, drop, err := git.TempShadow(ctx, p.Want.From, scratchForWorktrees)
	if errors.Is(err, git.ErrNoWorkTree) {
		return none(fmt.Errorf("%s is in no git work tree", p.Want.From))
	} else if err != nil {
		return none(err)
	}
	defer drop()
	g := repo{Shadow: s, marker: p.Marker}
	if p.Want.Path != "" {
		w, err := g.again(ctx, p.Want)
		if err != nil {
			return none(err)
		}
		cwd, err := below(w.Path, s.Prefix)
		return w, cwd, err
	}
	w, err := p.anew(ctx, g)
	cwd := ""
	if err == nil {
		if cwd, err = below(w.Path, s.Prefix); err != nil {
			err = fmt.Errorf("the worktree has no folder %s: %w", s.Prefix, err)
		}
	}
	if err != nil && w.State == checkpoints.WorktreeMade {
		undo, cancel := context.WithTimeout(context.WithoutCancel(ctx), TidyTime)
		defer cancel()
		err = errors.Join(err, g.clear(undo, w))
	}
	return w, cwd, err
}

// below returns a folder by its path in another, and makes it where git has none; never outside, whatever links a
// commit holds.
func below(dir, path string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // only read
	if path != "" {
		if err := root.MkdirAll(path, 0o755); err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, path), nil
}

// anew makes a worktree at the commit that is checked out where it is made from. Once it is called made there may be
// something of it.
func (p Spec) anew(ctx context.Context, g repo) (checkpoints.Worktree, error) {
	w := checkpoints.Worktree{Branch: p.Want.Branch, From: p.Want.From, Repo: g.Top, Moment: p.Want.Moment}
	var err error
	if p.Moments != nil {
		var m git.Moment
		m, err = p.Moments.Moment(ctx, w.Moment.ID)
		w.Base = m.Head
	} else {
		w.Base, _, err = g.Head(ctx)
	}
	if err != nil {
		return w, err
	}
	if w.Base == "" {
		return w, fmt.Errorf("nothing is committed yet in %s", g.Top)
	}
	folder, err := repoOf(g.Top)
	if p.Above != nil {
		folder, err = filepath.Dir(p.Above.Path), nil
		w.Repo = p.Above.Repo
	}
	if err != nil {
		return w, err
	}
	w.Path = filepath.Join(folder, p.Agent)
	if err := g.clear(ctx, w); err != nil {
		return w, err
	}
	if p.Moments != nil {
		w.State = checkpoints.WorktreeMade
		return w, g.addMoment(ctx, w, p.Moments)
	}
	w.Lacks = g.lacks(ctx)
	w.State = checkpoints.WorktreeMade
	return w, g.add(ctx, w.Path, w.Base, "-b", w.Branch, w.Path, w.Base)
}

// addMoment adds a worktree with the files of a moment. Its index is that of the commit, so that what was not committed
// then is not committed in it.
func (g repo) addMoment(ctx context.Context, w checkpoints.Worktree, from *git.Store) error {
	if err := g.register(ctx, w.Path, "-b", w.Branch, w.Path, w.Base); err != nil {
		return err
	}
	n, err := g.open(ctx, w.Path)
	if err != nil {
		return err
	}
	if err := from.Fill(ctx, w.Moment.ID, w.Path); err != nil {
		return err
	}
	env := append(g.marked(), "GIT_DIR="+n.Dir, "GIT_WORK_TREE="+n.Top, "GIT_INDEX_FILE="+filepath.Join(n.Git, "index"))
	_, err = git.RunGit(ctx, n.Top, filepath.Dir(n.Dir), env, nil, "read-tree", w.Base)
	return err
}

// repoOf returns the folder of the worktrees of a work tree.
func repoOf(top string) (string, error) {
	parent, name := filepath.Split(top)
	if name == "" {
		return "", fmt.Errorf("there is no place beside %s", top)
	}
	return filepath.Join(parent, "."+name+"-worktrees"), nil
}

// makePlace makes the folder of a worktree. The one that it is in goes with its last worktree, at this very moment
// perhaps.
func makePlace(path string) error {
	for tries := 0; ; tries++ {
		err := openRepo(filepath.Dir(path))
		if err == nil {
			err = os.Mkdir(path, 0o700)
		}
		if !errors.Is(err, fs.ErrNotExist) || tries > 10 {
			return err
		}
	}
}

// openRepo makes the folder of worktrees, if it is not there. Should it lie in another repository, git takes no note of
// it.
func openRepo(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || !ok || int(stat.Uid) != os.Geteuid() {
		return fmt.Errorf("%s is not a folder of yours", folder)
	}
	if !git.HasGitAbove(filepath.Dir(folder)) {
		return nil
	}
	ignore, err := os.OpenFile(filepath.Join(folder, ".gitignore"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	} else if err != nil {
		return err
	}
	_, err = ignore.WriteString("*\n")
	return errors.Join(err, ignore.Close())
}

// A repo is a repository to which worktrees are added.
type repo struct {
	*git.Shadow
	marker procs.Marker
}

// git runs git in the repository itself, and so that it is found should the supervisor be killed meanwhile.
func (g repo) git(ctx context.Context, args ...string) ([]byte, error) {
	return git.RunGit(ctx, g.Top, filepath.Dir(g.Dir), append(g.marked(), g.Muted...), nil, args...)
}

// worktree runs git worktree, which may fail over another worktree that comes or goes meanwhile: so no two of ours do
// it at once in one repository, whichever supervisor's they are. Whoever else holds that lock does so in vain: it is
// done without in the end.
func (g repo) worktree(ctx context.Context, args ...string) error {
	lock := flock.New(g.Common, flock.SetFlag(os.O_RDONLY))
	defer func() { _ = lock.Close() }()
	waiting, cancel := context.WithTimeout(ctx, lockTime)
	defer cancel()
	_, _ = lock.TryLockContext(waiting, lockInterval) // not every file system has locks
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := g.git(ctx, append([]string{"worktree"}, args...)...)
	return err
}

func (g repo) marked() []string {
	return []string{
		procs.EnvRun + "=" + g.marker.Run, procs.EnvAgent + "=" + g.marker.Agent,
		procs.EnvLaunch + "=" + strconv.Itoa(g.marker.Launch),
	}
}

// add adds a worktree, by the arguments of `git worktree add`, and puts the files of a commit into it.
func (g repo) add(ctx context.Context, path, commit string, args ...string) error {
	if err := g.register(ctx, path, args...); err != nil {
		return err
	}
	n, err := g.open(ctx, path)
	if err != nil {
		return err
	}
	return fill(ctx, n, g, commit)
}

// register adds a worktree without its files.
func (g repo) register(ctx context.Context, path string, args ...string) error {
	if err := makePlace(path); err != nil {
		return fmt.Errorf("no folder for a worktree can be made: %w", err)
	}
	return g.worktree(ctx, append([]string{"add", "--quiet", "--no-checkout"}, args...)...)
}

// shadow makes a shadow of another work tree, which lives as long as that of the repository.
func (g repo) shadow(ctx context.Context, path string) (*git.Shadow, error) {
	scratch, err := os.MkdirTemp(filepath.Dir(g.Dir), "")
	if err != nil {
		return nil, err
	}
	return git.OpenShadow(ctx, path, scratch)
}

// open is shadow for a worktree of the repository.
func (g repo) open(ctx context.Context, path string) (*git.Shadow, error) {
	n, err := g.shadow(ctx, path)
	if errors.Is(err, git.ErrNoWorkTree) || err == nil && (n.Top != path || n.Common != g.Common) {
		return nil, fmt.Errorf("%s is not a worktree of %s", path, g.Top)
	}
	return n, err
}

// fill puts the files of a commit into a worktree that has none, and its index beside them once all are there.
func fill(ctx context.Context, s *git.Shadow, g repo, commit string) error {
	env := append(g.marked(), "GIT_DIR="+s.Dir, "GIT_WORK_TREE="+s.Top, "GIT_INDEX_FILE="+filepath.Join(s.Git, "index"))
	_, err := git.RunGit(ctx, s.Top, filepath.Dir(s.Dir), env, nil, "read-tree", "--reset", "-u", commit)
	return err
}

// filled reports whether a worktree has its files.
func filled(s *git.Shadow) bool {
	_, err := os.Lstat(filepath.Join(s.Git, "index"))
	return err == nil
}

// again makes a worktree that was kept ready for an agent that goes on in it, and makes it anew of its branch where its
// folder is gone.
func (g repo) again(ctx context.Context, w checkpoints.Worktree) (checkpoints.Worktree, error) {
	w = checkpoints.Worktree{State: checkpoints.WorktreeMade, Branch: w.Branch, From: w.From,
		Path: w.Path, Repo: w.Repo, Base: w.Base, Moment: w.Moment}
	tip, err := g.tip(ctx, w.Branch)
	if err != nil {
		return w, err
	}
	if _, err := os.Lstat(w.Path); err == nil {
		n, err := g.open(ctx, w.Path)
		if err != nil || filled(n) || tip == "" {
			return w, err
		}
		return w, fill(ctx, n, g, tip) // killed while it was made anew, before anybody worked in it
	}
	if tip == "" {
		return w, fmt.Errorf("its worktree and the branch %s are gone", w.Branch)
	}
	_ = g.remove(ctx, w.Path) // what git remembers of it, if it does
	return w, g.add(ctx, w.Path, tip, w.Path, w.Branch)
}

// tip returns the commit that a branch is at; "" if there is none of that name.
func (g repo) tip(ctx context.Context, branch string) (string, error) {
	return git.GitsWord(g.git(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+branch+"^{commit}"))
}

// clear removes what an earlier try has left of a worktree in which nobody has worked, and its branch. What holds any
// work is not that: it stays, and is an error.
func (g repo) clear(ctx context.Context, w checkpoints.Worktree) error {
	tip, err := g.tip(ctx, w.Branch)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(w.Path); tip == "" && err != nil {
		return nil
	}
	if _, err := procs.Sweep(g.marker); err != nil { // git may still be at it
		return err
	}
	if tip, err = g.tip(ctx, w.Branch); err != nil {
		return err
	}
	if tip != "" {
		if _, err := g.git(ctx, "merge-base", "--is-ancestor", tip, w.Base); git.GitSaysNo(err) {
			return fmt.Errorf("there is a branch %s already", w.Branch)
		} else if err != nil {
			return err
		}
	}
	if n, err := g.open(ctx, w.Path); git.GitWasKilled(err) {
		return err
	} else if err == nil && w.Moment == nil && filled(n) {
		if _, err := n.TakeOver(ctx); err != nil {
			return err
		}
		if changes, err := n.Uncommitted(ctx); err != nil || len(changes) > 0 {
			return errors.Join(err, fmt.Errorf("there is a worktree %s already, with work in it", w.Path))
		}
	}
	if err := g.remove(ctx, w.Path); git.GitWasKilled(err) {
		return err
	} else if err != nil { // git does not know it
		if err := os.Remove(w.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if tip == "" {
		return nil
	}
	return g.drop(ctx, w.Branch, tip)
}

// remove removes a worktree with all that is in it, and the folder of worktrees with the last one.
func (g repo) remove(ctx context.Context, path string) error {
	err := g.worktree(ctx, "remove", "--force", path)
	_ = os.Remove(filepath.Dir(path)) // others may be in it, or this one still
	return err
}

// drop deletes a branch that is still at a commit.
func (g repo) drop(ctx context.Context, branch, at string) error {
	_, err := g.git(ctx, "update-ref", "--no-deref", "-d", "refs/heads/"+branch, at)
	return err
}

// lacks says what is in the work tree and in no worktree that is made of its commit.
func (g repo) lacks(ctx context.Context) []string {
	ctx, cancel := context.WithTimeout(ctx, git.SurveyGitTime)
	defer cancel()
	var told []string
	if _, err := g.TakeOver(ctx); err != nil {
		return []string{"what is not committed in " + g.Top + ", if there is such"}
	}
	changes, err := g.Uncommitted(ctx)
	switch {
	case err != nil:
		told = append(told, "what is not committed in "+g.Top+", if there is such")
	case len(changes) > 0:
		told = append(told, text.Plural(len(changes), "change that is", "changes that are")+" not committed in "+g.Top)
	}
	if modules, err := g.Gitlinks(ctx, "index"); err == nil && len(modules) > 0 {
		told = append(told, "the files of submodules (git submodule update --init gets them)")
	}
	if strings.Contains(git.Settings(filepath.Join(g.Top, ".gitattributes")), "filter=") {
		told = append(told, "what filters such as git-lfs make of files (git lfs pull gets it)")
	}
	return told
}
