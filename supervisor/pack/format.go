package pack

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/text"
)

// A pack file is a gzipped tar of one run, to go on with it on another machine. Its entries, in this order:
//
//	manifest.json                 what it is (manifest below)
//	run.json                      the run as checkpoints.Exported
//	logs/AGENT.jsonl              what lies in the run's folder: what each agent printed
//	logs/AGENT.checkpoint.json    and its checkpoint
//	logs/AGENT.FINGERPRINT.kept   and the copies of checkpoints of its own
//	transcripts/SESSION.jsonl     each agent's conversation, as claude keeps it
//	transcripts/SESSION/...       and what claude keeps beside it: subagents' conversations, long results
//	work/work.bundle              the uncommitted work of a git work tree (git/tree.go), as a git bundle;
//	work/files/...                or all files of a folder that is none
//	work/worktrees/AGENT.bundle   the same for the worktree of each agent that has one: without the commits that the
//	                              bundle of the work brings
//
// It holds what the agent saw and wrote, so it is as private as the run itself. Nobody vouches for what is in one: who
// reads it (unpack_archive.go) believes nothing. What of it is trusted for what stands in pack_trust.go.
const (
	packFormat     = 3 // with worktrees; with a snapshot 2, and without either 1, which earlier releases read
	manifestName   = "manifest.json"
	runName        = "run.json"
	logsPrefix     = "logs/"
	transcriptsDir = "transcripts/"
	bundleName     = "work/work.bundle"
	filesPrefix    = "work/files/"
	treesPrefix    = "work/worktrees/"
	treesSuffix    = ".bundle"
)

// DefaultMaxWork is how large the uncommitted work of a run may be, in bytes, unless the person says otherwise.
const DefaultMaxWork = 256 << 20

// What of a pack file is held in memory, or counted, is bounded.
const (
	maxManifest    = 1 << 20
	maxRunDocument = 64 << 20
	maxEntryName   = 4096    // bytes
	maxPacked      = 4 << 30 // bytes of all entries together, unpacked, the work aside
)

// errNotPack means that a file is no pack file, or one that was tampered with. Nothing was changed.
var errNotPack = errors.New("not a pack file as claude-supervise makes it")

func notPack(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotPack, fmt.Sprintf(format, args...))
}

// A manifest says what a pack file is, for people and for who unpacks it. Members may be added, never renamed.
type manifest struct {
	Format  int              `json:"format"`
	Program string           `json:"program"` // and release that made it
	Created time.Time        `json:"created"`
	Run     string           `json:"run"`
	Folder  string           `json:"folder"` // the run's, on the machine where it was packed
	Work    workKind         `json:"work"`
	Git     *git.GitManifest `json:"git,omitempty"`

	Snapshot *snapshotManifest `json:"snapshot,omitempty"` // the run goes on where it was packed

	Worktrees map[string]*git.GitManifest `json:"worktrees,omitempty"` // by agent
}

// formatOf returns the oldest format in which a file can be.
func (m *manifest) formatOf() int {
	switch {
	case len(m.Worktrees) > 0:
		return packFormat
	case m.Snapshot != nil:
		return 2
	}
	return 1
}

// workKind says in what form the uncommitted work is there.
type workKind string

const (
	workNone  workKind = "none"  // left out
	workGit   workKind = "git"   // a bundle
	workFiles workKind = "files" // all files
)

var folderName = text.Lazily(`^/[^\x00-\x1f\x7f]*$`)

// check tells what cannot be right about a manifest.
func (m *manifest) check() error {
	switch {
	case m.Format > packFormat:
		return fmt.Errorf(
			"the pack file is of format %d and this release knows %d; nothing was changed: upgrade claude-supervise",
			m.Format, packFormat)
	case m.Format < 1:
		return notPack("it has no format")
	case !checkpoints.PlainID(m.Run):
		return notPack("the run's id is %.60q", m.Run)
	case len(m.Folder) > maxEntryName || !folderName().MatchString(m.Folder):
		return notPack("the run's folder is %.60q", m.Folder)
	}
	if err := errors.Join(m.Snapshot.check(), m.checkTrees()); err != nil {
		return err
	}
	switch m.Work {
	case workNone, workFiles:
	case workGit:
		return checkGit(m.Git)
	default:
		return notPack("its work is of the kind %.60q", m.Work)
	}
	return nil
}

// checkTrees tells what cannot be right about the worktrees of a manifest.
func (m *manifest) checkTrees() error {
	if len(m.Worktrees) > 0 && m.Work != workGit {
		return notPack("it has worktrees of what is no work tree")
	}
	for agent, g := range m.Worktrees {
		if !checkpoints.PlainID(agent) {
			return notPack("it has the worktree of %.60q", agent)
		}
		if err := checkGit(g); err != nil {
			return err
		}
		if g.Head == "" {
			return notPack("the worktree of %s has no commit", agent)
		}
	}
	return nil
}

func checkGit(g *git.GitManifest) error {
	switch {
	case g == nil:
		return notPack("it does not say what its work belongs to")
	case g.Head != "" && !git.IsObjectName(g.Head):
		return notPack("its commit is %.60q", g.Head)
	case g.Prefix != "" && entryName(g.Prefix) != nil:
		return notPack("its folder in the work tree is %.60q", g.Prefix)
	case g.Format != "sha1" && g.Format != "sha256":
		return notPack("its objects are named by %.60q", g.Format)
	}
	return nil
}

// entryName tells why a path cannot be that of a file in a folder of ours: it is absolute or not clean, leaves the
// folder, or goes through what git believes.
func entryName(name string) error {
	if len(name) > maxEntryName || name == "." || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") {
		return notPack("the path %.100q is not allowed", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if git.IsGitDir(part) {
			return notPack("the path %.100q goes through a .git", name)
		}
	}
	return nil
}

// linkTarget tells why a symlink must not be made: it is absolute, leaves the folder in which it stands, or leads to
// what git believes. Its way up must come first, where no other symlink can turn it.
func linkTarget(name, target string) error {
	to, down := path.Join(path.Dir(name), target), target
	for strings.HasPrefix(down, "../") {
		down = down[len("../"):]
	}
	up := strings.Contains("/"+down+"/", "/../") && down != ".."
	if target == "" || path.IsAbs(target) || up || to != "." && entryName(to) != nil {
		return notPack("the symlink %.100q leads to %.100q, out of its folder", name, target)
	}
	return nil
}
