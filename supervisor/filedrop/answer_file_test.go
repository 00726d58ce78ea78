package filedrop

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

// What people write with Notepad and PowerShell is read as what it says, where that is certain.
func TestAnAnswerFileInAnotherEncodingIsReadWhereThatIsCertain(t *testing.T) {
	for text, want := range map[string]struct {
		answer   string
		complete bool
		err      error
	}{
		"\xff\xfef\x00\xfc\x00r\x00\r\x00\n\x00": {"für", true, nil},         // little endian, with its mark
		"\xff\xfe\xac\x20\n\x00x\x00":            {"€", true, nil},           // and a second line
		"\xff\xfe\x3d\xd8\x00\xde\n\x00":         {"😀", true, nil},           // two units
		"\xfe\xff\x00f\x00\xfc\x00r\x00\n":       {"für", true, nil},         // big endian
		"f\x00\xfc\x00r\x00\n\x00":               {"für", true, nil},         // without a mark
		"\x00f\x00\xfc\x00r\x00\n":               {"für", true, nil},         //
		"f\x00\xfc\x00r\x00\n":                   {"", true, errAnswerBytes}, // the line's end is half written
		"\xff\xfe":                               {"", false, errAnswerEmpty},
		"\xff\xfe\x3d\xd8\n\x00":                 {"", true, errAnswerBytes},  // half a character
		"\xff\xfe\x00\x00a\x00\x00\x00":          {"", false, errAnswerBytes}, // UTF-32
		"a\x00b\n":                               {"", true, errAnswerBytes},
		"sch\xf6n f\xfcr \xd6l\r\nund \x84\n":    {"schön für Öl", true, nil}, // Latin-1
		"d\xe9j\xe0 vu: \xe0 5 \xb0":             {"déjà vu: à 5 °", false, nil},
		"Caf\xe9\n":                              {"Café", true, nil},
		"Caf\xe9":                                {"", false, errAnswerBytes}, // a longer letter may be half written
		"\xff":                                   {"", false, errAnswerBytes}, // or a mark
		"sch\x94n\n":                             {"", true, errAnswerBytes},  // of DOS
		"s\xa1\n":                                {"", true, errAnswerBytes},
		"\xe4\xe0, ok\n":                         {"", true, errAnswerBytes}, // Cyrillic
		"\xca\xc7\n":                             {"", true, errAnswerBytes}, // Chinese
	} {
		answer, complete, err := fileAnswer([]byte(text))
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
		noError(t, os.Chtimes(d.at("answers/w_q1.txt"), at, at))
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
		noError(t, d.Answer("w_q1", answer))
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
	noError(t, errors.Join(d.Answer("w_q1", "oauth"), os.Remove(d.at("answers/w_q1.txt"))))
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
		"saml\n":                      "saml\nrejected: it is none of oauth, jwt\n",
		"saml":                        "saml\nrejected: it is none of oauth, jwt\n",
		"":                            "\nrejected: it is none of oauth, jwt\n",
		"\xff\xfes\x00\xe4\x00\n\x00": "\ufeffsä\nrejected: it is none of oauth, jwt\n",
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
	noError(t, d.Reject("w_q1", "no option"))
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
	noError(t, os.Symlink(d.at("answers"), hostileAgain))
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
		noError(t, d.Answer("w_q1", "oauth"))
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
	for _, seed := range []string{"oauth\n", "\ufeff a \r\nb", "\x00", "\xff\n", "\u0085\n", "\v\f", "f\x00\xfc\x00\n\x00", "\xfe\xff\x00\xfc", "\xf6l"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		answer, _, err := fileAnswer(text)
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
