package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

func TestAQuestionOfAnySizeIsKeptWithinItsBoundsAndThePersonIsToldWhatIsNotShown(t *testing.T) {
	long := strings.Repeat("ä", 1<<19) // a megabyte
	asked := signals.Question{ID: long, Text: long, Header: long, Context: long, Validate: "regex:" + long}
	for i := range 1000 {
		asked.Options = append(asked.Options,
			signals.Option{Label: fmt.Sprint(i) + long[:2000], Description: long[:5000], Preview: long[:40000]})
	}
	q := NewQuestion(questions.AskClarification, asked)
	for name, is := range map[string]struct{ bytes, most int }{
		"id":      {len(q.Own), maxHeader},
		"text":    {len(q.Text), MaxText},
		"header":  {len(q.Header), maxHeader},
		"context": {len(q.Context), maxContext + 1000},
		"rule":    {len(q.Validate), MaxText},
		"options": {len(q.Options), questions.MaxKept},
		"label":   {len(q.Options[99].Label), maxLabel},
		"preview": {len(q.Options[99].Preview), maxOptionView},
		"cut":     {len(q.Truncated), 500},
	} {
		if is.bytes == 0 || is.bytes > is.most {
			t.Errorf("%s: %d, at most %d are kept", name, is.bytes, is.most)
		}
	}
	if !utf8.ValidString(q.Text) || !strings.HasSuffix(q.Text, "ä…") {
		t.Errorf("the text ends in %q", q.Text[len(q.Text)-8:])
	}
	for _, part := range []string{"its text has 1048576 bytes, of which 16384 are kept",
		"900 of 1000 options are left out", "more cuts like these"} {
		if !strings.Contains(q.Context, part) {
			t.Errorf("the person is not told %q", part)
		}
	}
	if text := prompts.Served([]*Question{q}); !strings.Contains(text,
		"was not shown whole: 900 of 1000 options are left out; its id has") {
		t.Errorf("the agent reads: %s", text)
	}
}

func TestAQuestionWithinItsBoundsIsKeptAsItWasGiven(t *testing.T) {
	hostile := "\x1b[31mRed\x1b[0m\u202e"
	q := NewQuestion(questions.AskClarification, signals.Question{
		ID: "Q1", Text: "Which\x00?", Context: "why", Urgent: true,
		Options: []signals.Option{{Label: hostile}, {Label: "Red"}},
	})
	if q.Text != "Which\x00?" || q.Context != "why" || q.Truncated != "" || q.Options[0].Label != hostile || !q.Urgent {
		t.Errorf("%+v", q)
	}
}

// A signal of a megabyte may hold a hundred questions.
func TestAGroupOfQuestionsHoldsWhereItCameFromOnce(t *testing.T) {
	s := Begin(t, func(c *Config) { c.Hold = Forever })
	sig := signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Block, Raw: strings.Repeat("x", signals.MaxRaw),
		Fields: []signals.Field{{Name: "current_state", Value: strings.Repeat("y", 1<<19)},
			{Name: "quick_wait", Value: "3s"}},
	}
	var ids []string
	for i := range 100 {
		ids = append(ids, fmt.Sprintf("q-%03d", i))
		sig.Questions = append(sig.Questions,
			signals.Question{ID: fmt.Sprint("Q", i+1), Text: "Which? " + strings.Repeat("z", 3000)})
	}
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: sig, Naming: Naming{IDs: ids}}})
	s.turnEnds()
	bytes := 0
	for _, q := range s.State.Questions {
		bytes += len(text.JSON(q))
	}
	if bytes > 2<<20 {
		t.Errorf("the records of a signal of one megabyte have %d bytes", bytes)
	}
	if q := s.State.Questions["q-099"]; quickWait(q) != 3*time.Second {
		t.Errorf("the last question waits %v", quickWait(q))
	}
	for _, id := range ids {
		s.Answers(id, "this")
	}
	if text := s.Delivers(1).Text; !strings.Contains(text, "Current state: yyyy") ||
		!strings.Contains(text, "A100: this\n") {
		t.Errorf("%d bytes are said", len(text))
	}
}

func TestLostNoticeChangesNothingForTheNextSupervisor(t *testing.T) {
	sent := NotificationSent{Question: "q-1"}
	if !MayBeLost(State{}, State{}, Happened{Event: sent}, nil) {
		t.Error("the disk is waited for")
	}
	for _, lost := range []bool{false, true} {
		s := Begin(t, nil)
		s.Asks("q-1", "Which?")
		if !lost {
			s.Do(sent)
			s.plansNot("notify q-1")
		}
		s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: Ask})
		s.plans("notify q-1")
	}
}

// What a person has said goes to the agent as its turn ends: nobody is told of that end, but a power cut may leave the
// words in claude's transcript. So the record that they were on their way waits for the disk.
func TestWordsThatGoToAnAgentWaitForTheDisk(t *testing.T) {
	for name, c := range map[string]struct {
		says    bool
		mayLose bool
	}{"with a message": {says: true}, "with nothing to say": {mayLose: true}} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			if c.says {
				s.says("use the old names")
			}
			before, ends := s.State, TurnEnded{Agent: Root, Launch: 1}
			s.Do(ends)
			if got := MayBeLost(before, s.State, Happened{Event: ends}, nil); got != c.mayLose {
				t.Errorf("it may be lost: %v", got)
			}
		})
	}
	t.Run("with a message that was not read by a process that is gone", func(t *testing.T) {
		s := Begin(t, nil)
		s.Do(TurnBegun{Agent: Root, Launch: 1, Version: "2.1.329"})
		s.says("use the old names")
		said := s.Delivers(1)
		s.Do(Opened{PID: 2, Waker: "/tmp/wake-up", Policy: Ask})
		s.dies(crash())
		s.Rests(false)
		s.Do(Started{Agent: Root, Launch: 2, PID: 102})
		s.Delivers(2)
		again := TurnBegun{Agent: Root, Launch: 2, Version: "2.1.329"}
		before := s.State
		s.Do(again)
		if v := s.State.Deliveries[said.UUID]; v.State != checkpoints.DeliveryPending {
			t.Fatalf("it is %s", v.State)
		}
		if MayBeLost(before, s.State, Happened{Event: again}, nil) {
			t.Error("that it is said again may be lost")
		}
	})
}
