package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhoLooksAgainIsToldOnceWhatHasHappened(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	p := w.sitInTmux()
	looked := filepath.Join(w.Dirs.State, "looked")
	away := func() {
		before := time.Now().Add(-time.Hour)
		noError(t, os.Chtimes(looked, before, before))
	}
	run := strings.TrimSpace(w.must("run", "--detach", "--cwd", ".", "--demo", "ask", "--hold", "forever"))
	w.becomes("waiting")
	w.must("ps")
	if _, err := os.Lstat(looked); err == nil {
		t.Error("what reads a pipe counts as a person who looks")
	}
	p.keys("claude-supervise ps", "Enter")
	p.sees(`ps\nRUN .*\n(?s:.*)` + run)
	away()
	p.keys("clear; claude-supervise ps", "Enter")
	p.sees(`^since .*\d\d:\d\d: 1 waits\nRUN `)
	p.keys("clear; claude-supervise ps", "Enter")
	p.sees(`^RUN .*\n(?s:.*)\$$`)
	away()
	p.keys("clear; claude-supervise attach", "Enter")
	p.sees(`^since .*\d\d:\d\d: 1 waits\n(?s:.*)❯ 1\) JWT(?s:.*)\? help$`)
	p.keys("C-d")
	p.sees(`(?s)Detached; .*\n\$$`) // until then they look
	away()
	p.keys("clear; claude-supervise board", "Enter")
	p.sees(`\nSince .*\d\d:\d\d: 1 waits\.\n(?s:.*)q quit$`)
	p.keys("Down")
	p.sees(`\n❯ (?s:.*)\n\nEnter`)
	p.keys("q")
	p.sees(`\$$`)
	away()
	w.must("answer", "JWT")
	w.must("wait", run)
	p.keys("clear; claude-supervise ps", "Enter")
	p.sees(`^since .*\d\d:\d\d: 1 answered, 1 done \(<\$0\.01\)\nNo run is active`)
}
