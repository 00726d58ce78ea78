package view

import (
	"testing"
	"time"
)

func TestAReasonIsReadInAPersonsWords(t *testing.T) {
	at := time.Date(2025, 1, 2, 15, 4, 5, 0, time.Local)
	stored := at.UTC().Format(time.RFC3339)
	for reason, want := range map[string]string{
		"You've hit your limit; resumes at " + stored:      "You've hit your limit; resumes at 2025-01-02 15:04",
		"exit 1; tried again at " + stored:                 "exit 1; tried again at 2025-01-02 15:04",
		"silent since " + stored + ", no output: continue": "silent since 2025-01-02 15:04, no output: continue",
		"resumes at 2025-13-41T00:00:00Z":                  "resumes at 2025-13-41T00:00:00Z",
		"at work; asks: Allow Edit: version.txt?":          "at work; asks: May it edit version.txt?",
		"asked a question, and questions are refused: Allow Bash in sub: ./x?": "asked a question, and questions are refused: " +
			"May it run in sub: ./x?",
		"asks: is " + stored + " the day?": "asks: is " + stored + " the day?",
	} {
		if got := Because(reason); got != want {
			t.Errorf("%q is read as %q, not %q", reason, got, want)
		}
	}
}
