package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf16"

	"golang.org/x/term"

	"claude-supervise/supervisor/text"
)

const (
	maxWaiting = 1 << 20 // bytes of progress kept for a terminal that does not take them (Ctrl-S, a full pipe)
	maxHeld    = 200     // texts of progress kept while a prompt is open; more would bury the next question
	maxResults = 1 << 20 // bytes of results that wait before Result and JSON block
)

// Look says how a Printer writes. One with only Getenv set, to os.Getenv, is what most commands want.
type Look struct {
	Plain  bool                // no colours and no status line, whatever the terminal can do
	Quiet  bool                // no progress; notices, questions and results are shown
	Getenv func(string) string // TERM, NO_COLOR and ACCESSIBLE are looked up here; nil: a terminal is taken for a dumb one
}

// A Printer owns what a command shows: progress, notices and questions on stderr, results on stdout. One goroutine
// writes, so nothing is torn, and a terminal that stands still (Ctrl-S) stops nobody but it. On a terminal stderr gets
// one status line that is redrawn in place, and colours unless NO_COLOR is set; a pipe, a file and TERM=dumb get plain
// lines and never an escape sequence. While a question's prompt is open, progress is held back, and shown after the
// answer; notices and results are shown above a prompt that is drawn in place.
//
// All methods may be called from any goroutine. Close must be called.
type Printer struct {
	quiet   bool
	out     stream
	err     stream
	able    bool // stderr takes escape sequences
	colours bool
	inLines bool // questions are asked in lines all the same

	mu       sync.Mutex
	room     *sync.Cond // waits on mu: results were written
	queue    []piece
	waiting  int      // bytes of progress in the queue
	results  int      // bytes of results in the queue
	lost     int      // texts of progress left out
	held     []string // progress while a prompt is open, oldest first
	heldLen  int      // its bytes
	prompt   string   // the open prompt's last line; empty: none is open
	posed    bool     // a question was shown whose prompt is still to come
	panel    []string // the rows of a prompt that is drawn in place; nil: none is open
	below    bool     // the panel is no prompt: progress is shown above it
	anew     bool     // others have written over the panel
	lent     bool     // another program has the terminal
	finished []chan struct{}
	names    names
	status   Status
	works    []work // stand in its place, the last of them
	failed   error  // the first error of stdout
	closing  bool

	wake chan struct{}
	done chan struct{}
}

type stream struct {
	io.Writer
	terminal *os.File // nil if it is none
}

type pieceKind int

const (
	prompted pieceKind = iota // stderr, never left out
	progress                  // stderr
	result                    // stdout
)

type piece struct {
	kind pieceKind
	text string
}

// NewPrinter starts a Printer that writes to stdout and stderr; whether they are terminals is found out here.
func NewPrinter(stdout, stderr io.Writer, look Look) *Printer {
	getenv := look.Getenv
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	out, err, kind := streamOf(stdout), streamOf(stderr), getenv("TERM")
	able := err.terminal != nil && !look.Plain && kind != "" && kind != "dumb"
	p := newPrinter(out, err, look.Quiet, able, able && getenv("NO_COLOR") == "")
	p.inLines = getenv("ACCESSIBLE") != ""
	return p
}

// forms returns the looks of questions that are drawn in place; nil where they are asked in lines.
func (p *Printer) forms() *styles {
	if !p.able || p.inLines {
		return nil
	}
	return newStyles(p.colours)
}

func newPrinter(out, err stream, quiet, able, colours bool) *Printer {
	p := &Printer{out: out, err: err, quiet: quiet, able: able, colours: colours,
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	p.room = sync.NewCond(&p.mu)
	go p.write() // waited for by Close, as long as its caller lets it: a terminal may take nothing
	return p
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

func streamOf(w io.Writer) stream {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return stream{w, f}
	}
	return stream{w, nil}
}

// maxColumns is the longest line of a text: longer ones are hard to read.
const maxColumns = 80

// Columns is the width that texts are wrapped to: 80, or less on a narrower terminal.
func (p *Printer) Columns() int {
	columns, _ := p.size()
	return max(min(columns, maxColumns), 20)
}

// Width is that of the terminal that results go to; 0 where they go into a pipe or a file, in which nothing is cut.
func (p *Printer) Width() int {
	if p.out.terminal == nil {
		return 0
	}
	if columns, _, err := term.GetSize(int(p.out.terminal.Fd())); err == nil && columns > 0 {
		return columns
	}
	return 80
}

// size is that of the terminal, or 80 by 24 where there is none.
func (p *Printer) size() (columns, rows int) {
	if p.err.terminal != nil {
		if columns, rows, err := term.GetSize(int(p.err.terminal.Fd())); err == nil && columns > 0 && rows > 0 {
			return columns, rows
		}
	}
	return 80, 24
}

// Progress shows what goes on as lines on stderr, wrapped on a terminal and whole in a pipe. It never blocks: if the
// terminal does not keep up, some are left out, and their number is shown.
func (p *Printer) Progress(text string) {
	if p.quiet {
		return
	}
	p.show(progress, p.fit(text))
}

// Notice shows what a person has to know even with Quiet: warnings, how to go on. Otherwise it is like Progress, but
// does not wait where a prompt is drawn in place: it is shown above.
func (p *Printer) Notice(text string) { p.show(prompted, p.fit(text)) }

// Above is Progress that does not wait where a prompt is drawn in place, but is shown above it.
func (p *Printer) Above(text string) {
	if !p.quiet {
		p.show(prompted, p.fit(text))
	}
}

func (p *Printer) fit(text string) string {
	text = strings.TrimRight(Clean(text), "\n")
	if p.err.terminal != nil {
		text = p.named(wrapWords(text, p.Columns()))
	}
	return text + "\n"
}

func (p *Printer) show(kind pieceKind, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closing:
	case p.prompt != "" || p.posed || p.panel != nil && !p.below && kind == progress:
		p.held, p.heldLen = append(p.held, text), p.heldLen+len(text)
		for len(p.held) > maxHeld || p.heldLen > maxWaiting {
			p.heldLen -= len(p.held[0])
			p.held = p.held[1:]
			p.lost++
		}
	case p.waiting+len(text) > maxWaiting:
		p.lost++
	default:
		p.enqueue(p.leftOut(), piece{progress, text})
	}
}

// leftOut says how many texts are missing, before the first that is shown again. Called with mu held.
func (p *Printer) leftOut() piece {
	if p.lost == 0 {
		return piece{}
	}
	n := p.lost
	p.lost = 0
	return piece{progress, fmt.Sprintf("(%d earlier messages are left out)\n", n)}
}

// Result writes text to stdout as lines. It blocks while stdout is far behind. The error is the first that stdout had,
// for this or an earlier text; Close returns it too.
func (p *Printer) Result(text string) error {
	return p.result(strings.TrimRight(Clean(text), "\n") + "\n")
}

// Said writes text to stdout as Result does, in lines that fit if that is a terminal.
func (p *Printer) Said(text string) error {
	text = strings.TrimRight(Clean(text), "\n")
	if p.out.terminal != nil {
		text = p.named(wrapWords(text, p.Columns()))
	}
	return p.result(text + "\n")
}

// Item writes text to stdout behind its label, as Fact puts it.
func (p *Printer) Item(label, text string) error {
	return p.result(Fact(label, strings.TrimRight(Clean(text), "\n"), min(p.Width(), maxColumns)) + "\n")
}

// JSON writes v to stdout as one line of JSON, as the function of that name encodes it. Characters that a terminal
// would obey are escaped, so the line is as safe to show as it is to parse. Blocking and errors are those of Result.
func (p *Printer) JSON(v any) error {
	line, err := JSON(v)
	if err != nil {
		return fmt.Errorf("encoding a line of JSON: %w", err)
	}
	return p.result(escapeHidden(string(line) + "\n"))
}

// escapeHidden writes what Clean would remove as \u escapes. Outside of strings JSON has no such characters.
func escapeHidden(line string) string {
	var b strings.Builder
	for _, r := range line {
		switch {
		case text.Plain(r) == r:
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func (p *Printer) result(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.results > maxResults && p.failed == nil && !p.closing && !p.lent {
		p.room.Wait()
	}
	if p.failed != nil {
		return p.failed
	}
	if p.closing {
		return fmt.Errorf("writing a result: %w", os.ErrClosed)
	}
	if p.prompt != "" && p.out.terminal != nil {
		p.enqueue(piece{prompted, "\n"}, piece{result, text}, piece{prompted, p.prompt})
	} else {
		p.enqueue(piece{result, text})
	}
	return nil
}

// ask shows block and opens a prompt with its last line; an empty one is still to come. Until answered, progress is
// held back.
func (p *Printer) ask(block, prompt string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompt, p.posed = prompt, prompt == ""
	p.enqueue(piece{prompted, block + prompt})
}

// draw shows the rows of a prompt in place, below everything else, until answered or drawn as nil. Without a row the
// prompt stays open, but is taken from the terminal for a while. With anew the rows stand below what others have
// written meanwhile.
func (p *Printer) draw(rows []string, anew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel, p.below, p.anew = rows, false, p.anew || anew
	p.notify()
}

// drawBelow is draw for rows that hold nothing back: what goes on is shown above them.
func (p *Printer) drawBelow(rows []string, anew bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.panel, p.below, p.anew = rows, true, p.anew || anew
	p.notify()
}

// lend keeps everything from the terminal while another program has it, until it is called with false. What is for a
// pipe or a file is written all the same.
func (p *Printer) lend(lent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lent = lent
	p.room.Broadcast()
	p.notify()
}

// due takes what can be written now of the queue. Called with mu held.
func (p *Printer) due() (queue []piece) {
	if !p.lent || p.closing {
		queue, p.queue, p.waiting = p.queue, nil, 0
		return queue
	}
	var stays []piece
	for _, piece := range p.queue {
		if piece.kind == result && p.out.terminal == nil {
			queue = append(queue, piece)
		} else {
			stays = append(stays, piece)
		}
	}
	p.queue = stays
	return queue
}

// finishLine waits until the terminal has taken everything so far, or ctx ends.
func (p *Printer) finishLine(ctx context.Context) {
	taken := make(chan struct{})
	p.mu.Lock()
	p.finished = append(p.finished, taken)
	p.notify()
	p.mu.Unlock()
	select {
	case <-taken:
	case <-p.done:
	case <-ctx.Done():
	}
}

// answered closes the prompt with a last text and shows the progress that was held back.
func (p *Printer) answered(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.prompt, p.posed, p.panel = "", false, nil
	p.enqueue(piece{prompted, text}, p.leftOut())
	for _, line := range p.held {
		p.enqueue(piece{progress, line})
	}
	p.held, p.heldLen = nil, 0
}

// enqueue is called with mu held.
func (p *Printer) enqueue(pieces ...piece) {
	for _, piece := range pieces {
		switch {
		case piece.text == "" || p.closing:
			continue
		case piece.kind == progress:
			p.waiting += len(piece.text)
		case piece.kind == result:
			p.results += len(piece.text)
		}
		p.queue = append(p.queue, piece)
	}
	p.notify()
}

func (p *Printer) notify() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Close writes what is queued, removes the status line and ends the Printer. It returns the first error that stdout
// had, or ctx's if that ends before the terminal has taken everything. Later calls show nothing.
func (p *Printer) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closing {
		p.enqueue(p.leftOut())
		p.closing = true
	}
	p.mu.Unlock()
	p.room.Broadcast()
	p.notify()
	select {
	case <-p.done:
	case <-ctx.Done():
		select {
		case <-p.done: // both may have happened; then everything was written
		default:
			return fmt.Errorf("the terminal did not take all output: %w", context.Cause(ctx))
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// write is the one goroutine that writes. It ends after Close.
func (p *Printer) write() {
	defer close(p.done)
	var line statusLine
	panel := panel{screen: Screen{out: p.err.terminal, size: p.size}}
	ticker := time.NewTicker(frameTime)
	ticker.Stop()
	defer ticker.Stop()
	for ticking := false; ; {
		p.mu.Lock()
		queue, status, closing, rows, anew, settled := p.due(), p.standing(), p.closing, p.panel, p.anew, p.finished
		visible := p.able && p.prompt == "" && !p.posed && rows == nil && status != Status{} && !closing && !p.lent
		if p.lent && !closing {
			rows = nil
		} else {
			p.anew = false
		}
		p.finished = nil
		p.mu.Unlock()

		line.erase(p, len(queue) > 0 || !visible)
		if closing {
			rows = nil
		}
		panel.erase(len(queue) > 0, len(rows) == 0, anew)
		p.flush(queue)
		panel.draw(rows)
		if visible {
			line.draw(p, status)
		}
		for _, taken := range settled {
			close(taken)
		}
		if closing {
			return
		}
		if visible != ticking {
			if ticking = visible; ticking {
				ticker.Reset(frameTime)
			} else {
				ticker.Stop()
			}
		}
		select {
		case <-p.wake:
		case <-ticker.C:
		}
	}
}

// flush writes the pieces, as few writes as their order allows.
func (p *Printer) flush(queue []piece) {
	for len(queue) > 0 {
		toStdout := queue[0].kind == result
		var text strings.Builder
		n := 0
		for ; n < len(queue) && (queue[n].kind == result) == toStdout; n++ {
			text.WriteString(queue[n].text)
		}
		queue = queue[n:]
		if !toStdout {
			// Nobody can be told that stderr is broken, and a run does not end because nobody looks.
			_, _ = io.WriteString(p.err, text.String())
			continue
		}
		_, err := io.WriteString(p.out, text.String())
		p.mu.Lock()
		p.results -= text.Len()
		if err != nil && p.failed == nil {
			p.failed = fmt.Errorf("writing a result: %w", err)
		}
		p.mu.Unlock()
		p.room.Broadcast()
	}
}
