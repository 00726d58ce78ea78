package filedrop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// What is saved while the files are made is not mixed with what was there before: a question that is seen open is not
// closed with the answer it has by then, of which neither the time nor the way would be known.
func TestAQuestionThatIsAnsweredMeanwhileIsClosedWithAllOfItsAnswer(t *testing.T) {
	home := t.TempDir()
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	posted := &supervisor.Question{ID: "q-1", Kind: questions.AskClarification, State: checkpoints.QuestionOpen}
	open := &supervisor.Question{ID: "q-2", Group: "q-2", Kind: questions.AskFile, State: checkpoints.QuestionOpen}
	open.Text, open.AskedAt, open.File = "Which?", at, &checkpoints.FileAsked{ID: "w_q1"}
	answered := *open
	answered.State, answered.Answer, answered.AnsweredAt = checkpoints.QuestionDelivered, "oauth", &at
	answered.AnsweredBy = supervisor.ByFile

	var k *FileDrop
	k, err := New(Config{Folder: home, Log: zerolog.Nop(), News: make(chan supervisor.FileEvent, 10),
		Checkpoint: func(context.Context, *supervisor.Question) string {
			k.Set([]*supervisor.Question{posted, &answered})
			return ""
		}})
	if err != nil {
		t.Fatal(err)
	}
	k.Set([]*supervisor.Question{posted, open})
	closed := filepath.Join(home, "questions", "answered", "w_q1.json")
	k.reconcile(t.Context())
	if text, err := os.ReadFile(closed); err == nil {
		t.Fatalf("it was closed as\n%s", text)
	}
	k.reconcile(t.Context())
	text, err := os.ReadFile(closed)
	if err != nil || !strings.Contains(string(text), `"answered_at": "2026-11-02T09:00:00Z"`) {
		t.Errorf("it was closed as\n%s\n%v", text, err)
	}
}
