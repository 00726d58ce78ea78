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
// left out.
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
	trace := filepath.Join(h.cwd, "..", "strace")
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
