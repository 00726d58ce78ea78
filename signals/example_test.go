package signals_test

import (
	"fmt"

	"claude-supervise/signals"
)

// The older forms carry no id: they are read when the turn ends.
func ExampleScanner_EndTurn() {
	s := signals.NewScanner(signals.Config{AgentID: "a-7Qm2xK9fWb4T"})
	s.BeginMessage(signals.Main, "msg_1")
	s.Text("PAUSED_FOR_INPUT: /tmp/state.json\n\nQuestion: Which database?\nA) Postgres\nB) SQLite\n")
	for _, sig := range s.EndTurn("") {
		fmt.Println(sig.Kind, "as", sig.Dialect, "with", sig.Field("state_file"))
		for _, o := range sig.Questions[0].Options {
			fmt.Println(sig.Questions[0].Text, o.Label)
		}
	}
	// Output:
	// clarification_needed as paused with /tmp/state.json
	// Which database? Postgres
	// Which database? SQLite
}

func ExampleScanner() {
	s := signals.NewScanner(signals.Config{AgentID: "a-7Qm2xK9fWb4T"})
	s.BeginMessage(signals.Main, "msg_1")
	found := s.Text("Two databases are configured.\n\n[CLARIFICATION_NEEDED]\nagent_id: a-7Qm2x")
	found = append(found, s.Text("K9fWb4T\nquestions:\n  - Which one: Postgres or SQLite?\n[/CLARIFICATION_NEEDED]\n")...)
	for _, sig := range found {
		fmt.Println(sig.Kind, "in line", sig.Line)
		for _, q := range sig.Questions {
			fmt.Println(q.ID, q.Text)
		}
	}
	// Output:
	// clarification_needed in line 3
	// Q1 Which one: Postgres or SQLite?
}
