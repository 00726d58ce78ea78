package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/worktree"
)

const child = "a-8Qm2xK9fWb4T"

// withChild gives the run a child that works in a worktree of its own, and the folder of that.
func (p pc) withChild(top string) (tree string) {
	p.t.Helper()
	tree, err := worktree.PathOf(top, child)
	if err != nil {
		p.t.Fatal(err)
	}
	branch := "claude-supervise/" + packedRun + "/" + child
	gittest.GitIn(p.t, top, "worktree", "add", "--quiet", "-b", branch, tree)
	at := checkpoints.Now()
	change := checkpoints.Change{
		Agents: []*checkpoints.Agent{{ID: child, Run: packedRun, Parent: packedAgent, Depth: 1, Seq: 2, Task: "the part",
			Status:       checkpoints.Waiting,
			Conversation: checkpoints.Conversation{SessionID: "0a0e5f5e-0000-4000-8000-000000000001", Launches: 1},
			Delegated:    &checkpoints.Delegated{},
			Workplace: checkpoints.Workplace{Cwd: filepath.Join(tree, "sub"), Placed: true, Worktree: &checkpoints.Worktree{
				State: checkpoints.WorktreeMade, Branch: branch, Path: tree, Repo: top, From: filepath.Join(top, "sub"),
				Base: gittest.GitIn(p.t, tree, "rev-parse", "HEAD")}}}},
		Launches: []*checkpoints.Launch{{Agent: child, N: 1, Phase: checkpoints.LaunchEnded, Begun: true, EndedAt: &at}},
	}
	if change.Event, err = (supervisor.Happened{At: at, Event: supervisor.InterruptAsked{By: "x"}}).Record(packedRun,
		2); err == nil {
		err = p.Store.Commit(context.Background(), change)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	gittest.Put(p.t, p.transcript(top, "0a0e5f5e-0000-4000-8000-000000000001"), "hello\n")
	return tree
}

// worked leaves work of every kind in a worktree.
func worked(t *testing.T, tree string) {
	t.Helper()
	gittest.Put(t, filepath.Join(tree, "committed.txt"), "committed\n")
	gittest.Committed(t, tree, "of the child")
	gittest.Put(t, filepath.Join(tree, "added.txt"), "added\n")
	gittest.GitIn(t, tree, "add", "added.txt")
	gittest.Put(t, filepath.Join(tree, "sub", "a.txt"), "changed\n")
	gittest.Put(t, filepath.Join(tree, "new.txt"), "new\n")
	gittest.Put(t, filepath.Join(tree, "x.ignored"), "ignored\n")
}

// wantWorked wants all of it where the run was unpacked in top.
func (p pc) wantWorked(top, from string) {
	p.t.Helper()
	t := p.t.(*testing.T)
	tree, err := worktree.PathOf(top, child)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"committed.txt": "committed\n", "added.txt": "added\n",
		"sub/a.txt": "changed\n", "new.txt": "new\n"} {
		gittest.WantFile(t, filepath.Join(tree, name), want)
	}
	if _, err := os.Lstat(filepath.Join(tree, "x.ignored")); err == nil {
		t.Error("a file that git ignores came along")
	}
	branch := "claude-supervise/" + packedRun + "/" + child
	for what, got := range map[string][2]string{
		"the branch": {gittest.GitIn(t, tree, "symbolic-ref", "--short", "HEAD"), branch},
		"the commit": {gittest.GitIn(t, tree, "log", "-1", "--format=%s", branch), "of the child"},
		"the status": {gittest.GitIn(t, tree, "status", "--porcelain"), "A  added.txt\n M sub/a.txt\n?? new.txt"},
		"the list": {gittest.GitIn(t, top, "worktree", "list", "--porcelain"),
			gittest.GitIn(t, tree, "worktree", "list", "--porcelain")},
	} {
		if got[0] != got[1] {
			t.Errorf("%s is %q, not %q", what, got[0], got[1])
		}
	}
	s := p.loaded()
	a := s.Agents.Get(child)
	if a.Worktree == nil {
		t.Fatal("the record has no worktree")
	}
	if w := a.Worktree; w.State != checkpoints.WorktreeMade || w.Path != tree || w.Repo != top || w.Branch != branch ||
		w.From != filepath.Join(top, "sub") || a.Cwd != filepath.Join(tree, "sub") || !a.Placed {
		t.Errorf("the record says %+v, in %s", w, a.Cwd)
	}
	if from == "" {
		return
	}
	if n := len(a.Outbox); n != 1 || !strings.Contains(a.Outbox[n-1].Text, "Old folder: "+filepath.Join(from, "sub")) ||
		!strings.Contains(a.Outbox[n-1].Text, "New folder: "+a.Cwd) {
		t.Errorf("the child is told %+v", a.Outbox)
	}
	if root := s.Agents.Get(packedAgent).Outbox; len(root) != 1 || !strings.Contains(root[0].Text, child+" is now "+tree) {
		t.Errorf("its parent is told %+v", root)
	}
}

func (p pc) loaded() supervisor.State {
	p.t.Helper()
	l, err := p.Store.Load(context.Background(), packedRun)
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := supervisor.Loaded(l)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// cloned returns a clone of a repository, in a folder of its own.
func cloned(t *testing.T, of string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(base, "clone")
	gittest.GitIn(t, base, "clone", "--quiet", of, to)
	return to
}

func TestTheWorktreeOfAChildComesAlong(t *testing.T) {
	for name, goesOn := range map[string]func(t *testing.T, origin, top string) string{
		"into a clone":            func(t *testing.T, origin, _ string) string { return cloned(t, origin) },
		"into a clone gone ahead": aheadOf,
		"into an empty folder": func(t *testing.T, _, top string) string {
			gittest.GitIn(t, top, "update-ref", "-d", "refs/remotes/origin/topic")
			gittest.GitIn(t, top, "update-ref", "-d", "refs/remotes/origin/HEAD")
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			return filepath.Join(base, "new")
		},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := newPC(t), newPC(t)
			origin := gittest.Project(t)
			top := cloned(t, origin)
			here.waiting(top, conf.Config{Worktree: true})
			gittest.Put(t, filepath.Join(top, "mine.txt"), "of the run\n")
			gittest.Committed(t, top, "of the run")
			tree := here.withChild(top)
			worked(t, tree)
			to := goesOn(t, origin, top)
			file, packed, err := here.pack(PackOptions{})
			if err != nil || len(packed.Told) > 0 {
				t.Fatalf("told %q, %v", packed.Told, err)
			}
			if dry, err := there.unpack(file, UnpackOptions{Folder: to, DryRun: true}); err != nil ||
				!strings.Contains(strings.Join(dry.Told, "\n"), "worktree") {
				t.Errorf("a dry run tells %q, %v", dry.Told, err)
			}
			if path, err := worktree.PathOf(to, child); err != nil {
				t.Fatal(err)
			} else if _, err := os.Lstat(path); err == nil {
				t.Error("a dry run makes the worktree")
			}
			if _, err := there.unpack(file, UnpackOptions{Folder: to}); err != nil {
				t.Fatal(err)
			}
			there.wantWorked(to, tree)

			again := newPC(t) // it was cut short before the run was saved
			if _, err := again.unpack(file, UnpackOptions{Folder: to}); err != nil {
				t.Fatal("once more: ", err)
			}
			again.wantWorked(to, tree)

			if _, err := here.unpack(file, UnpackOptions{}); err != nil {
				t.Fatal("where it was packed: ", err)
			}
			gittest.WantFile(t, filepath.Join(tree, "x.ignored"), "ignored\n")
			if told := here.loaded().Agents.Get(child).Outbox; len(told) > 0 {
				t.Errorf("it was moved nowhere, and is told %+v", told)
			}
		})
	}
}

// aheadOf returns a clone that is at a later commit of another history than the run's.
func aheadOf(t *testing.T, origin, _ string) string {
	gittest.Put(t, filepath.Join(origin, "later.txt"), "later\n")
	gittest.Put(t, filepath.Join(origin, "sub", "a.txt"), "later\n")
	gittest.Committed(t, origin, "later")
	return cloned(t, origin)
}

func TestASnapshotHoldsWhatIsNewInWorktrees(t *testing.T) {
	origin := gittest.Project(t)
	top := cloned(t, origin)
	s := newSnapped(t, top, 20)
	tree := s.withChild(top)
	s.seq = 2
	gittest.Put(t, filepath.Join(tree, "big"), strings.Repeat("0123456789abcdef\x00\xff", 1<<16)+"big")
	s.mustTake()
	worked(t, tree)
	s.turn("worked")
	if b := s.mustTake(); b.Bytes > 12<<10 || len(b.Told) > 0 {
		t.Errorf("a small change takes %d bytes, told %q", b.Bytes, b.Told)
	}
	s.turn("nothing")
	s.mustTake()
	if has := entriesOf(t, s.path(3)); strings.Contains(has, treesPrefix) {
		t.Errorf("nothing has changed, and the snapshot has %s", has)
	}
	gittest.Put(t, filepath.Join(tree, "later.txt"), "later\n")
	s.turn("later")
	s.mustTake()
	for n := 1; n <= 4; n++ {
		to := cloned(t, origin)
		there := newPC(t)
		f, err := os.Open(s.path(n))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Unpack(t.Context(), there.Client, f,
			UnpackOptions{Folder: to, File: s.path(n), Env: []string{"HOME=" + there.home}})
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatalf("snapshot %d: %v", n, err)
		}
		path, _ := worktree.PathOf(to, child)
		if n == 4 {
			gittest.WantFile(t, filepath.Join(path, "later.txt"), "later\n")
		} else if n > 1 {
			there.wantWorked(to, tree)
		}
		if info, err := os.Stat(filepath.Join(path, "big")); err != nil || info.Size() < 1<<20 {
			t.Errorf("snapshot %d: %v", n, err)
		}
	}
}

// A worktree that is out of the snapshots for a while comes back whole.
func TestAWorktreeThatIsGoneIsSaidAndComesBack(t *testing.T) {
	origin := gittest.Project(t)
	top := cloned(t, origin)
	s := newSnapped(t, top, 20)
	tree := s.withChild(top)
	s.seq = 2
	s.mustTake()
	if err := os.Rename(tree, tree+".away"); err != nil {
		t.Fatal(err)
	}
	if b := s.mustTake(); len(b.Told) != 1 || !strings.Contains(b.Told[0], "is not packed") {
		t.Errorf("told %q", b.Told)
	}
	if err := os.Rename(tree+".away", tree); err != nil {
		t.Fatal(err)
	}
	worked(t, tree)
	s.mustTake()
	to := cloned(t, origin)
	there := newPC(t)
	f, err := os.Open(s.path(3))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Unpack(t.Context(), there.Client, f,
		UnpackOptions{Folder: to, File: s.path(3), Env: []string{"HOME=" + there.home}})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	there.wantWorked(to, tree)
}

// Of a worktree that its agent has left only git's own files are looked at, until something was done in it.
func TestAWorktreeThatWasLeftIsReadOnce(t *testing.T) {
	top := cloned(t, gittest.Project(t))
	s := newSnapped(t, top, 20)
	tree := s.withChild(top)
	s.seq = 2
	left := func() supervisor.State {
		state := s.state()
		a := state.Agents.Get(child)
		a.Status, a.Worktree.State = checkpoints.Succeeded, checkpoints.WorktreeKept
		return state
	}
	take := func() string {
		t.Helper()
		if b := s.taker.Take(t.Context(), left(), s.seq, func() {}); b.Problem != "" {
			t.Fatal(b.Problem)
		}
		return entriesOf(t, s.path(s.taken))
	}
	gittest.Put(t, filepath.Join(tree, "one"), "one\n")
	if has := take(); !strings.Contains(has, treesPrefix) {
		t.Errorf("the first has %s", has)
	}
	gittest.Put(t, filepath.Join(tree, "two"), "two\n")
	if has := take(); strings.Contains(has, treesPrefix) {
		t.Error("it is read again")
	}
	gittest.Committed(t, tree, "by somebody else")
	if has := take(); !strings.Contains(has, treesPrefix) {
		t.Error("a commit is not seen")
	}
}

func entriesOf(t *testing.T, path string) string {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	rewrittenFile(t, file, func(e *forgedEntry) { names = append(names, e.Name) })
	return strings.Join(names, " ")
}

// rewrittenFile lets change alter each entry of a pack file.
func rewrittenFile(t *testing.T, file []byte, change func(*forgedEntry)) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	w := tar.NewWriter(zw)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		e := forgedEntry{*h, string(content)}
		change(&e)
		if e.Name == "" {
			continue
		}
		e.Size, e.Format = int64(len(e.content)), tar.FormatUnknown
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Neither the place of a worktree nor its branch is chosen by the file, and what the repository names is not run.
func TestAHostileWorktreeChoosesNothing(t *testing.T) {
	here := newPC(t)
	origin := gittest.Project(t)
	top := cloned(t, origin)
	here.waiting(top, conf.Config{})
	tree := here.withChild(top)
	worked(t, tree)
	file := here.mustPack()
	branch := "claude-supervise/" + packedRun + "/" + child
	agents := func(change func(w, agent map[string]any)) func(*forgedEntry) {
		return func(e *forgedEntry) {
			if e.Name != runName {
				return
			}
			var doc map[string]any
			if err := json.Unmarshal([]byte(e.content), &doc); err != nil {
				t.Fatal(err)
			}
			for _, a := range doc["agents"].([]any) {
				if a := a.(map[string]any); a["id"] == child {
					change(a["worktree"].(map[string]any), a)
				}
			}
			text, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			e.content = string(text)
		}
	}
	renamed := func(to string) func(*forgedEntry) {
		return func(e *forgedEntry) {
			if e.Name == treesPrefix+child+treesSuffix {
				e.Name = to
			}
		}
	}
	for name, c := range map[string]struct {
		change func(*forgedEntry)
		says   string
	}{
		"a branch of the person's": {agents(func(w, _ map[string]any) { w["branch"] = "topic" }), "its branch is"},
		"a branch out of its place": {agents(func(w, _ map[string]any) {
			w["branch"] = "claude-supervise/" + packedRun + "/../../topic"
		}), "its branch is"},
		"none in the run":    {agents(func(w, _ map[string]any) { w["state"] = "none" }), "no such worktree"},
		"no bundle":          {renamed(""), "it lacks its work"},
		"another's bundle":   {renamed(treesPrefix + packedAgent + treesSuffix), "does not belong in it"},
		"a bundle elsewhere": {renamed(treesPrefix + "../" + child + treesSuffix), "is not allowed"},
		"a commit that it is not of": {func(e *forgedEntry) {
			if e.Name == manifestName {
				head := gittest.GitIn(t, tree, "rev-parse", "HEAD")
				e.content = strings.ReplaceAll(e.content, head, gittest.GitIn(t, origin, "rev-parse", "HEAD"))
			}
		}, "does not belong to the commit"},
	} {
		to, there := cloned(t, origin), newPC(t)
		before := gittest.GitIn(t, to, "for-each-ref")
		_, err := there.unpack(rewrittenFile(t, file, c.change), UnpackOptions{Folder: to})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if path, _ := worktree.PathOf(to, child); gittest.GitIn(t, to, "for-each-ref") != before || onDisk(path) {
			t.Errorf("%s: something was made", name)
		}
	}

	to, there := cloned(t, origin), newPC(t)
	elsewhere := t.TempDir()
	if _, err := there.unpack(rewrittenFile(t, file, agents(func(w, a map[string]any) {
		w["path"], w["repo"], w["from"], w["tip"], a["cwd"] = elsewhere, elsewhere, "/etc", "main", "/etc/ssh"
	})), UnpackOptions{Folder: to}); err != nil {
		t.Fatal(err)
	}
	path, _ := worktree.PathOf(to, child)
	if a := there.loaded().Agents.Get(child); a.Worktree.Path != path || a.Cwd != path || a.Worktree.From != to ||
		a.Worktree.Repo != to || a.Worktree.Tip != "" {
		t.Errorf("the file has chosen %+v in %s", a.Worktree, a.Cwd)
	}
	if held, err := os.ReadDir(elsewhere); err != nil || len(held) > 0 {
		t.Errorf("something was put where the file says: %v, %v", held, err)
	}

	to = cloned(t, origin) // in which the branch has other commits
	gittest.GitIn(t, to, "commit", "--quiet", "--allow-empty", "-m", "mine")
	gittest.GitIn(t, to, "branch", branch)
	gittest.GitIn(t, to, "reset", "--quiet", "--hard", "HEAD^")
	mine := gittest.GitIn(t, to, "rev-parse", branch)
	if _, err := newPC(t).unpack(file, UnpackOptions{Folder: to}); !errors.Is(err, errNotClean) ||
		gittest.GitIn(t, to, "rev-parse", branch) != mine {
		t.Errorf("a branch with commits of its own: %v", err)
	}
}

func onDisk(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func TestWorktreesArePackedAndUnpackedWithoutRunningAnything(t *testing.T) {
	here, there := newPC(t), newPC(t)
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(base, "top")
	if err := os.Mkdir(top, 0o700); err != nil {
		t.Fatal(err)
	}
	gittest.InRepository(t, top)
	gittest.Put(t, filepath.Join(top, "sub", "a.txt"), "one\n")
	gittest.Put(t, filepath.Join(top, ".gitignore"), "*.ignored\n")
	gittest.Committed(t, top, "begin")
	to := cloned(t, top)
	here.waiting(top, conf.Config{})
	tree := here.withChild(top)
	worked(t, tree)
	if err := os.Mkdir(filepath.Join(base, "hostile"), 0o700); err != nil {
		t.Fatal(err)
	}
	ran := gittest.NamesPrograms(t, filepath.Join(base, "hostile"))
	config, err := os.ReadFile(filepath.Join(base, "hostile", ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{top, to} {
		if err := os.WriteFile(filepath.Join(folder, ".git", "config"), config, 0o600); err != nil {
			t.Fatal(err)
		}
		gittest.Put(t, filepath.Join(folder, ".git", "info", "attributes"), "* filter=x diff=x\n")
	}
	gittest.Put(t, filepath.Join(tree, ".gitattributes"), "* filter=x diff=x\n")
	if err := os.Remove(ran); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	file := here.mustPack()
	if _, err := there.unpack(file, UnpackOptions{Folder: to}); err != nil {
		t.Fatal(err)
	}
	path, _ := worktree.PathOf(to, child)
	gittest.WantFile(t, filepath.Join(path, "new.txt"), "new\n")
	gittest.WantFile(t, filepath.Join(path, "committed.txt"), "committed\n")
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("this was run: %s", text)
	}
	_ = exec.CommandContext(t.Context(), "git", "-C", path, "add", "--all").Run() // the filter is none
	if !onDisk(ran) {
		t.Error("git itself would run nothing there: the test sees nothing")
	}
}
