package e2e

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"claude-supervise/e2e/machine"
	"claude-supervise/examples"
)

// A pass is one passing of a point.
type pass struct {
	life  int // of the run's supervisors the how manieth, from 1; 0: another command
	point string
	n     int // how often this process has passed it by then
}

func (p pass) String() string { return fmt.Sprintf("%s #%d of life %d", p.point, p.n, p.life) }

// A lookout stands at the points of every process of one world. Each stands still at a point until at has returned.
type lookout struct {
	at func(pid int, p pass)

	mu     sync.Mutex
	passes []pass
	count  map[int]map[string]int // by pid and point
	lives  map[int]int            // by pid
}

// watches lets a lookout stand at the points of the world's processes that are started from now on.
func (w *world) watches(at func(pid int, p pass)) *lookout {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "points")
	listener, err := net.Listen("unix", path)
	noError(w.t, err)
	w.t.Cleanup(func() { _ = listener.Close() })
	l := &lookout{at: at, count: map[int]map[string]int{}, lives: map[int]int{}}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go l.stand(w.t, conn)
		}
	}()
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_TEST_POINTS="+path)
	return l
}

func (l *lookout) stand(t *testing.T, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		number, point, _ := strings.Cut(lines.Text(), " ")
		pid, err := strconv.Atoi(number)
		if err != nil {
			t.Errorf("it passes %q", lines.Text())
			return
		}
		p := l.note(pid, point)
		l.at(pid, p)
		if _, err := fmt.Fprintln(conn, "continue"); err != nil {
			return // it was killed
		}
	}
}

func (l *lookout) note(pid int, point string) pass {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count[pid] == nil {
		l.count[pid] = map[string]int{}
	}
	if _, supervises := l.lives[pid]; !supervises && !strings.Contains(point, " note ") {
		l.lives[pid] = len(l.lives) + 1
	}
	l.count[pid][point]++
	p := pass{life: l.lives[pid], point: point, n: l.count[pid][point]}
	l.passes = append(l.passes, p)
	return p
}

// seen returns what was passed, each once.
func (l *lookout) seen() []pass {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []pass
	for _, p := range l.passes {
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	return all
}

// A victim is who is killed at a point.
type victim string

const (
	theSupervisor victim = "the supervisor"
	theChild      victim = "the child"
	both          victim = "both"
)

// kill kills at a point: the supervisor that has passed it, its agent's process, or both.
func (w *world) kill(who victim, supervisor int) {
	if who != theSupervisor {
		for _, pid := range w.agentProcesses() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
	if who != theChild {
		_ = syscall.Kill(supervisor, syscall.SIGKILL)
	}
}

// agentProcesses returns the agents' own processes of this world, without what those have started.
func (w *world) agentProcesses() []int {
	marked := machine.With(machine.InHome(w.Home), "CLAUDE_SUPERVISE_LAUNCH=")
	return slices.DeleteFunc(slices.Clone(marked), func(pid int) bool { return slices.Contains(marked, machine.Parent(pid)) })
}

// recorded makes the agent a script that complains, in the file twoAtOnce, if another of its kind still lives, and then
// becomes the agent.
func (w *world) recorded(tl killScenario, s examples.Scenario) {
	w.t.Helper()
	agent := fmt.Sprintf("%q stand-in %q", w.Program, absolute(w.t, tl.scenario))
	for _, v := range w.Env {
		if path, ok := strings.CutPrefix(v, "CLAUDE_SUPERVISE_CLAUDE="); ok {
			agent = strconv.Quote(path)
		}
	}
	if tl.agent != "" {
		agent = fmt.Sprintf("/bin/sh %q", absolute(w.t, tl.agent))
	}
	script := fmt.Sprintf(
		"#!/bin/sh\nexec 9>>%[1]q/agent.$CLAUDE_SUPERVISE_AGENT.lock\nflock -n 9 || echo two >> %[2]q\nexec %[3]s \"$@\"\n",
		w.Home, w.twoAtOnce(), agent)
	path := filepath.Join(w.Home, "claude")
	noError(w.t, os.WriteFile(path, []byte(script), 0o700))
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+path)
	w.agent = []string{s.Prompt}
	if tl.agent != "" {
		w.agent = []string{"--exec", path, s.Prompt}
	}
}

// absolute returns the path of a file that is named from this folder; the name of a built-in scenario is none.
func absolute(t *testing.T, file string) string {
	t.Helper()
	if filepath.Ext(file) == "" {
		return file
	}
	path, err := filepath.Abs(file)
	noError(t, err)
	return path
}

func (w *world) twoAtOnce() string { return filepath.Join(w.Home, "two-at-once") }
