package checkpoints

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTheFirstLineOfAnAnswerFileIsTheAnswer(t *testing.T) {
	for text, want := range map[string]struct {
		answer   string
		complete bool
		err      error
	}{
		"oauth\n":             {"oauth", true, nil},
		"oauth":               {"oauth", false, nil},
		"oauth\r\n":           {"oauth", true, nil},
		"\ufeff oauth \t\n":   {"oauth", true, nil},
		"oauth\nand a remark": {"oauth", true, nil},
		"l'été | €\n":         {"l'été | €", true, nil},
		"oauth\n\xff":         {"oauth", true, nil},
		"":                    {"", false, errAnswerEmpty},
		"\n":                  {"", true, errAnswerEmpty},
		" \r\noauth\n":        {"", true, errAnswerEmpty},
		"\xff\n":              {"", true, errAnswerBytes},
		"o\x00auth\n":         {"", true, errAnswerBytes},
		"o\x00a\x00u\x00":     {"", false, errAnswerBytes}, // UTF-16
	} {
		answer, complete, err := answerOf([]byte(text))
		if answer != want.answer || complete != want.complete || !errors.Is(err, want.err) {
			t.Errorf("%q: %q, %v, %v", text, answer, complete, err)
		}
	}
}

func TestAnAnswerThatLiesThereIsReadOnceItIsWhole(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for text, want := range map[string]struct {
		answer string
		age    time.Duration
		err    error
	}{
		"oauth\n":      {"oauth", 0, nil},
		"oauth, since": {"oauth, since", time.Minute, nil},
		"oau":          {"", 0, fs.ErrNotExist},
		"\n":           {"", time.Minute, errAnswerEmpty},
	} {
		put(t, d, "answers/w_q1.txt", text)
		at := time.Now().Add(-want.age)
		if err := os.Chtimes(d.at("answers/w_q1.txt"), at, at); err != nil {
			t.Fatal(err)
		}
		if answer, err := d.ReadAnswer("w_q1"); answer != want.answer || !errors.Is(err, want.err) {
			t.Errorf("%q: %q (%v)", text, answer, err)
		}
	}
	if _, err := d.ReadAnswer("w_q2"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where none lies: %v", err)
	}
	if _, err := d.ReadAnswer("../w_q1"); !errors.Is(err, ErrBadID) {
		t.Errorf("of no id: %v", err)
	}
}

func TestAnAnswerIsALineInAFileOfItsOwn(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for _, c := range [][2]string{{"oauth", "oauth\n"}, {"two\nlines\r\n", "two lines\n"}, {" a | b ", "a | b\n"}} {
		answer, want := c[0], c[1]
		if err := d.Answer("w_q1", answer); err != nil {
			t.Fatal(err)
		}
		if err := d.Answer("w_q1", "another"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("over an answer: %v", err)
		}
		if diff := cmp.Diff(map[string]string{"answers/w_q1.txt": want}, lies(t, d)); diff != "" {
			t.Error(diff)
		}
		if !d.Answered("w_q1") || d.Answered("w_q2") {
			t.Error("it is not seen where it lies, or where it does not")
		}
		if taken, err := d.Unanswer("w_q1"); !taken || err != nil {
			t.Errorf("taken back: %v (%v)", taken, err)
		}
	}
	for _, answer := range []string{"", "\n", " ", "\xff", "a\x00"} {
		if err := d.Answer("w_q1", answer); !errors.Is(err, errBadAnswer) {
			t.Errorf("%q: %v", answer, err)
		}
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestAnAnswerThatTheScriptHasCannotBeTakenBack(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	if err := errors.Join(d.Answer("w_q1", "oauth"), os.Remove(d.at("answers/w_q1.txt"))); err != nil {
		t.Fatal(err)
	}
	if taken, err := d.Unanswer("w_q1"); taken || err != nil {
		t.Errorf("taken back: %v (%v)", taken, err)
	}
}

func TestAnAnswerIsConsumedOnce(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	put(t, d, "answers/w_q1.txt", "oauth\n")
	for range 2 {
		if err := d.Consume("w_q1"); err != nil {
			t.Error(err)
		}
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestARejectedAnswerIsKeptWithTheReason(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for answer, want := range map[string]string{
		"saml\n": "saml\nrejected: it is none of oauth, jwt\n",
		"saml":   "saml\nrejected: it is none of oauth, jwt\n",
		"":       "\nrejected: it is none of oauth, jwt\n",
	} {
		put(t, d, "answers/w_q1.txt", answer)
		for range 2 {
			if err := d.Reject("w_q1", "it is none of\noauth, jwt"); err != nil {
				t.Error(err)
			}
		}
		if diff := cmp.Diff(map[string]string{"answers/w_q1.rejected": want}, lies(t, d)); diff != "" {
			t.Error(diff)
		}
	}
	if err := d.Reject("w_q2", "why not"); err != nil || len(lies(t, d)) != 1 {
		t.Errorf("where no answer is: %v, %v", err, lies(t, d))
	}
}

func TestARejectionThatWasCutShortByACrashGetsItsReason(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	put(t, d, "answers/w_q1.rejected", "saml\n")
	if err := d.Reject("w_q1", "no option"); err != nil {
		t.Fatal(err)
	}
	if got := lies(t, d)["answers/w_q1.rejected"]; got != "saml\nrejected: no option\n" {
		t.Errorf("%q", got)
	}
}

func TestNothingIsFollowedWhenAnAnswerIsRejectedOrConsumed(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for _, id := range hostile(t, d, answersFolder, ".txt", "secret\n") {
		if id == "folder" {
			continue // nothing to reject: it is listed as a problem
		}
		if err := d.Reject(id, "not like this"); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		if got := lies(t, d)["answers/"+id+".rejected"]; got != "\nrejected: not like this\n" {
			t.Errorf("%s: %.100q", id, got)
		}
	}
	hostileAgain := d.at("answers/link.txt")
	if err := os.Symlink(d.at("answers"), hostileAgain); err != nil {
		t.Fatal(err)
	}
	if err := d.Consume("link"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.at("answers")); err != nil {
		t.Error(err)
	}
}

func TestOfManyWhoTakeAnAnswerAtOnceOneGetsIt(t *testing.T) {
	claude := t.TempDir()
	for range 20 {
		d := openFileDrop(t, claude)
		if err := d.Answer("w_q1", "oauth"); err != nil {
			t.Fatal(err)
		}
		var got atomic.Int32
		var wg sync.WaitGroup
		for range 4 {
			other := openFileDrop(t, claude)
			wg.Go(func() {
				if taken, err := other.Unanswer("w_q1"); err != nil {
					t.Error(err)
				} else if taken {
					got.Add(1)
				}
			})
			wg.Go(func() {
				if err := other.Answer("w_q2", "a"); err != nil && !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
			wg.Go(func() {
				if err := errors.Join(other.Reject("w_q2", "b"), other.Consume("w_q2")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got.Load() != 1 {
			t.Fatalf("%d took it back", got.Load())
		}
	}
	for name, text := range lies(t, openFileDrop(t, claude)) {
		if name != "answers/w_q2.txt" && (name != "answers/w_q2.rejected" || !strings.HasPrefix(text, "a\n"+rejection)) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func FuzzAnswerOf(f *testing.F) {
	for _, seed := range []string{"oauth\n", "\ufeff a \r\nb", "\x00", "\xff\n", "\u0085\n", "\v\f"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, _, err := answerOf(text)
		if err != nil {
			if answer != "" {
				t.Fatalf("%q, %v", answer, err)
			}
			return
		}
		if again, complete, err := answerOf([]byte(answer + "\n")); again != answer || !complete || err != nil {
			t.Fatalf("%q is read again as %q, %v, %v", answer, again, complete, err)
		}
	})
}
