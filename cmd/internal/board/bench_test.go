package board

import (
	"fmt"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

func manyAgents(n int) view.Overview {
	o := someRuns()
	for i := range n {
		o.Runs[0].Agents = append(o.Runs[0].Agents, view.AgentView{ID: fmt.Sprintf("a-%012d", i), Parent: "a-one", Depth: 1,
			Task: "Port one of the many files of this project.", Status: "running", Reason: "at work"})
	}
	return o
}

// From a key to what is to be written: see also the canvas, which writes only the rows that have changed.
func BenchmarkKeyToPaint(b *testing.B) {
	board := New(b.Context(), Config{Service: fakeService{},
		Question: func(q view.QuestionView) terminal.Question { return terminal.Question{ID: q.ID, Text: q.Question} },
		About:    func(int, view.Details) string { return "" }, Home: func(f string) string { return f }, Colours: true},
		func(func() any) {}, func(tea.Msg) {})
	now := time.Now()
	board.Update(manyAgents(1000), now)
	keys := []tea.KeyPressMsg{{Code: tea.KeyDown}, {Code: tea.KeyPgDown}, {Code: tea.KeyUp}, {Code: tea.KeyEnd},
		{Code: tea.KeyHome}}
	var took []time.Duration
	i := 0
	for b.Loop() {
		began := time.Now()
		board.Update(keys[i%len(keys)], now)
		board.Rows(140, 40, now)
		took = append(took, time.Since(began))
		i++
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds()), "p95-µs")
}

// What comes with each change of one of 1,000 agents.
func BenchmarkOverview(b *testing.B) {
	board := New(b.Context(), Config{Service: fakeService{}, Home: func(f string) string { return f },
		Question: func(q view.QuestionView) terminal.Question { return terminal.Question{ID: q.ID} }},
		func(func() any) {}, func(tea.Msg) {})
	o, now := manyAgents(1000), time.Now()
	for b.Loop() {
		board.Update(o, now)
		board.Rows(140, 40, now)
	}
}
