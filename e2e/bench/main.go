// Command bench measures what a person or an agent waits for, with whole processes as they are used, and beside each
// figure the machine's own floor, measured in the same minutes: what a bare write, a bare process or a bare program
// with the same libraries takes. A line is
//
//	name value unit floor ratio target
//
// and says MISSED, and by how much, where the value does not reach the target of the design. Times are medians unless
// the name says p99. make bench runs it. It fails only if something cannot be measured: how fast a shared machine is
// today proves nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"claude-supervise/e2e/machine"
)

func main() {
	if os.Getenv(envAgent) != "" {
		os.Exit(playAgent())
	}
	watch := flag.Duration("watch", 90*time.Second, "watch the waiting supervisor for at least so long")
	only := flag.String("only", "", "measure only the parts whose names contain this, and no waiting supervisor")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *watch, *only); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A bench is the programs that are measured, and the folder that everything happens in.
type bench struct {
	dir                  string
	program, floor, self string
	table                table
}

func measure(ctx context.Context, watch time.Duration, only string) (err error) {
	b := &bench{table: table{out: os.Stdout}}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if err := machine.Build(b.dir, []string{"-trimpath"}, "cmd/claude-supervise", "e2e/bench/floor"); err != nil {
		return err
	}
	b.program, b.floor = filepath.Join(b.dir, "claude-supervise"), filepath.Join(b.dir, "floor")

	if only != "" {
		b.table.head()
		return b.parts(ctx, only)
	}
	waiting, err := b.wait(ctx) // watched while the others are measured
	if err != nil {
		return fmt.Errorf("waiting supervisor: %w", err)
	}
	defer waiting.end()
	b.table.head()
	if err := b.parts(ctx, ""); err != nil {
		return err
	}
	return waiting.tell(ctx, b, watch)
}

// parts measures those parts whose names contain a text.
func (b *bench) parts(ctx context.Context, only string) error {
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"held answers", b.held}, {"parked answers", b.parked}, {"run", b.run}, {"run of the real CLI", b.real},
		{"version", b.version}, {"ps", b.ps}, {"questions of the real CLI", b.inside}, {"crowd", b.crowd}, {"ends", b.ends},
	} {
		if !strings.Contains(part.name, only) {
			continue
		}
		if err := part.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}
