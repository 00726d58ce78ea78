package terminal

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/sys/unix"

	"claude-supervise/procs/pty"
)

// A hand is a person at the forms of an asking, by a clock that only the test moves. It keeps a record of its own of
// what was drawn and pressed when, and holds every answer against that.
type hand struct {
	t     *testing.T
	a     *promptState
	now   time.Time
	open  []Question
	drawn time.Time // when the current question was
	keys  []stroke  // since then
	last  time.Time // the last key of all
	given int       // answers
	asked int       // questions that there were
}

type stroke struct {
	at   time.Time
	text string
}

func newHand(t *testing.T) *hand {
	h := &hand{t: t, now: when}
	p := NewPrinter(io.Discard, io.Discard, Look{})
	t.Cleanup(func() { mustClose(t, p) })
	h.a = newPromptState(p, h.submit, t.TempDir(), newStyles(false))
	return h
}

// submit is an answer. Some key of it must have come when the question had stood for 0.7 s and no key had come for 0.3
// s, and nothing that was pressed before that may stand in it.
func (h *hand) submit(_ context.Context, id string, r Reply) error {
	h.given++
	counts := -1
	before := h.last
	if len(h.keys) > 0 {
		before = time.Time{}
	}
	for i, k := range h.keys {
		if counts < 0 && k.at.Sub(h.drawn) >= 700*time.Millisecond && k.at.Sub(before) >= 300*time.Millisecond {
			counts = i
		}
		before = k.at
	}
	if counts < 0 {
		h.t.Fatalf("%s is answered by keys of its grace: drawn at %v, keys %v", id, h.drawn.Sub(when), h.strokes())
	}
	typed := ""
	for _, k := range h.keys[counts:] {
		typed += k.text
	}
	written := strings.NewReplacer("\r", "", "\t", "", "↓", "").Replace(typed)
	if own := strings.Trim(r.Text, `"`); r.Text != "one" && r.Text != "two" && r.Text != "run it" &&
		!strings.HasPrefix(r.Text, "allow") && !strings.HasPrefix(r.Text, "deny") && r.Text != "do not run it" &&
		!madeOf(own, written) {
		h.t.Fatalf("%s is answered with %q, of which only %q was typed when keys counted: %v", id, r.Text, typed, h.strokes())
	}
	if (strings.HasPrefix(r.Text, "allow") || r.Text == "run it") && !strings.ContainsAny(typed, "1au↓") {
		h.t.Fatalf("%s is answered with %q, which nobody selected: %v", id, r.Text, h.strokes())
	}
	if r.Text == "run it" && !strings.Contains(typed, "run") {
		h.t.Fatalf("%s runs without the word: %v", id, h.strokes())
	}
	return nil
}

// madeOf reports whether text consists of characters that were typed. Where the cursor stood is the field's affair.
func madeOf(text, typed string) bool {
	for _, r := range text {
		if strings.Count(text, string(r)) > strings.Count(typed, string(r)) {
			return false
		}
	}
	return true
}

func (h *hand) strokes() (all []string) {
	for _, k := range h.keys {
		all = append(all, fmt.Sprintf("%v %q", k.at.Sub(when), k.text))
	}
	return all
}

// sync brings the picture up to date, as the loop of Run does.
func (h *hand) sync() {
	h.a.update(h.open, nil)
	h.a.show(true)
	h.a.draw(false)
	if h.a.drawn {
		if len(h.keys) > 0 {
			h.last = h.keys[len(h.keys)-1].at
		}
		h.drawn, h.keys = h.now, nil
		h.a.begin(h.now)
	}
}

func (h *hand) press(text string, key tea.KeyPressMsg) {
	if h.a.current != nil {
		h.keys = append(h.keys, stroke{h.now, text})
	}
	if h.a.form != nil {
		h.a.pressed(h.t.Context(), []tea.Msg{key}, false, h.now)
	}
	h.sync()
}

// wait lets time pass. The loop wakes once, when the grace may be over.
func (h *hand) wait(d time.Duration) {
	end := h.now.Add(d)
	for h.a.waits() {
		left := h.a.grace.left(h.now)
		if h.now.Add(left).After(end) {
			break
		}
		h.now = h.now.Add(left)
		h.a.pressed(h.t.Context(), nil, true, h.now)
	}
	h.now = end
	h.sync()
}

func (h *hand) ask(kind int) {
	h.asked++
	q := question(fmt.Sprintf("q-%d", h.asked))
	switch kind {
	case 0:
		q.Options = options("one", "two")
	case 1:
		q.Kind, q.Options = "permission", options("allow", "deny")
	case 2:
		q.Kind, q.Options, q.Validate = "command", options("run it", "do not run it"), "choice"
	}
	h.open = append(h.open, q)
	h.sync()
}

// withdraw takes the open question away, as an answer from elsewhere does.
func (h *hand) withdraw() {
	if len(h.open) > 0 {
		h.open = h.open[1:]
	}
	h.sync()
}

// plays does what the bytes say, and reports how many answers came of it.
func (h *hand) plays(script []byte) int {
	for _, b := range script {
		switch n := b >> 4; b & 15 {
		case 0, 1, 2:
			h.ask(int(n) % 4)
		case 3:
			h.withdraw()
		case 4, 5, 6:
			h.wait(time.Duration(n) * 25 * time.Millisecond)
		case 7:
			h.wait(time.Duration(n) * 200 * time.Millisecond)
		case 8, 9:
			h.press("\r", press(tea.KeyEnter))
		case 10:
			h.press("↓", press(tea.KeyDown))
		case 11:
			h.press("\t", press(tea.KeyTab))
		case 12:
			for _, r := range "run" {
				h.press(string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
			}
		default:
			r := rune("1 2ayrunx"[int(n)%9])
			h.press(string(r), tea.KeyPressMsg{Code: r, Text: string(r)})
		}
		h.dropAnswered()
	}
	return h.given
}

// dropAnswered closes what was answered, as the engine does a moment later.
func (h *hand) dropAnswered() {
	for len(h.open) > 0 && h.a.answered[h.open[0].ID] {
		h.open = h.open[1:]
	}
	h.sync()
}

func TestNoKeysWithinTheGraceAnswerAQuestion(t *testing.T) {
	answers := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 12))
		script := make([]byte, 250)
		for i := range script {
			script[i] = byte(rng.Uint32())
		}
		answers += newHand(t).plays(script)
	}
	if answers < 40 {
		t.Errorf("only %d answers were given: the scripts show little", answers)
	}
}

func FuzzNoKeysWithinTheGraceAnswerAQuestion(f *testing.F) {
	f.Add([]byte{0x10, 0xf7, 0x0d, 0x08, 0x10, 0x0d, 0x08})
	f.Add([]byte{0x20, 0xf7, 0x0c, 0x08, 0x08})
	f.Fuzz(func(t *testing.T, script []byte) { newHand(t).plays(script[:min(len(script), 500)]) })
}

func TestAGraceTakesSevenTenthsAndThreeOfQuiet(t *testing.T) {
	ms := func(n int) time.Time { return when.Add(time.Duration(n) * time.Millisecond) }
	var g grace
	if g.on() || g.end(ms(0)) {
		t.Error("one that has not begun is under way, or ends")
	}
	g.begin(ms(0))
	if !g.on() || g.end(ms(699)) || g.left(ms(0)) != 700*time.Millisecond {
		t.Error("it is over too early")
	}
	g.drop(ms(100))
	if g.left(ms(100)) != 600*time.Millisecond {
		t.Errorf("an early key makes it %v long", g.left(ms(100)))
	}
	g.drop(ms(600))
	if g.end(ms(899)) || !g.end(ms(900)) || g.on() {
		t.Error("a late key does not make it 0.3 s of quiet")
	}
}

// A clock stands still until the test lets it go on; then a second is over whenever somebody looks.
type clock struct {
	mu   sync.Mutex
	now  time.Time
	goes bool
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.goes {
		c.now = c.now.Add(time.Second)
	}
	return c.now
}

func (c *clock) set(now time.Time, goes bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.goes = now, goes
}

// drained waits until the program has read all that was typed. Nothing but the program reads the terminal.
func drained(t *testing.T, tty *os.File) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(tty.Fd()), Events: unix.POLLIN}}, 0)
		if err == nil && n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("what was typed is not read: %d, %v", n, err)
		}
	}
}

func TestAPromptInLinesComesOnlyAfterItsGrace(t *testing.T) {
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keyboard.Close(); _ = tty.Close() }()
	d := &testTerminal{t: t, keyboard: keyboard, tty: tty, more: make(chan struct{}, 1)}
	go func() { _, _ = io.Copy(d, keyboard) }()
	before := d.modes()
	d.types("y\n") // before it is asked
	clock := &clock{now: when}
	type reply struct {
		text string
		err  error
	}
	got := make(chan reply, 1)
	go func() {
		text, err := askLine(tty, tty, "Shall it?", " [y/N] ", clock.read)
		got <- reply{text, err}
	}()
	d.sees("Shall it?")
	clock.set(when.Add(graceTime-1), false)
	d.types("y\ny")
	drained(t, tty)
	if shown := d.everything(); strings.Contains(shown, "[y/N]") {
		t.Fatalf("the prompt is there before its time:\n%s", shown)
	}
	clock.set(when.Add(graceTime), true)
	d.sees(" [y/N] ")
	d.types("no\n")
	if r := <-got; r.text != "no" || r.err != nil {
		t.Errorf("it is answered %q, %v", r.text, r.err)
	}
	if d.modes() != before {
		t.Error("the terminal is left in another mode")
	}
}

func TestAFormSaysThatKeysDoNotCountYet(t *testing.T) {
	clock := &clock{now: when}
	d := enterRawAt(t, clock.read, able(), question("q-1", "Red", "Green"), question("q-2", "Red", "Green"))
	d.sees("a moment…")
	d.types("2\r")
	drained(t, d.tty)
	clock.set(when.Add(time.Hour), true)
	d.sees(formFoot)
	clock.set(when.Add(2*time.Hour), false)
	d.types("1\r")
	d.answered(submitted{ID: "q-1", Answer: "Red"})
	d.sees("a moment…")
	d.types("2\r")
	drained(t, d.tty)
	d.leave()
	select {
	case got := <-d.answers:
		t.Errorf("%+v is answered within its grace", got)
	default:
	}
}
