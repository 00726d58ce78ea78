package torture

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
	"golang.org/x/sync/errgroup"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
)

// A day is one home with one database, and the runs that share it.
type day struct {
	*machine.Machine
	t     *testing.T
	seed  uint64
	n     int
	dir   string
	real  string // the real CLI, "" for the stand-in
	total *totals
	runs  []*run
}

func newDay(t *testing.T, seed uint64, n int, total *totals, real bool) *day {
	t.Helper()
	dir, err := os.MkdirTemp("", "torture")
	if err != nil {
		t.Fatal(err)
	}
	m, err := machine.New(program, dir)
	if err != nil {
		t.Fatal(err)
	}
	d := &day{Machine: m, t: t, seed: seed, n: n, dir: dir, total: total}
	if real {
		d.real = claude.Program(t)
		d.Reaches("http://127.0.0.1:1") // the wrapper knows the address
	}
	return d
}

// rng gives a source of its own to each thing that chooses, so that its choices do not depend on when others choose.
func (d *day) rng(what string) *rand.Rand {
	h := uint64(14695981039346656037) // FNV-1a
	for _, c := range []byte(what) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return rand.New(rand.NewPCG(d.seed<<20|uint64(d.n), h))
}

// live lives through the day, and ends what is left of it.
func (d *day) live(ctx context.Context, size int) {
	d.t.Helper()
	var all errgroup.Group
	all.SetLimit(runsAtOnce)
	for i := range size {
		name := fmt.Sprintf("d%d-r%02d", d.n, i+1)
		r := d.prepare(planRun(d.rng("plan "+name), name))
		d.runs = append(d.runs, r)
		all.Go(func() error {
			r.live(ctx)
			return nil
		})
	}
	_ = all.Wait() // what goes wrong is told to the test
}

// prepare makes the folder of a run.
func (d *day) prepare(p runPlan) *run {
	d.t.Helper()
	r := newRun(d, p)
	if err := os.MkdirAll(r.cwd(), 0o700); err != nil {
		d.t.Fatal(err)
	}
	scenario := p.scenario()
	doc, err := yaml.Marshal(scenario)
	if err != nil {
		d.t.Fatal(err)
	}
	notes := map[string]string{"scenario.yaml": string(doc)}
	if d.real != "" {
		api := messagesapi.Serve(scenario, nil)
		d.t.Cleanup(api.Close)
		notes["claude"], notes["api"] = d.real, api.URL
	}
	for name, text := range notes {
		if err := os.WriteFile(filepath.Join(r.terminal, name), []byte(text), 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	return r
}

// read reads the program's records. A database that nobody has made yet holds nothing.
func (d *day) read(do func(context.Context, *checkpoints.Store) error) error {
	store, err := checkpoints.OpenReadOnly(d.Dirs)
	if err != nil {
		return err
	}
	return errors.Join(do(context.Background(), store), store.Close())
}

// called finds the run that was started under a name, nil if there is none.
func (d *day) called(name string) (found *checkpoints.Run, err error) {
	err = d.read(func(ctx context.Context, s *checkpoints.Store) error {
		all, err := s.Runs(ctx, true)
		for i := range all {
			if all[i].Name == name {
				found = &all[i]
			}
		}
		return err
	})
	return found, err
}

// forget removes the day.
func (d *day) forget() {
	if err := os.RemoveAll(d.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.t.Error(err)
	}
}

// pause rests, as people and killers do between two effects; false if the day is over.
func pause(ctx context.Context, rest time.Duration) bool {
	timer := time.NewTimer(rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// upTo draws a time.
func upTo(rng *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(rng.Int64N(int64(most)))
}
