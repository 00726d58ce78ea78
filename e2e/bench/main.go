// Command bench measures what a person or an agent waits for, with whole processes as they are used. Beside each figure
// it prints the machine's own floor, measured in the same minutes: what a bare write, a bare process or a bare program
// with the same libraries takes. A line is
//
//	name unit floor now now/floor target
//
// and says MISSED, and by how much, where the value does not reach the target. A value is a median unless the name says
// p99. With -base REF the program of that commit is built, too, and measured in the same run, in turns with the working
// tree's. A line then goes on with
//
//	base now/base spread
//
// The ratio is the median of the ratios of pairs that were measured right after one another, and the spread is its
// confidence interval of 99 %: slower and faster are said only where the interval does not hold 1. So a regression
// shows on a noisy machine, too.
//
// With -scale it looks for the bend: one supervisor of 1 to 10,000 agents, and 1 to 1,000 supervisors on one database.
//
// -history FILE adds a line for each figure to a file (history.go). make bench runs it. It fails only if something
// cannot be measured: how fast a shared machine is today proves nothing.
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
)

func main() {
	if os.Getenv(envAgent) != "" {
		os.Exit(playAgent())
	}
	var o options
	flag.StringVar(&o.base, "base", "", "measure the program of this commit, too, in turns with the working tree's")
	flag.DurationVar(&o.watch, "watch", 90*time.Second, "watch the waiting supervisor for at least this long")
	flag.StringVar(&o.only, "only", "", "measure only the parts whose names contain this")
	flag.StringVar(&o.history, "history", "", "add the figures to this file")
	flag.BoolVar(&o.scale, "scale", false, "measure 1 to 10,000 agents and 1 to 1,000 supervisors instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	base, only, history string
	watch               time.Duration
	scale               bool
}

// A bench is the programs that are measured, and the folder that everything happens in.
type bench struct {
	dir          string
	programs     []program // the working tree's, then the base's if there is one
	floor, least string    // the least program with the same libraries, and with cobra and SQLite alone
	idle         string    // the working tree's, which only prints a line
	self         string
	table        *table
}

func measure(ctx context.Context, o options) (err error) {
	b := &bench{}
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.programs, err = buildPrograms(ctx, b.dir, o.base); err != nil {
		return err
	}
	b.floor, b.least = filepath.Join(b.dir, "floor"), filepath.Join(b.dir, "bare")
	b.idle = filepath.Join(b.dir, "idle")
	b.table = &table{out: os.Stdout, paired: len(b.programs) > 1}
	b.table.head()
	if err := b.parts(ctx, o); err != nil {
		return err
	}
	if o.history == "" {
		return nil
	}
	return b.table.save(ctx, o.history, time.Now())
}

// parts measures those parts whose names contain what options name. The waiting supervisor is watched while the others
// are measured.
func (b *bench) parts(ctx context.Context, o options) error {
	const waitingPart = "waiting supervisor"
	if o.scale {
		return only(ctx, o.only, []part{{"agents", b.scaleAgents}, {"supervisors", b.scaleSupervisors}})
	}
	if strings.Contains(waitingPart, o.only) {
		waiting, err := b.wait(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", waitingPart, err)
		}
		defer waiting.end()
		if err := b.others(ctx, o.only); err != nil {
			return err
		}
		return waiting.report(ctx, b, o.watch)
	}
	return b.others(ctx, o.only)
}

func (b *bench) others(ctx context.Context, text string) error {
	return only(ctx, text, []part{
		{"binary", b.binary}, {"held answers", b.held}, {"parked answers", b.parked}, {"run", b.run},
		{"run of the real CLI", b.real}, {"flags of the real CLI", b.flags}, {"version", b.version}, {"ps", b.ps},
		{"fsyncs", b.fsyncs}, {"questions of the real CLI", b.inside}, {"crowd", b.crowd}, {"ends", b.ends},
		{"board", b.board},
	})
}

// A part is some of the figures.
type part struct {
	name string
	do   func(context.Context) error
}

// only measures those parts whose names contain a text.
func only(ctx context.Context, text string, parts []part) error {
	for _, p := range parts {
		if !strings.Contains(p.name, text) {
			continue
		}
		if err := p.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}
