package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestWhatTakesLongerThanASecondShowsHowFarItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s screen
		p := newPrinter(stream{Writer: io.Discard}, stream{Writer: &s}, false, true, false)
		w := p.Working("unpacking")
		w.Set(10, 100)
		time.Sleep(workingShown - time.Millisecond)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("before a second it drew %q", got)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "unpacking · ██") || !strings.Contains(got, " 10% · 1s") {
			t.Errorf("after a second it drew %q", got)
		}
		w.Set(250, 100) // more than was foreseen
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, " 100% · 1s") || strings.Contains(got, "░") {
			t.Errorf("at its end it drew %q", got)
		}
		w.Done()
		w.Set(1, 100)
		synctest.Wait()
		s.take()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("when it is done it drew %q", got)
		}

		w = p.Working("packing") // of which the end is not known
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "packing · 1s") || strings.Contains(got, "%") {
			t.Errorf("without an end it drew %q", got)
		}
		w.Done()
		p.Status(Status{Text: "thinking"})
		first, second := p.Working("a worktree"), p.Working("another worktree")
		time.Sleep(2 * time.Second)
		first.Done()
		synctest.Wait()
		s.take()
		time.Sleep(time.Second)
		if got := s.take(); !strings.Contains(got, "another worktree · ") || strings.Contains(got, "thinking") {
			t.Errorf("while one is not done it drew %q", got)
		}
		second.Done()
		synctest.Wait()
		if got := s.take(); !strings.Contains(got, "thinking") {
			t.Errorf("when both are done it drew %q", got)
		}
		p.Status(Status{})
		synctest.Wait()
		s.take()
		quick := p.Working("pruning")
		quick.Done()
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := s.take(); strings.Contains(got, "pruning") {
			t.Errorf("of what was quick it drew %q", got)
		}
		mustClose(t, p)
	})
	synctest.Test(t, func(t *testing.T) {
		var s screen
		p := NewPrinter(io.Discard, &s, Look{})
		w := p.Working("unpacking")
		time.Sleep(time.Minute)
		w.Set(1, 2)
		synctest.Wait()
		if got := s.take(); got != "" {
			t.Errorf("a pipe shows %q", got)
		}
		w.Done()
		mustClose(t, p)
	})
}
