package git

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"claude-supervise/e2e/sample"
	"claude-supervise/supervisor/internal/gittest"
)

const roomy = 1 << 30

func newStore(t testing.TB) *Store {
	return &Store{Folder: filepath.Join(t.TempDir(), "store"), Limit: roomy}
}

func taken(t testing.TB, s *Store, folder string) string {
	t.Helper()
	id, err := s.Take(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// filesIn returns all below a folder: what is in files, where links lead, and, of a folder without git, "/" for folders
// that hold none of both. What is called .git is left out, and what git ignores in the tests.
func filesIn(t testing.TB, folder string, empty bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == folder {
			return err
		}
		name, err := filepath.Rel(folder, at)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case !empty && strings.HasSuffix(name, ".ignored") || d.Name() == ".git":
			return nil
		case d.IsDir():
			held, err := os.ReadDir(at)
			if empty && !slices.ContainsFunc(held, func(d fs.DirEntry) bool {
				return d.Name() != ".git" && d.Type()&fs.ModeNamedPipe == 0
			}) && utf8.ValidString(name) {
				found[name] = "/"
			}
			return err
		case d.Type() == fs.ModeSymlink:
			found[name], err = os.Readlink(at)
			found[name] = "-> " + found[name]
			return err
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(at)
		found[name] = fmt.Sprintf("%v %q", info.Mode()&0o100 != 0, content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantMoment wants a moment to have just these files.
func wantMoment(t testing.TB, s *Store, id string, want map[string]string) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "there")
	if err := s.Checkout(t.Context(), id, folder); err != nil {
		t.Error(err)
		return
	}
	if diff := cmp.Diff(want, filesIn(t, folder, true)); diff != "" {
		t.Errorf("moment %s: %s", id, diff)
	}
}

// Whatever is done in a folder, each moment has it as it was, byte for byte.
func TestAMomentHasTheFilesAsTheyWere(t *testing.T) {
	for _, git := range []bool{false, true} {
		for _, seed := range sample.Part(fmt.Sprintf("moments, git=%v", git), []uint64{0, 1, 2, 3, 4, 5}, 2) {
			t.Run(fmt.Sprintf("git=%v/%d", git, seed), func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 1))
				folder := t.TempDir()
				if git {
					gittest.InRepository(t, folder)
					gittest.Put(t, filepath.Join(folder, ".git/info/exclude"), "*.ignored\n")
				}
				gittest.Put(t, filepath.Join(folder, ".gitattributes"),
					"* text eol=crlf ident working-tree-encoding=UTF-16\n*.c filter=x\n")
				s := newStore(t)
				moments := map[string]map[string]string{}
				for range 12 {
					for range 1 + random.IntN(8) {
						changeSomething(t, random, folder, git)
					}
					id := taken(t, s, folder)
					moments[id] = filesIn(t, folder, !git)
					if git && gittest.GitIn(t, folder, "ls-files", "x.ignored") != "" { // it was added all the same
						if all := filesIn(t, folder, true); strings.Trim(all["x.ignored"], "/") != "" {
							moments[id]["x.ignored"] = all["x.ignored"]
						}
					}
					if changed, err := s.Diff(t.Context(), id, folder); err != nil || len(changed) > 0 {
						t.Errorf("at once it differs by %v, %v", changed, err)
					}
				}
				for id, files := range moments {
					wantMoment(t, s, id, files)
				}
			})
		}
	}
}

// changeSomething does one of what can happen to files.
func changeSomething(t *testing.T, random *rand.Rand, folder string, git bool) {
	t.Helper()
	names := []string{"a", "b.c", "dir", "dir/a", "dir/deep/a", "dir/deep", "-x", ":(top)y", "new\nline", "\xff", `q"'`,
		"x.ignored", "dir/link"}
	name := filepath.Join(folder, names[random.IntN(len(names))])
	other := filepath.Join(folder, names[random.IntN(len(names))])
	for above := filepath.Dir(name); above != folder; above = filepath.Dir(above) {
		if info, err := os.Lstat(above); err == nil && !info.IsDir() {
			return // it leads elsewhere, or waits for ever
		}
	}
	clear := func() {
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	content := []string{"", "one\r\ntwo\n", "$Id$\n", "\x00\xff", "one\n", "two\n"}[random.IntN(6)]
	// What fails for what stands in its way is nothing that happens.
	switch random.IntN(10) {
	case 0:
		clear()
	case 1:
		clear()
		_ = os.MkdirAll(name, 0o700)
	case 2:
		clear()
		_ = os.Symlink([]string{"dir", "/etc/passwd", "nowhere", "..", "a"}[random.IntN(5)], name)
	case 3:
		_ = os.Rename(name, other)
	case 4:
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
			_ = os.Chmod(name, []fs.FileMode{0o600, 0o700, 0o755}[random.IntN(3)])
		}
	case 5:
		clear()
		_ = unix.Mkfifo(name, 0o600)
	case 6:
		if git {
			_ = exec.Command("git", "-C", folder, "add", "--all", "--", ":/dir*").Run()
			_ = exec.Command("git", "-C", folder, "add", "--force", "x.ignored").Run()
		}
	case 7:
		if git {
			gittest.GitIn(t, folder, "commit", "--quiet", "--allow-empty", "-m", "x")
		}
	default:
		if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
			clear()
		}
		_ = os.MkdirAll(filepath.Dir(name), 0o700)
		_ = os.WriteFile(name, []byte(content), 0o600)
	}
}

func TestAMomentLeavesTheRepositoryAsItIs(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	gittest.Put(t, filepath.Join(folder, "sub/a"), "one\n")
	gittest.Committed(t, folder, "begin")
	gittest.Put(t, filepath.Join(folder, "sub/a"), "two\n")
	gittest.GitIn(t, folder, "add", "sub/a")
	gittest.Put(t, filepath.Join(folder, "sub/a"), "three\n")
	read := func() map[string]string {
		found := map[string]string{}
		err := fs.WalkDir(os.DirFS(filepath.Join(folder, ".git")), ".", func(at string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				content, failed := os.ReadFile(filepath.Join(folder, ".git", at))
				found[at], err = string(content), failed
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := read()
	s := newStore(t)
	id := taken(t, s, filepath.Join(folder, "sub"))
	if diff := cmp.Diff(before, read()); diff != "" {
		t.Error(diff)
	}
	m, err := s.Moment(t.Context(), id)
	if err != nil || m.Head != gittest.GitIn(t, folder, "rev-parse", "HEAD") || m.Branch != "topic" {
		t.Errorf("%+v, %v", m, err)
	}
	added, err := s.in(t.Context(), folder, "none", "show", m.Index+":sub/a")
	if err != nil || added != "two" {
		t.Errorf("of what was added it has %q, %v", added, err)
	}
	wantMoment(t, s, id, filesIn(t, folder, false))
}

func TestNothingOfTheRepositoryRunsForAMoment(t *testing.T) {
	folder := t.TempDir()
	ran := gittest.NamesPrograms(t, folder)
	s := newStore(t)
	for range 2 {
		gittest.Put(t, filepath.Join(folder, "a.txt"), "two\n")
		id := taken(t, s, folder)
		if _, err := s.Diff(t.Context(), id, folder); err != nil {
			t.Error(err)
		}
		wantMoment(t, s, id, filesIn(t, folder, false))
	}
	if err := s.Prune(t.Context(), func(string) bool { return false }); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("there ran:\n%s", text)
	}
	gittest.GitIn(t, folder, "config", "core.hooksPath", "/dev/null")
	_ = exec.Command("git", "-C", folder, "add", "a.txt").Run() // the same by the repository's own git
	if _, err := os.Lstat(ran); err != nil {
		t.Error("nothing would have run in any case")
	}
}

func TestRepositoriesInsideAreLeftOutOfAWorkTreeAndFoldersOfAFolder(t *testing.T) {
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprintf("git=%v", git), func(t *testing.T) {
			folder := t.TempDir()
			if git {
				gittest.InRepository(t, folder)
			}
			for _, inside := range []string{"committed", "unborn"} {
				gittest.Put(t, filepath.Join(folder, inside, "file"), "x\n")
				gittest.InRepository(t, filepath.Join(folder, inside))
			}
			gittest.Committed(t, filepath.Join(folder, "committed"), "inside")
			gittest.Put(t, filepath.Join(folder, "file"), "x\n")
			s := newStore(t)
			want := filesIn(t, folder, false)
			if git {
				delete(want, "committed/file")
				delete(want, "unborn/file")
				tree, err := s.WorkTree(t.Context(), folder)
				if err != nil {
					t.Fatal(err)
				}
				got, err := tree.Capture(t.Context())
				told := []string{"repositories inside this one are not packed: committed, unborn"}
				if err != nil || !slices.Equal(got.Told, told) {
					t.Errorf("it tells %q, %v", got.Told, err)
				}
			}
			wantMoment(t, s, taken(t, s, folder), want)
		})
	}
}

func TestAMomentThatIsTooLargeIsNotRead(t *testing.T) {
	for _, git := range []bool{false, true} {
		folder := t.TempDir()
		if git {
			gittest.InRepository(t, folder)
		}
		gittest.Put(t, filepath.Join(folder, "large"), "")
		if err := os.Truncate(filepath.Join(folder, "large"), 1<<42); err != nil {
			t.Fatal(err)
		}
		s := newStore(t)
		_, err := s.Take(t.Context(), folder)
		if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "large (4.0 TiB)") {
			t.Error(err)
		}
		if err := os.Remove(filepath.Join(folder, "large")); err != nil {
			t.Fatal(err)
		}
		wantMoment(t, s, taken(t, s, folder), map[string]string{})
	}
}

// What was made to look at work trees is gone with that, and the store goes on.
func TestAStoreThatIsClosedLeavesNoIndexes(t *testing.T) {
	folder, s := t.TempDir(), newStore(t)
	gittest.Put(t, filepath.Join(folder, "file"), "then")
	id := taken(t, s, folder)
	gittest.Put(t, filepath.Join(folder, "file"), "now")
	for range 2 {
		if differ, err := s.Diff(t.Context(), id, folder); err != nil || len(differ) != 1 {
			t.Errorf("it finds %v, %v", differ, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, err := os.ReadDir(filepath.Join(s.dir(), treesName)); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	}
}

// A folder without git is looked through no further than to its bounds.
func TestAFolderWithoutGitIsKeptWithinItsOwnBounds(t *testing.T) {
	folder, s := t.TempDir(), newStore(t)
	s.Plain = 1 << 10
	gittest.Put(t, filepath.Join(folder, "small"), "")
	taken(t, s, folder)
	gittest.Put(t, filepath.Join(folder, "a"), strings.Repeat("x", 1<<10+1))
	if err := os.Truncate(filepath.Join(folder, "small"), 1<<42); err != nil {
		t.Fatal(err)
	}
	_, err := s.Take(t.Context(), folder)
	if !errors.Is(err, ErrTooLarge) || strings.Contains(err.Error(), "small") {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(folder, "a")), os.Truncate(filepath.Join(folder, "small"), 0)); err != nil {
		t.Fatal(err)
	}
	for i := range MaxPlainFiles {
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Take(t.Context(), folder); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestAMomentIsForgottenWithWhatOnlyItHolds(t *testing.T) {
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprintf("git=%v", git), func(t *testing.T) {
			folder := t.TempDir()
			if git {
				gittest.InRepository(t, folder)
			}
			s := newStore(t)
			if err := s.Prune(t.Context(), nil); err != nil {
				t.Errorf("of an empty store: %v", err)
			}
			put := func(of byte) map[string]string {
				content := make([]byte, 1<<20)
				_, _ = rand.NewChaCha8([32]byte{of}).Read(content) // it never fails
				gittest.Put(t, filepath.Join(folder, "file"), string(content))
				return filesIn(t, folder, false)
			}
			put(1)
			first := taken(t, s, folder)
			kept := put(2)
			second := taken(t, s, folder)
			put(3)
			third := taken(t, s, folder)
			if err := s.Prune(t.Context(), func(id string) bool { return id == second }); err != nil {
				t.Fatal(err)
			}
			wantMoment(t, s, second, kept)
			for _, id := range []string{first, third, "", "HEAD", "--all", "../moments/" + second, strings.Repeat("a", 40)} {
				there := filepath.Join(t.TempDir(), "there")
				if err := s.Checkout(t.Context(), id, there); !errors.Is(err, ErrNoMoment) {
					t.Errorf("%q: %v", id, err)
				}
				if _, err := os.Lstat(there); err == nil {
					t.Errorf("%q left a folder", id)
				}
			}
			wantMoment(t, s, taken(t, s, folder), filesIn(t, folder, false)) // of which nothing has changed
			again := &Store{Folder: s.Folder, Limit: roomy}
			if err := again.Prune(t.Context(), func(id string) bool { return id == second }); err != nil {
				t.Fatal(err)
			}
			if size := sizeOf(t, s.Folder); size > 1<<20+100<<10 {
				t.Errorf("with one moment of 1 MiB it takes %d KiB", size>>10)
			}
			wantMoment(t, again, second, kept)
		})
	}
}

// Each bundle rests on the one before of its work tree, whatever was pruned and checked out in between, in a shallow
// clone, too.
func TestBundlesRestOnOthersAfterTheirStoreWasPruned(t *testing.T) {
	origin, clone := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	gittest.InRepository(t, origin)
	for _, branch := range []string{"topic", "other"} {
		for _, text := range []string{"one", "two"} {
			gittest.GitIn(t, origin, "checkout", "-q", "-B", branch)
			gittest.Put(t, filepath.Join(origin, branch), text)
			gittest.Committed(t, origin, text)
		}
	}
	gittest.GitIn(t, origin, "clone", "-q", "--depth=1", "--no-single-branch", "--branch=topic", "file://"+origin, clone)
	gittest.GitIn(t, clone, "worktree", "add", "-q", clone+"2")
	s := newStore(t)
	last := map[string]string{}
	for _, branch := range []string{"topic", "other", "topic"} {
		gittest.GitIn(t, clone, "checkout", "-q", branch)
		for _, folder := range []string{clone, clone + "2"} {
			gittest.Put(t, filepath.Join(folder, "file"), folder+fmt.Sprint(len(last)))
			tree, err := s.WorkTree(t.Context(), folder)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tree.Capture(t.Context())
			if err == nil {
				_, last[folder], err = tree.Bundle(t.Context(), got, last[folder], time.Now())
			}
			if err != nil {
				t.Fatalf("on %s: %v", branch, err)
			}
		}
		if err := s.Prune(t.Context(), func(string) bool { return false }); err != nil {
			t.Fatalf("on %s: %v", branch, err)
		}
	}
}

func sizeOf(t *testing.T, folder string) (sum int64) {
	t.Helper()
	root, err := os.OpenRoot(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }() // only read
	size, err := FolderSize(root, func(string, fs.DirEntry) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	return size.Sum
}

func TestAFolderThatHoldsSomethingIsNotReplaced(t *testing.T) {
	folder, to := t.TempDir(), t.TempDir()
	gittest.Put(t, filepath.Join(folder, "a"), "a")
	gittest.Put(t, filepath.Join(to, "to/mine"), "mine")
	s := newStore(t)
	id := taken(t, s, folder)
	if err := s.Checkout(t.Context(), id, filepath.Join(to, "to")); err == nil {
		t.Error("it was")
	}
	if diff := cmp.Diff(map[string]string{"to/mine": `false "mine"`}, filesIn(t, to, true)); diff != "" {
		t.Error(diff)
	}
}

func TestManyTakeWhileOthersPrune(t *testing.T) {
	s := newStore(t)
	var all sync.WaitGroup
	var mu sync.Mutex
	kept := map[string]map[string]string{}
	for n := range 3 {
		folder := t.TempDir()
		if n > 0 {
			gittest.InRepository(t, folder)
		}
		all.Go(func() {
			for i := range 6 {
				gittest.Put(t, filepath.Join(folder, fmt.Sprint(i)), fmt.Sprint(n, i))
				id, err := s.Take(t.Context(), folder)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				kept[id] = filesIn(t, folder, false)
				mu.Unlock()
				err = s.Prune(t.Context(), func(string) bool { return true })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for id, files := range kept {
		wantMoment(t, s, id, files)
	}
}
