package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/client"
)

// fsyncTimes is how often the fsyncs of a run are counted.
const fsyncTimes = 9

// fsyncs counts how often a run with one question waits for the disk, as strace sees it. Without strace the figure is
// left out. There are eleven, and one more where the answer is there before the turn that asks is over, as it may be
// here: that there is an answer is saved by itself then, before it is shown, and not with that it is on its way.
//
//	the header of a new log, its name   SQLite writes nothing into a log before. So a header that is none is damage,
//	                                    and is told as such: a power cut leaves no such log (checkpoints/look.go)
//	the run                             before its id is shown
//	the question                        before it is shown
//	its file in pending/                so that a power cut leaves all of it or none
//	that its answer is on the way       before the agent reads it: it cannot be changed any more
//	its file in answered/               as in pending/
//	the line in the audit log           before the file in pending/ is removed
//	the report                          before it is shown
//	the log, then the database          the end of the run, and all that was lazy; the log is removed then
//
// Without the first a new log could be begun lazily: that is ten, and was tried. The test of power cuts then finds a
// log without a header, which nothing tells from one that held answers and was damaged.
func (b *bench) fsyncs(ctx context.Context) error {
	strace, err := exec.LookPath("strace")
	if err != nil {
		_, _ = fmt.Fprintln(b.table.out, "fsyncs are not counted: there is no strace")
		return nil
	}
	homes, err := b.homes("fsyncs")
	if err != nil {
		return err
	}
	f := figure{name: "fsyncs of a run with a question", unit: "", values: make([]samples, len(homes)), target: 10}
	for i := range fsyncTimes + 1 {
		for which, h := range homes {
			n, err := h.countFsyncs(ctx, strace)
			if err != nil {
				return fmt.Errorf("%s: %w", h.program.name, err)
			}
			if i > 0 { // the first makes the database
				f.values[which] = append(f.values[which], float64(n))
			}
		}
	}
	b.table.add(f)
	return nil
}

func (h home) countFsyncs(ctx context.Context, strace string) (n int, err error) {
	trace := filepath.Join(h.Cwd, "..", "strace")
	s, err := supervise(h.questions(1).command(ctx, strace, "-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", trace,
		h.program.path, "run", "--json", "--on-question", "ask", "--hold", "forever", "--claude", h.self, task))
	if err != nil {
		return 0, err
	}
	e, err := s.until("question")
	if err != nil {
		return 0, err
	}
	store, err := checkpoints.Open(h.Dirs)
	if err != nil {
		return 0, err
	}
	c := client.Client{Dirs: h.Dirs, Store: store}
	err = c.Answer(ctx, e.Question.ID, client.Answer{Text: "an answer", By: "bench"})
	if err := errors.Join(err, c.Close(), s.finish()); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(trace)
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("sync(")) { // one that was interrupted is resumed on a line of its own
			n++
		}
	}
	return n, err
}
