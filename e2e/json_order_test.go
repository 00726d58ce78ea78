package e2e

import "testing"

// Of --json a question is printed before anything is planned for it: so it stands before all that becomes of it.
func TestAQuestionIsPrintedBeforeWhatBecomesOfIt(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	printed := make(chan struct{})
	w.watches(func(_ int, p pass) {
		if p.point == "before notify" {
			<-printed // the run stands still meanwhile
		}
	})
	run := w.start("run", "--json", "--cwd", ".", "--demo", "ask", "--hold", "0", "--on-question", "ask")
	question := run.until("question")
	close(printed)
	run.until("parked")
	w.must("answer", question.Question.ID, "JWT")
	run.until("answered")
	run.until("run_done")
	asked := 0
	for _, e := range run.seen {
		if e.Type == "question" {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("the question is printed %d times", asked)
	}
}
