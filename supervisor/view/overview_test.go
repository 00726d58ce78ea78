package view

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
)

// Whatever happens between two looks, an overview that keeps what it has decoded is the one that reads all anew.
func TestAnOverviewByMemoryIsTheOneThatIsReadAnew(t *testing.T) {
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	const runs = 12
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	var memory remembered
	var before Overview
	saved := map[string]checkpoints.Change{}
	for range 2 { // the second state takes the place of the first: the same records, and no answers in the inbox
		dirs := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
		store, err := checkpoints.Open(dirs)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		for _, c := range saved {
			if c.Run != nil {
				if err := store.Commit(t.Context(), c); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 100 {
			id := fmt.Sprintf("%08d", chance.IntN(runs))
			saved[id] = changed(t, chance, store, id, saved[id])
			r := Reader{Dirs: dirs, Store: store}
			fresh, err := r.overview(t.Context(), before, new(remembered))
			if err != nil {
				t.Fatal(err)
			}
			kept, err := r.overview(t.Context(), before, &memory)
			if err != nil {
				t.Fatal(err)
			}
			fresh.At = kept.At
			if !reflect.DeepEqual(fresh, kept) {
				t.Fatalf("it is\n%+v\nand was kept as\n%+v", fresh, kept)
			}
			before = kept
		}
	}
}

// changed does something to a run and its question, and gives their records; without a Run where it was pruned.
func changed(t *testing.T, chance *rand.Rand, store *checkpoints.Store, id string,
	c checkpoints.Change) checkpoints.Change {
	t.Helper()
	if c.Run == nil {
		c = parkedRun(id)
	}
	c.Lazy = true
	run, agent, question := *c.Run, *c.Agents[0], *c.Questions[0]
	switch chance.IntN(8) {
	case 0:
		run.Reason = fmt.Sprint(chance.IntN(3)) // so that it is sometimes what it was before
	case 1:
		agent.CostUSD++
	case 2:
		question.Text = fmt.Sprint("Which? ", chance.IntN(3))
	case 3:
		question.State = checkpoints.QuestionWithdrawn
	case 4: // in the inbox alone; refused where it is not open
		_, _ = store.Answer(context.Background(), checkpoints.InboxEntry{Question: question.ID,
			Value: fmt.Sprint(chance.IntN(3)), By: "a test", At: time.Now()})
	case 5:
		_, _ = store.ChangeAnswer(context.Background(), checkpoints.InboxEntry{Question: question.ID, Value: "other",
			By: "a test", At: time.Now()})
	case 6:
		run.Packed = "elsewhere.pack"
	case 7:
		now := checkpoints.Now()
		run.EndedAt, run.Status = &now, checkpoints.Succeeded
	}
	c.Run, c.Agents, c.Questions = &run, []*supervisor.Agent{&agent}, []*supervisor.Question{&question}
	if err := store.Commit(context.Background(), c); err != nil {
		t.Fatal(err)
	}
	if run.EndedAt != nil && chance.IntN(2) == 0 {
		if err := store.Remove(context.Background(), run.ID); err != nil {
			t.Fatal(err)
		}
		return checkpoints.Change{}
	}
	return c
}
