package runs

import "testing"

func TestALogIsWrappedBetweenWordsAndItsBlocksFoldedOnATerminal(t *testing.T) {
	const entry = "I am done with all that there was to do.\n[COMPLETION_REPORT]\nagent_id: a\n  summary: it works\n" +
		"[/COMPLETION_REPORT]\n[STOP_WORK]\nleft open"
	const want = "I am done with all that\nthere was to do.\n[COMPLETION_REPORT] … (2\nlines; --json has them)\n[STOP_WORK]\n" +
		"left open"
	if got := LogText(24, entry); got != want {
		t.Errorf("on a terminal it is\n%s", got)
	}
	if got := LogText(0, entry); got != entry {
		t.Errorf("in a pipe it is\n%s", got)
	}
}
