package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/text"
)

func changed(t *testing.T, folder string) string {
	t.Helper()
	text, err := ChangedInGit(t.Context(), folder, time.Now().Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheSurveyTellsWhatHasChangedInGit(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	at := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"changed", "deleted", "staged", "moved", "sub/ü", ".gitignore"} {
		gittest.Put(t, at(name), "one\ntwo\n")
	}
	gittest.Put(t, at(".gitignore"), "*.ignored\n")
	first := gittest.Committed(t, folder, "begin")
	if got, want := changed(t, folder),
		"Commits made here since you began, the last first:\n- "+first+" begin\n\n"; got != want {
		t.Errorf("after a commit %q, want %q", got, want)
	}
	gittest.Put(t, at("changed"), "one\n2\n3\n")
	gittest.Put(t, at("staged"), "")
	gittest.Put(t, at("sub/ü"), "one\x00")
	gittest.Put(t, at("added"), "a\n")
	gittest.GitIn(t, folder, "add", "staged", "added")
	gittest.Put(t, at("new/one"), "")
	gittest.Put(t, at("new/two"), "")
	gittest.Put(t, at("esc\x1b[2J\nape"), "")
	gittest.Put(t, at("x.ignored"), "")
	if err := errors.Join(os.Remove(at("deleted")), os.Rename(at("moved"), at("sub/moved"))); err != nil {
		t.Fatal(err)
	}
	index, err := os.ReadFile(at(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	want := `Not committed, by you or others, as git shows it:
- added: added (+1 -0 lines)
- changed: changed (+2 -1 lines)
- deleted: deleted (+0 -2 lines)
- deleted: moved (+0 -2 lines)
- changed: staged (+0 -2 lines)
- changed: sub/ü
- new, unknown to git: esc�[2J�ape
- new, unknown to git: new/
- new, unknown to git: sub/moved

Commits made here since you began, the last first:
- ` + first + ` begin

`
	if diff := cmp.Diff(want, changed(t, folder)); diff != "" {
		t.Error(diff)
	}
	want = `Not committed, by you or others, as git shows it:
- changed: ü
- new, unknown to git: moved

Commits made here since you began, the last first:
- ` + first + ` begin

`
	if diff := cmp.Diff(want, changed(t, at("sub"))); diff != "" {
		t.Error("in a folder of it:", diff)
	}
	if now, err := os.ReadFile(at(".git/index")); string(now) != string(index) || err != nil {
		t.Errorf("the index was written (%v)", err)
	}
	if text, err := ChangedInGit(t.Context(), folder, time.Now().Add(time.Hour)); strings.Contains(text, "Commits") ||
		err != nil {
		t.Errorf("before the agent began: %q, %v", text, err)
	}
}

func TestWhatIsInNoRepositoryHasNotChanged(t *testing.T) {
	plain, broken, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.Put(t, filepath.Join(broken, ".git", "config"), "[core]\n")
	gittest.Put(t, filepath.Join(elsewhere, ".git"), "gitdir: /dev/null\n")
	for _, folder := range []string{plain, filepath.Join(plain, "gone")} {
		if text, err := ChangedInGit(t.Context(), folder, time.Now()); text != "" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
	}
	for _, folder := range []string{broken, elsewhere} {
		if text, err := ChangedInGit(t.Context(), folder, time.Now()); text != "" || err == nil {
			t.Errorf("%q, %v", text, err)
		}
	}
}

func TestBeforeTheFirstCommitAllIsNew(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	if got := changed(t, folder); got != "" {
		t.Errorf("in an empty repository: %q", got)
	}
	gittest.Put(t, filepath.Join(folder, "a"), "one\n")
	gittest.GitIn(t, folder, "add", "a")
	gittest.Put(t, filepath.Join(folder, "b"), "two\n")
	want := "Not committed, by you or others, as git shows it:\n- added: a (+1 -0 lines)\n- new, unknown to git: b\n\n"
	if diff := cmp.Diff(want, changed(t, folder)); diff != "" {
		t.Error(diff)
	}
}

func TestAConflictIsToldAsOne(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	gittest.Put(t, filepath.Join(folder, "a"), "base\n")
	gittest.Committed(t, folder, "base")
	gittest.GitIn(t, folder, "checkout", "--quiet", "-b", "other")
	gittest.Put(t, filepath.Join(folder, "a"), "theirs\n")
	gittest.Committed(t, folder, "theirs")
	gittest.GitIn(t, folder, "checkout", "--quiet", "topic")
	gittest.Put(t, filepath.Join(folder, "a"), "ours\n")
	gittest.Committed(t, folder, "ours")
	merge := exec.Command("git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@localhost",
		"merge", "--quiet", "other")
	if err := merge.Run(); err == nil {
		t.Fatal("there is no conflict")
	}
	if got := changed(t, folder); !strings.Contains(got, "- in conflict: a") {
		t.Errorf("got %q", got)
	}
}

// A repository names programs for everything; none of them may run because an agent was parked in it.
func TestNoProgramOfTheRepositoryRunsForASurvey(t *testing.T) {
	folder := t.TempDir()
	ran := gittest.NamesPrograms(t, folder)
	gittest.Put(t, filepath.Join(folder, "a.txt"), "two\n")
	gittest.Put(t, filepath.Join(folder, "new"), "two\n")
	if err := os.RemoveAll(ran); err != nil { // what the setting up ran
		t.Fatal(err)
	}
	got := changed(t, folder)
	for _, want := range []string{"- changed: a.txt (+1 -1 lines)", "- new, unknown to git: new", " begin\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if text, err := os.ReadFile(ran); err == nil {
		t.Errorf("ran:\n%s", text)
	}
	_ = exec.Command("git", "-C", folder, "diff").Run() // whatever it makes of that
	if _, err := os.Stat(ran); err != nil {
		t.Errorf("git runs none of them anyway: %v", err)
	}
}

func TestWithoutGitNothingHasChanged(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	t.Setenv("PATH", t.TempDir())
	if text, err := ChangedInGit(t.Context(), folder, time.Now()); text != "" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAnIndexThatIsNoneHoldsNobody(t *testing.T) {
	for name, spoil := range map[string]func(index string) error{
		"a FIFO":   func(index string) error { return unix.Mkfifo(index, 0o600) },
		"a folder": func(index string) error { return os.Mkdir(index, 0o700) },
		"too large": func(index string) error {
			return errors.Join(os.WriteFile(index, nil, 0o600), os.Truncate(index, maxGitIndex+1))
		},
		"garbage": func(index string) error { return os.WriteFile(index, []byte("index"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			gittest.InRepository(t, folder)
			gittest.Put(t, filepath.Join(folder, "a"), "")
			gittest.Committed(t, folder, "begin")
			index := filepath.Join(folder, ".git", "index")
			if err := errors.Join(os.Remove(index), spoil(index)); err != nil {
				t.Fatal(err)
			}
			if text, err := ChangedInGit(t.Context(), folder, time.Now()); text != "" || err == nil {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

func TestManyChangesAreToldInBounds(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	long := strings.Repeat("n", 240)
	for i := range 400 {
		gittest.Put(t, filepath.Join(folder, fmt.Sprint(i, long)), "")
	}
	got := changed(t, folder)
	if n := strings.Count(got, "\n- "); n != maxGitChanges+1 || !strings.HasSuffix(got, "n…\n- and more\n\n") {
		t.Errorf("%d lines, ending %q", n, got[max(0, len(got)-40):])
	}
	if most := (maxGitChanges + 2) * (text.MaxGitLine + 40); len(got) > most {
		t.Errorf("%d bytes", len(got))
	}
}

func TestASurveyDoesNotWaitForGitLongerThanItsTime(t *testing.T) {
	folder := t.TempDir()
	gittest.InRepository(t, folder)
	t.Setenv("TMPDIR", t.TempDir())
	why := errors.New("time is up")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if text, err := ChangedInGit(ctx, folder, time.Now()); text != "" || !errors.Is(err, why) {
		t.Errorf("%q, %v", text, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

// FuzzChangesOf feeds what git might print of names that somebody made up.
func FuzzChangesOf(f *testing.F) {
	f.Add(" M a\x00?? b\x00UU c", "1\t2\ta\x00-\t-\tb\x00\x001\t\x00\t\t")
	f.Add("A  sub/\x1b[2J\n\x00x\x00 D \xff\xfe", "3\t0\tsub/\x1b[2J\n")
	f.Fuzz(func(t *testing.T, status, counts string) {
		s := &Shadow{Prefix: "sub"}
		entries := strings.Split(status, "\x00")
		changes := s.changesOf(entries, strings.Split(counts, "\x00"))
		if len(changes) > len(entries) {
			t.Fatalf("%d changes of %d entries", len(changes), len(entries))
		}
		for _, change := range changes {
			if !utf8.ValidString(change) || strings.ContainsFunc(change, unicode.IsControl) {
				t.Fatalf("%q is no line of text", change)
			}
		}
	})
}
