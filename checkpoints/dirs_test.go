package checkpoints

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"

	"claude-supervise/checkpoints/files"

	"github.com/google/go-cmp/cmp"
)

func TestDirsFollowTheEnvironment(t *testing.T) {
	own := fmt.Sprintf("/tmp/claude-supervise-%d", os.Getuid())
	long := t.TempDir() + "/" + strings.Repeat("x", 90)
	noError(t, os.Mkdir(long, 0o700))
	for name, c := range map[string]struct {
		home, state, runtime string
		want                 Dirs
	}{
		"neither": {"/home/me", "", "", Dirs{"/home/me/.local/state/claude-supervise", own}},
		"both": {"/home/me", "/state", "/tmp",
			Dirs{"/state/claude-supervise", "/tmp/claude-supervise"}},
		"relative ones are ignored":       {"/home/me", "state", ".", Dirs{"/home/me/.local/state/claude-supervise", own}},
		"a runtime folder that is gone":   {"/home/me", "/state", "/nowhere", Dirs{"/state/claude-supervise", own}},
		"a runtime folder that is a file": {"/home/me", "/state", "/dev/null", Dirs{"/state/claude-supervise", own}},
		"one too long for a socket":       {"", "/state", long, Dirs{"/state/claude-supervise", own}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", c.home)
			t.Setenv("XDG_STATE_HOME", c.state)
			t.Setenv("XDG_RUNTIME_DIR", c.runtime)
			if got, err := DefaultDirs(); got != c.want || err != nil {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
	t.Setenv("XDG_STATE_HOME", "")
	for _, home := range []string{"", "home"} {
		t.Setenv("HOME", home)
		if got, err := DefaultDirs(); err == nil {
			t.Errorf("with HOME %q: %v", home, got)
		}
	}
}

func TestPathsAreThoseOfTheLayout(t *testing.T) {
	d := Dirs{State: "/s", Runtime: "/b"}
	for got, want := range map[string]string{
		d.Database():                         "/s/state.db",
		d.RunDir(testRun):                    "/s/runs/r-k3v9x2ab",
		d.Lock(testRun):                      "/s/runs/r-k3v9x2ab/owner.lock",
		d.AgentLog(testRun, testAgent):       "/s/runs/r-k3v9x2ab/a-7Qm2xK9fWb4T.jsonl",
		d.CheckpointFile(testRun, testAgent): "/s/runs/r-k3v9x2ab/a-7Qm2xK9fWb4T.checkpoint.json",
		d.wakerPath(testRun):                 "/b/r-k3v9x2ab.sock",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestIDsHaveTheirFormAndUseTheirWholeAlphabet(t *testing.T) {
	for prefix, form := range map[string]struct {
		pattern  string
		alphabet int
	}{
		RunPrefix:      {`^r-[0-9a-z]{8}$`, 36},
		AgentPrefix:    {`^a-[0-9A-Za-z]{12}$`, 62},
		QuestionPrefix: {`^q-[2-9a-hjkmnp-z]{6}$`, 31},
	} {
		pattern := regexp.MustCompile(form.pattern)
		used := map[rune]bool{}
		seen := map[string]bool{}
		for range 2000 {
			id := NewID(prefix, rand.Reader)
			if !pattern.MatchString(id) || !PlainID(id) {
				t.Fatalf("%q does not look like %s", id, form.pattern)
			}
			if seen[id] {
				t.Fatalf("%q twice", id)
			}
			seen[id] = true
			for _, c := range id[len(prefix):] {
				used[c] = true
			}
		}
		if len(used) != form.alphabet {
			t.Errorf("%s uses %d characters, want %d", prefix, len(used), form.alphabet)
		}
	}
}

func TestNoCharacterOfAnIDIsLikelierThanAnother(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	drawn := draw(bytes.NewReader(every), base62, 248) // 4 × 62: bytes 248 to 255 are not used
	for _, c := range base62 {
		if n := strings.Count(drawn, string(c)); n != 4 {
			t.Errorf("%c came %d times of 4", c, n)
		}
	}
	skipped := draw(bytes.NewReader([]byte{255, 248, 247, 1}), base62, 2)
	if skipped != "z1" {
		t.Errorf("drew %q", skipped)
	}
}

func TestAnIDIsNotMadeWithoutRandomnessOrAKnownPrefix(t *testing.T) {
	for name, call := range map[string]func(){
		"no randomness":  func() { NewID(RunPrefix, iotest.ErrReader(os.ErrClosed)) },
		"unknown prefix": func() { NewID("x-", rand.Reader) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			call()
		}()
	}
}

func TestAPlainIDCanStandAsAFileName(t *testing.T) {
	for id, want := range map[string]bool{
		"q-h4k7mp": true, "wf_1.auth-2": true, strings.Repeat("x", 128): true,
		"": false, ".": false, "..": false, ".hidden": false, "a/b": false, `a\b`: false, "a b": false, "a\x00": false,
		"ä": false, "a\n": false, strings.Repeat("x", 129): false,
	} {
		if PlainID(id) != want {
			t.Errorf("%q: %v", id, !want)
		}
	}
}

func TestRunDirsAreThoseOfRunsOnly(t *testing.T) {
	d := dirsAt(t)
	if runs, err := d.RunDirs(); runs != nil || err != nil {
		t.Errorf("where nothing is: %v, %v", runs, err)
	}
	for _, run := range []string{"r-bbbbbbbb", "r-aaaaaaaa", "a-aaaaaaaaaaaa", ".r-hidden00", "r-"} {
		noError(t, os.MkdirAll(d.RunDir(run), 0o700))
	}
	if err := errors.Join(os.WriteFile(d.RunDir("r-file0000"), nil, 0o600),
		os.Symlink("/", d.RunDir("r-link0000"))); err != nil {
		t.Fatal(err)
	}
	runs, err := d.RunDirs()
	if diff := cmp.Diff([]string{"r-aaaaaaaa", "r-bbbbbbbb"}, runs); diff != "" || err != nil {
		t.Error(err, diff)
	}
}

func TestEveryFolderThatGetsANewOneIsSynced(t *testing.T) {
	above := t.TempDir()
	d := Dirs{State: filepath.Join(above, "one", "two", "state")}
	var synced []string
	record := func(dir string) error { synced = append(synced, dir); return files.SyncDir(dir) }
	for range 2 { // the second time there is nothing to make
		noError(t, d.makeState(record))
	}
	want := []string{filepath.Join(above, "one", "two"), filepath.Join(above, "one"), above}
	if diff := cmp.Diff(want, synced); diff != "" {
		t.Error(diff)
	}
}
