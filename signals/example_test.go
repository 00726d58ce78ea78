package signals_test

import (
	"fmt"

	"claude-supervise/signals"
)

func ExampleScanner() {
	s := signals.NewScanner(signals.Config{AgentID: "a-7Qm2xK9fWb4T"})
	s.BeginMessage(signals.Main, "msg_1")
	heard := s.Text("Two databases are configured.\n\n[CLARIFICATION_NEEDED]\nagent_id: a-7Qm2x")
	heard = append(heard, s.Text("K9fWb4T\nquestions:\n  - Which one: Postgres or SQLite?\n[/CLARIFICATION_NEEDED]\n")...)
	for _, sig := range heard {
		fmt.Println(sig.Kind, "in line", sig.Line)
		for _, q := range sig.Questions {
			fmt.Println(q.ID, q.Text)
		}
	}
	// Output:
	// clarification_needed in line 3
	// Q1 Which one: Postgres or SQLite?
}
