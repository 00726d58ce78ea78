package supervisor

import (
	"fmt"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
)

// BenchmarkQuestionAfterManyQuestions is what one question in a call costs from asking to receipt, four events with
// their plans and their changes, in a session that has asked so many before.
func BenchmarkQuestionAfterManyQuestions(b *testing.B) {
	for _, n := range []int{0, 100, 1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			s := askedBefore(n)
			at := s.Run.StartedAt.Add(24 * time.Hour)
			ask := askUser("q-now")
			var next State
			do := func(s State, body Event) State {
				var err error
				if next, err = Step(s, Happened{At: at, Event: body}); err != nil {
					b.Fatal(err)
				}
				records.Changes(s.Records, next.Records)
				Plan(next)
				return next
			}
			for b.Loop() {
				s := do(s, ask)
				s = do(s, InboxRead{Notes: []InboxEntry{{Seq: 1, Run: RunID, Kind: EntryAnswer, Question: "q-now",
					Value: "SQLite", By: "terminal", At: at}}})
				var uuid string
				for _, e := range Plan(s) {
					if e.Do == effect.Deliver {
						uuid = e.Delivery
					}
				}
				s = do(s, Sent{UUID: uuid, Launch: 1})
				do(s, Received{UUID: uuid, State: checkpoints.DeliveryDelivered})
			}
			if q := next.Questions.Get("q-now"); q.State != checkpoints.QuestionDelivered {
				b.Fatalf("the question is %s", q.State)
			}
		})
	}
}

// askedBefore is an agent at work, who was answered n questions in calls.
func askedBefore(n int) State {
	at := time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)
	s := State{}
	for _, body := range []Event{
		Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database",
			Config: conf.Config{Hold: conf.DefaultHold, MaxHeld: -1}},
		Opened{PID: 1, Waker: "/tmp/wake-up", Policy: conf.Ask}, Started{Agent: Root, Launch: 1, PID: 100},
		TurnBegun{Agent: Root, Launch: 1},
	} {
		var err error
		if s, err = Step(s, Happened{At: at, Event: body}); err != nil {
			panic(err)
		}
	}
	for i := range n {
		at := at.Add(time.Duration(i) * time.Second)
		call := checkpoints.ToolCall{Launch: 1, Request: fmt.Sprint("r", i), ToolUse: fmt.Sprint("t", i),
			Name: ask.AskUserQuestion}
		q := &Question{
			ID: fmt.Sprint("q-", i), Run: RunID, Agent: Root, Group: fmt.Sprint("q-", i),
			Kind: questions.AskClarification, State: checkpoints.QuestionDelivered,
			Wording: checkpoints.Wording{Text: "Which?"}, Origin: checkpoints.Origin{Tool: &call}, AskedAt: at,
			Response: checkpoints.Response{Answer: "this", AnsweredAt: &at},
			Handling: checkpoints.Handling{Delivering: true, Noticed: 1},
		}
		s.Questions.Put(q.ID, q)
		v := &Delivery{UUID: fmt.Sprint("u", i), Agent: Root, Seq: i + 2, State: checkpoints.DeliveryDelivered,
			Launch: 1, Tool: &call, Groups: []string{q.ID}}
		s.Deliveries.Put(v.UUID, v)
	}
	return s
}
