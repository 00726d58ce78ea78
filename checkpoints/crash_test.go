package checkpoints

import (
	"strconv"
	"testing"
)

// A writer is killed in the middle of its commits, again and again: what it has acknowledged is there, and nothing is
// half there.
func TestAKilledWriterLosesNothingThatItAcknowledged(t *testing.T) {
	d := dirsAt(t)
	s, err := Open(d)
	noError(t, err)
	commit(t, s, firstChange())
	noError(t, s.Close())
	for round := range 8 {
		writer := startChild(t, "write", d)
		acknowledged := 0
		read := func() {
			n, err := strconv.Atoi(writer.lines.Text())
			noError(t, err)
			acknowledged = n
		}
		for range 20 + 7*round {
			writer.line(t)
			read()
		}
		noError(t, writer.Process.Kill())
		for writer.lines.Scan() { // what it printed before it died
			read()
		}
		_ = writer.Wait() // it says that it was killed

		s := openAt(t, d)
		l, err := s.Load(t.Context(), testRun)
		noError(t, err)
		// The last commit may have been saved with its acknowledgement unsaid.
		if l.LastEvent != int64(acknowledged) && l.LastEvent != int64(acknowledged)+1 {
			t.Fatalf("acknowledged %d, found %d", acknowledged, l.LastEvent)
		}
		if got := l.Agents[testAgent].Launches; int64(got) != l.LastEvent {
			t.Fatalf("the event is %d, the record %d", l.LastEvent, got)
		}
		events, err := s.Events(t.Context(), testRun, 0)
		if err != nil || int64(len(events)) != l.LastEvent {
			t.Fatalf("%d events of %d (%v)", len(events), l.LastEvent, err)
		}
		for i, e := range events {
			if e.Seq != int64(i)+1 {
				t.Fatalf("event %d at place %d", e.Seq, i)
			}
		}
	}
}
