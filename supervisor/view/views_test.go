package view

import (
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/storetest"
)

// What is saved at once is seen at once: a run and its agents stand as they stood together.
func TestARunIsSeenAsItStoodAtOneMoment(t *testing.T) {
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-moment01")
	save := func(status supervisor.Status) {
		s.Run.Status = status
		s.Commit(checkpoints.Change{Run: &s.Run,
			Agents: []*supervisor.Agent{{ID: s.Run.Root, Run: s.Run.ID, Status: status}}})
	}
	save(checkpoints.Running)
	store, err := checkpoints.OpenReadOnly(dirs)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	over := make(chan struct{})
	go func() {
		defer close(over)
		for range 200 {
			save(checkpoints.Waiting)
			save(checkpoints.Running)
		}
	}()
	r := Reader{Dirs: dirs, Store: store}
	for {
		views, err := r.Runs(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		one, err := r.Run(t.Context(), s.Run.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range append(views, one) {
			if v.Status != v.Agents[0].Status {
				t.Fatalf("the run is %s, and its agent %s", v.Status, v.Agents[0].Status)
			}
		}
		select {
		case <-over:
			return
		default:
		}
	}
}
