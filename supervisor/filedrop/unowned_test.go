package filedrop

import (
	"strings"
	"testing"

	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
)

func TestAQuestionOfAnUnknownScriptHasTheSameBounds(t *testing.T) {
	q := question(QuestionFile{ID: "w_q1", Question: strings.Repeat("x", 1<<19),
		Options: make([]string, 1000)})
	if q.ID != "w_q1" || len(q.Text) > ask.MaxText || len(q.Options) != questions.MaxKept || q.Truncated == "" {
		t.Errorf("%s: %d bytes, %d options, %q", q.ID, len(q.Text), len(q.Options), q.Truncated)
	}
}
