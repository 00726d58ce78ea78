package asking

import (
	"testing"

	"claude-supervise/supervisor/view"
)

func TestWhoHasAnsweredIsNamedByTheirTerminalOrCommand(t *testing.T) {
	answer := "Black"
	for by, want := range map[string]string{
		"a person on pts/4":                        "answered in another terminal (pts/4): Black",
		"`claude-supervise answer`, process 31337": "answered by `claude-supervise answer`: Black",
		"a person by the page from 127.0.0.1":      "answered by a person by the page from 127.0.0.1: Black",
	} {
		if got := Gone(view.QuestionView{State: "answered", Answer: &answer, AnsweredBy: by}); got != want {
			t.Errorf("of %q it says %q, want %q", by, got, want)
		}
	}
}
