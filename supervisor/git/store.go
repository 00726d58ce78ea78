package git

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Store holds work trees as they were at moments, each under an id, in a folder of ours. Several work trees of one
// repository, or folders without git, share what is the same in them. It is for one process at a time, and for any
// number of its goroutines.
//
//	FOLDER/moments.git/         a bare repository of ours, without configuration of anybody's
//	  objects/                  what moments hold; info/alternates names the repositories that they borrow from
//	  refs/moments/ID           a moment: a commit of the files, without history; its parent is one of what was added
//	  trees/RANDOM/captured     an index for each work tree that is open: what is known of its files, by their times
//
// The repository of a work tree is only read. What it has committed is borrowed from it: a moment lacks that once it is
// pruned there, by someone who gives up the commit and what git remembers of it.
type Store struct {
	Folder string // an absolute path; made with the first moment, below a folder that is there
	Limit  int64  // as of Tree
	Plain  int64  // the same of a folder without git, which holds at most MaxPlainFiles then; 0: as Limit

	removing sync.RWMutex // held to write while something is removed, to read while it is made and no ref has it
	mu       sync.Mutex
	trees    map[string]*Tree // by folder
	built    map[string]bool  // repositories that it borrows from
}

const (
	momentRefs  = "refs/moments/"
	bundledRefs = "refs/bundled/" // what bundles rest on
	treesName   = "trees"
)

// ErrNoMoment means that a store holds no moment by an id.
var ErrNoMoment = errors.New("no such moment")

// A Moment says what a work tree was at a moment, beside its files.
type Moment struct {
	At     time.Time `json:"at"`
	Head   string    `json:"head,omitempty"`   // the commit that was checked out; "" for none
	Branch string    `json:"branch,omitempty"` // "" for none
	Empty  []string  `json:"empty,omitempty"`  // folders that hold nothing; only of a folder without git
	Index  string    `json:"-"`                // the tree of what was added; "" for none
}

func (s *Store) dir() string { return filepath.Join(s.Folder, "moments.git") }

// WorkTree opens the work tree that a folder is in. ErrNoWorkTree if it is in none; to know that takes no git.
func (s *Store) WorkTree(ctx context.Context, folder string) (*Tree, error) {
	return s.tree(ctx, folder, false)
}

// tree is WorkTree, or opens a folder that is in no work tree if that may be.
func (s *Store) tree(ctx context.Context, folder string, plain bool) (*Tree, error) {
	if t := s.opened(folder); t != nil {
		return t, nil
	}
	found, err := findShadow(ctx, folder, s.Folder)
	if plain && errors.Is(err, ErrNoWorkTree) {
		found, err = &Shadow{Top: folder, Format: "sha1"}, nil
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trees == nil {
		s.trees, s.built = map[string]*Tree{}, map[string]bool{}
	}
	if found.Dir = s.dir(); !s.built[found.Common] {
		if err := os.MkdirAll(filepath.Join(s.dir(), treesName), 0o700); err != nil {
			return nil, err
		}
		if err := found.build(ctx, s.Folder); err != nil {
			return nil, err
		}
		s.built[found.Common] = true
	}
	dir, err := os.MkdirTemp(filepath.Join(s.dir(), treesName), "")
	if err != nil {
		return nil, err
	}
	t := &Tree{Shadow: found, Limit: s.Limit, removing: s.removing.RLocker(),
		dir: filepath.Join(treesName, filepath.Base(dir))}
	if found.Common == "" && s.Plain > 0 {
		t.Limit, t.most = s.Plain, MaxPlainFiles
	}
	s.trees[folder] = t
	return t, nil
}

// opened returns the tree of a folder if it was opened, and the folder is still in that work tree.
func (s *Store) opened(folder string) *Tree {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.trees[folder]; t != nil && t.stands(folder) {
		return t
	}
	return nil
}

// stands reports whether a folder is still in the work tree that it was in.
func (t *Tree) stands(folder string) bool {
	if t.Common == "" {
		return !HasGitAbove(folder)
	}
	_, err := os.Lstat(filepath.Join(t.Top, ".git"))
	return err == nil
}

// Take keeps the work tree that a folder is in as it is now, and gives the id of the moment. It blocks for as long as
// Capture takes. What is the same as at an earlier moment takes no space. No kill loses a moment; a power cut within
// seconds may, as it may what git has just written: Checkout refuses it then.
func (s *Store) Take(ctx context.Context, folder string) (id string, err error) {
	t, err := s.tree(ctx, folder, true)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.removing.RLock()
	defer s.removing.RUnlock()
	got, err := t.capture(ctx)
	if err != nil {
		return "", err
	}
	return s.keep(ctx, t, got)
}

func (s *Store) keep(ctx context.Context, t *Tree, got Captured) (id string, err error) {
	m, added := Moment{At: time.Now().UTC(), Empty: got.Empty}, ""
	if got.To != nil {
		m.Head, m.Branch = got.To.Head, got.To.Branch
	}
	if got.Index != "" {
		if added, err = t.commit(ctx, m.At, "index", got.Index); err != nil {
			return "", err
		}
	}
	about, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	if id, err = t.commit(ctx, m.At, string(about), got.Work, added); err != nil {
		return "", err
	}
	_, err = t.In(ctx, "none", nil, "update-ref", momentRefs+id, id)
	return id, err
}

// OfGit reports whether it is of a git work tree, where nothing may be committed yet.
func (m Moment) OfGit() bool { return m.Head != "" || m.Index != "" }

// in runs git in the store, of which folder is the work tree.
func (s *Store) in(ctx context.Context, folder, index string, args ...string) (string, error) {
	t := Shadow{Dir: s.dir(), Top: folder}
	out, err := t.In(ctx, index, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// Moment returns what was kept under an id, beside the files. ErrNoMoment if nothing was.
func (s *Store) Moment(ctx context.Context, id string) (m Moment, err error) {
	if _, err := os.Lstat(s.dir()); err != nil || !IsObjectName(id) {
		return m, fmt.Errorf("%w: %.80q", ErrNoMoment, id)
	}
	out, err := s.in(ctx, s.Folder, "none", "for-each-ref", "--format=%(parent) %(contents)", momentRefs+id)
	if err != nil {
		return m, err
	}
	index, about, there := strings.Cut(out, subject)
	if !there {
		return m, fmt.Errorf("%w: %s", ErrNoMoment, id)
	}
	err = json.Unmarshal([]byte(about), &m)
	m.Index = strings.TrimSpace(index)
	return m, err
}

// Checkout makes a folder of the files of a moment, byte for byte, whole or not at all. What is not there is made; an
// empty folder is replaced. Only this user may enter it. What an earlier try for the same folder has left half made,
// secrets maybe, is removed: one folder is made by one process at a time.
func (s *Store) Checkout(ctx context.Context, id, folder string) error {
	m, err := s.Moment(ctx, id)
	if err != nil {
		return err
	}
	s.removing.RLock()
	defer s.removing.RUnlock()
	in, half := filepath.Dir(folder), "."+filepath.Base(folder)+"-"
	beside, err := os.ReadDir(in)
	for _, d := range beside {
		if strings.HasPrefix(d.Name(), half) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(in, d.Name())))
		}
	}
	if err != nil {
		return err
	}
	next, err := os.MkdirTemp(in, half)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(next) }() // it has got its name, or nobody knows of it
	if err := s.put(ctx, id, next); err != nil {
		return err
	}
	root, err := os.OpenRoot(next)
	if err != nil {
		return err
	}
	for _, empty := range m.Empty {
		err = errors.Join(err, root.MkdirAll(empty, 0o777))
	}
	if err := errors.Join(err, root.Close()); err != nil {
		return err
	}
	return os.Rename(next, folder)
}

// put puts the files of a moment into a folder that holds none of its paths.
func (s *Store) put(ctx context.Context, id, folder string) error {
	index, err := os.MkdirTemp(filepath.Join(s.dir(), treesName), "")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(index) }() // it was of use for this alone
	own := filepath.Join(treesName, filepath.Base(index), "index")
	if _, err := s.in(ctx, folder, own, "read-tree", "--reset", "-u", id); err != nil {
		return fmt.Errorf("the files of the moment cannot be put there: %w", err)
	}
	return nil
}

// Fill puts the files of a moment, byte for byte, into a folder that is there and holds none of them: a git worktree
// that was made without files. What a try that was cut short has left is overwritten.
func (s *Store) Fill(ctx context.Context, id, folder string) error {
	if _, err := s.Moment(ctx, id); err != nil {
		return err
	}
	s.removing.RLock()
	defer s.removing.RUnlock()
	return s.put(ctx, id, folder)
}

// Diff returns what the work tree that a folder is in has now other than at a moment, by path in the work tree.
func (s *Store) Diff(ctx context.Context, id, folder string) (map[string]TreeEntry, error) {
	if _, err := s.Moment(ctx, id); err != nil {
		return nil, err
	}
	t, err := s.tree(ctx, folder, true)
	if err != nil {
		return nil, err
	}
	got, err := t.Capture(ctx)
	if err != nil {
		return nil, err
	}
	return t.Differences(ctx, id, got.Work)
}

// Close removes what was made to look at work trees. The store can be used again.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for folder, t := range s.trees {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir(), t.dir)))
		delete(s.trees, folder)
	}
	return err
}

// Prune forgets all moments but those that keep wants, and frees what only they held, and what killed processes have
// left. It blocks for as long as looking at all that is kept takes; nothing is taken meanwhile.
func (s *Store) Prune(ctx context.Context, keep func(id string) bool) error {
	if _, err := os.Lstat(s.dir()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	s.removing.Lock()
	defer s.removing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	refs, err := s.in(ctx, s.Folder, "none", "for-each-ref", "--format=%(refname)", momentRefs, bundledRefs)
	if err != nil {
		return err
	}
	open := map[string]bool{} // folders and refs of work trees
	prune := []string{"prune", "--expire=now"}
	for _, t := range s.trees {
		open[path.Base(t.dir)], open[bundledRefs+path.Base(t.dir)] = true, true
		for _, tree := range []string{t.last.Index, t.last.Work} {
			if tree != "" {
				prune = append(prune, tree)
			}
		}
	}
	var gone strings.Builder
	for ref := range strings.Lines(refs) {
		ref = strings.TrimSpace(ref)
		id, moment := strings.CutPrefix(ref, momentRefs)
		if moment && !keep(id) || !moment && !open[ref] {
			fmt.Fprintf(&gone, "delete %s\n", ref)
		}
	}
	store := &Shadow{Dir: s.dir(), Top: s.Folder}
	if _, err := store.In(ctx, "none", strings.NewReader(gone.String()), "update-ref", "--stdin"); err != nil {
		return err
	}
	indexes, err := os.ReadDir(filepath.Join(s.dir(), treesName))
	for _, index := range indexes {
		if !open[index.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(s.dir(), treesName, index.Name())))
		}
	}
	if err != nil {
		return err
	}
	shallow := filepath.Join(s.dir(), "shallow")
	ends := Settings(shallow)
	if _, err = store.In(ctx, "none", nil, prune...); ends != "" { // of which git takes out what it does not see
		err = errors.Join(err, os.WriteFile(shallow, []byte(ends), 0o600))
	}
	return err
}
