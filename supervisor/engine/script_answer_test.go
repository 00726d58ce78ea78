package engine_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/examples"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/task"
)

// A slowMachine never comes to tell that a file is gone: the turn that took it always ends before. What it saw in the
// file it still knows.
type slowMachine struct {
	engine.Machine
	drop chan<- engine.FileDrop
}

func (m slowMachine) OpenFileDrop(run string, news chan<- supervisor.FileEvent) (engine.FileDrop, error) {
	seen := make(chan supervisor.FileEvent)
	go func() {
		for f := range seen {
			if !f.Gone {
				news <- f
			}
		}
	}()
	drop, err := m.Machine.OpenFileDrop(run, seen)
	slow := &slowDrop{FileDrop: drop}
	m.drop <- slow
	return slow, err
}

// A slowDrop has one file.
type slowDrop struct {
	engine.FileDrop
	mu  sync.Mutex
	saw string
}

func (d *slowDrop) Saw(id string) (answer string, seen bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if answer, seen := d.FileDrop.Saw(id); seen {
		d.saw = answer
	}
	return d.saw, d.saw != ""
}

// Somebody writes an answer file, the script takes it and its turn ends, all before it is told that the file is gone.
// The question is answered all the same.
func TestAnAnswerThatAScriptTakesAsItsTurnEndsCounts(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\n: > " + bin + "/waits\nwhile [ ! -e " + bin + "/go ]; do /bin/sleep 0.01; done\n"
	if err := os.WriteFile(filepath.Join(bin, "sleep"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d, drop := newTestBench(t, "MAX_QUICK_WAIT=300", "PATH="+bin+":"+os.Getenv("PATH")), make(chan engine.FileDrop, 1)
	d.Machine = slowMachine{d.Machine, drop}
	s, err := examples.Load("document-update-review")
	if err != nil {
		t.Fatal(err)
	}
	answer := sync.OnceFunc(func() {
		id := d.asked().File.ID
		go func() {
			for _, err := os.Stat(filepath.Join(bin, "waits")); err != nil; _, err = os.Stat(filepath.Join(bin, "waits")) {
				time.Sleep(time.Millisecond) // else the script might take the answer before anybody has seen it
			}
			if err := os.WriteFile(filepath.Join(d.claude, "answers", id+".txt"), []byte("merge\n"), 0o600); err != nil {
				t.Error(err)
			}
			for drop := <-drop; ; time.Sleep(time.Millisecond) {
				if _, seen := drop.Saw(id); seen {
					break
				}
			}
			if err := os.WriteFile(filepath.Join(bin, "go"), nil, 0o600); err != nil {
				t.Error(err)
			}
		}()
	})
	d.Open = func(_ supervisor.State, open []*supervisor.Question) {
		if len(open) > 0 && open[0].File != nil {
			answer()
		}
	}
	out, err := d.Start(t.Context(), task.Task{Prompt: s.Prompt, Cwd: t.TempDir(), Config: conf.Config{
		Demo: s.Name, Flags: s.ClaudeFlags, MaxHeld: -1, Relaunch: conf.Resume}}, conf.Park)
	if err != nil {
		t.Fatal(err)
	}
	if out.Run.Status != checkpoints.Succeeded {
		t.Errorf("the run is %s: %s", out.Run.Status, out.Run.Reason)
	}
	if q := d.asked(); q.State != checkpoints.QuestionDelivered || q.Answer != "merge" {
		t.Errorf("the question is %s with the answer %q", q.State, q.Answer)
	}
}

// asked returns the only question that there is.
func (d *testBench) asked() checkpoints.Question {
	d.t.Helper()
	qs, err := d.store.Questions(d.t.Context(), checkpoints.QuestionFilter{})
	if err != nil || len(qs) != 1 {
		d.t.Fatalf("%d questions (%v)", len(qs), err)
	}
	return qs[0]
}
