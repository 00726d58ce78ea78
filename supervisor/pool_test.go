package supervisor

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

func item(i int, text string) task.Child {
	return task.Child{Agent: fmt.Sprint(i),
		Work: task.Work{Task: "Read " + text, Said: checkpoints.Delegated{Name: fmt.Sprintf("title %d", i), Item: text}}}
}

func TestATableTellsOfEachTaskInTheOrderInWhichItIsStated(t *testing.T) {
	w := states(t, "", item(1, "z\nwhole"), item(2, "a"), task.Child{Agent: "3", Work: task.Work{Task: "Read b\nand c"}})
	w.works("1", "success")
	w.works("2", "failed")
	want := &notice.Table{
		Counts: map[Status]int{checkpoints.Succeeded: 1, checkpoints.Failed: 1, checkpoints.Starting: 1},
		Rows: []notice.Row{
			{Item: "z\nwhole", Title: "title 1", Agent: w.names["1"], Status: checkpoints.Succeeded,
				Summary: "1 came to success"},
			{Item: "a", Title: "title 2", Agent: w.names["2"], Status: checkpoints.Failed, Summary: "2 came to failed"},
			{Item: "Read b", Title: "Read b", Agent: w.names["3"], Status: checkpoints.Starting, Summary: "launch 1"},
		},
	}
	if diff := cmp.Diff(want, w.State.Table()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestOnlyAGroupAndAPoolHaveATable(t *testing.T) {
	if states(t, "", stated("a", "")).State.Table() == nil {
		t.Error("a group has none")
	}
	if pool := states(t, "Put it together", item(1, "a")).State; pool.Table() == nil || !pool.Pool() {
		t.Error("a pool has none")
	}
	if flow := states(t, "Put it together", stated("a", "")).State; flow.Table() != nil || flow.Pool() {
		t.Error("a task whose agent reports has one")
	}
	if Begin(t, nil).State.Table() != nil {
		t.Error("a run of one agent has one")
	}
}

func TestAGroupOfManyTasksSaysHowManyHaveNotSucceeded(t *testing.T) {
	w := states(t, "", item(1, "a"), item(2, "b"), item(3, "c"))
	w.works("1", "failed")
	w.works("2", "success")
	w.works("3", "partial_success")
	want := "2 of 3 tasks have not succeeded, among them title 1 (" +
		w.names["1"] + "): reported failure: 1 came to failed"
	if got := w.State.Agents.Get(Root).Reason; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestTheRootReadsAPoolInOneTableWithWhatFailedFirst(t *testing.T) {
	var all []task.Child
	for i := range 600 {
		all = append(all, item(i, fmt.Sprintf("file %d\nwith two lines", i)))
	}
	w := states(t, "Put it together", all...)
	for i := range all {
		status := "success"
		if i == 599 {
			status = "failed"
		}
		w.works(fmt.Sprint(i), status)
	}
	if n := len(w.State.Agents.Get(Root).Outbox); n != 0 {
		t.Errorf("%d sayings wait for it", n)
	}
	w.are("root starting")
	prompt := w.lastPrompt("root")
	_, told, _ := strings.Cut(prompt, "## YOUR TASK\n\nPut it together")
	for _, part := range []string{
		"## DELEGATED WORK ENDED\n\nTasks: 600 (599 succeeded, 1 failed)\n- file 599 (" + w.names["599"] +
			") failed: 599 came to failed\n- file 0 (",
		" more\nAll of it: claude-supervise show " + RunID + " --json, under tasks",
	} {
		if !strings.Contains(told, part) {
			t.Errorf("it is not told %q:\n%s", part, text.Truncate(told, 1000))
		}
	}
	if len(told) > maxPoolTold+1000 {
		t.Errorf("it is told %d bytes of its pool", len(told))
	}
}
