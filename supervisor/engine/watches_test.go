package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

// A watchedMachine counts who is told of its memory.
type watchedMachine struct {
	Machine
	watching *atomic.Int32
}

func (m watchedMachine) WatchMemory(ctx context.Context, _ func()) {
	m.watching.Add(1)
	<-ctx.Done()
	m.watching.Add(-1)
}

// A watchedDrop notes how its folders are followed.
type watchedDrop struct {
	FileDrop
	loose *bool
}

func (d watchedDrop) Loosen(loose bool) { *d.loose = loose }

func TestTheKernelIsAskedOnlyWhileThereMayBeLongToWait(t *testing.T) {
	at := func(end string, questions ...*supervisor.Question) supervisor.State {
		s := supervisor.State{Records: records.Records{Agents: table.Of(map[string]*supervisor.Agent{Root: {ID: Root}}),
			Launches: table.Of(map[string][]*supervisor.Launch{Root: {{Phase: checkpoints.LaunchTurn, End: end}}})}}
		for _, q := range questions {
			s.Questions.Put(q.ID, q)
		}
		return s
	}
	open := &supervisor.Question{ID: "q-1", Agent: Root, State: checkpoints.QuestionOpen}
	delivered := &supervisor.Question{ID: "q-1", Agent: Root, State: checkpoints.QuestionDelivered}
	synctest.Test(t, func(t *testing.T) {
		var watching atomic.Int32
		loose := true
		e := &engine{Supervisor: Supervisor{Machine: watchedMachine{watching: &watching}},
			fileDrop: watchedDrop{loose: &loose}}
		ctx, cancel := context.WithCancel(t.Context())
		for _, c := range []struct {
			when  string
			state supervisor.State
			grown bool
			want  int
		}{
			{when: "it has just begun", state: at("")},
			{when: "the first question is open", state: at("", open), want: 1},
			{when: "that is answered", state: at("", delivered), want: 1},
			{when: "all is done but the end of the process", state: at(supervisor.EndFinish, delivered)},
			{when: "it goes on all the same", state: at("", delivered), want: 1},
		} {
			e.state = c.state
			e.setWatches(ctx)
			synctest.Wait()
			if got := int(watching.Load()); got != c.want || loose == (c.want > 0) {
				t.Errorf("%s: %d watch the memory, and the folders are looked at now and then: %v", c.when, got, loose)
			}
		}
		e.watches = watches{grown: true}
		e.state = at("")
		e.setWatches(ctx)
		synctest.Wait()
		if got := watching.Load(); got != 2 || loose {
			t.Errorf("after a while %d watch", got)
		}
		cancel()
		_ = e.group.Wait()
		if got := watching.Load(); got != 0 {
			t.Errorf("%d watch after the end", got)
		}
	})
}
