package filedrop

import (
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// What leaves a file is in the audit log with it; every other decision of a person's, once it was made, without one.
func TestEveryDecisionOfAPersonsIsInTheAuditLog(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for kind, alone := range map[checkpoints.QuestionKind]bool{
		questions.AskPermission: true, questions.AskDelegation: true, questions.AskBudget: true,
		questions.AskCommand: true, questions.AskClarification: false, questions.AskBlocker: false,
	} {
		q := &supervisor.Question{ID: "q-1", Kind: kind, State: checkpoints.QuestionDelivered}
		q.AnsweredAt = &at
		if got := decided(q); got != alone {
			t.Errorf("%s: %v", kind, got)
		}
		q.State, q.AnsweredAt = checkpoints.QuestionOpen, nil
		if decided(q) {
			t.Errorf("an open %s is decided", kind)
		}
		q.State = checkpoints.QuestionWithdrawn
		if decided(q) {
			t.Errorf("a %s that nobody has answered is decided", kind)
		}
	}
}

// The seconds are those since the script asked by its own account, not since the file was seen.
func TestTheSecondsOfAnAnswerCountFromTheFilesOwnTime(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	q := &supervisor.Question{ID: "q-1", AskedAt: at.Add(-time.Minute)}
	q.AnsweredAt = &at
	for said, want := range map[string]time.Time{
		"2026-11-02T08:58:00Z": at.Add(-2 * time.Minute), "2026-11-02T09:58:00Z": {}, "yesterday": {}, "": {},
	} {
		q.Signal = text.JSON(signals.Signal{Fields: []signals.Field{{Name: "asked_at", Value: said}}})
		if got := answeredOf(q, "oauth"); !got.Since.Equal(want) || !got.Asked.Equal(q.AskedAt) {
			t.Errorf("%q: since %v, asked %v", said, got.Since, got.Asked)
		}
	}
}
