package board

import (
	"context"
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A pane is what is shown of what the cursor is on.
type pane int

const (
	firstPane    pane = iota // the question where the cursor is on one, else the log
	logPane                  // of the agent that asks, where the cursor is on a question
	aboutPane                // the report, and all else that there is to say
	worktreePane             // with merge and drop
	questionPane
	diffPane // on the whole screen; the others are turned to by Tab
)

// viewing is what is read of what the cursor is on.
type viewing struct {
	pane    pane
	subject string // the run or agent that is read; "" for none
	scroll  int    // rows from the end of the log, or from the beginning of the rest
	log     []string
	details *view.Details
	asked   bool // for details, that have not come
	again   bool // and they are asked for once more when they have
	stop    context.CancelFunc
}

type (
	said struct {
		of    string
		first bool
		lines []string
	}
	shown struct {
		of      string
		details view.Details
		err     error
	}
)

const (
	recently = 200  // what was said before that is shown, in texts
	maxLog   = 2000 // texts of a log that are kept
	// how long a text of a log may be, in bytes: a screen of it is enough, and logs has all
	maxText = 16 << 10
)

// shows is the pane that is shown of what the cursor is on.
func (b *Board) shows() pane {
	e, _ := b.current()
	switch {
	case b.pane == firstPane && e.question != nil:
		return questionPane
	case b.pane == firstPane:
		return logPane
	}
	return b.pane
}

// nextPane turns to the next pane.
func (b *Board) nextPane() {
	e, _ := b.current()
	if b.pane == diffPane {
		b.leaveDiff()
		return
	}
	b.pane = (b.pane + 1) % questionPane
	if b.pane == worktreePane && !b.config.has("m") {
		b.pane = firstPane
	}
	if b.pane == logPane && e.question == nil { // it is the first
		b.pane = aboutPane
	}
	b.subject = ""
	b.read()
}

// read begins to show what the cursor is on.
func (b *Board) read() {
	e, _ := b.current()
	if b.pane == logPane && e.question == nil {
		b.pane = firstPane
	}
	of := e.of()
	if b.shows() == questionPane {
		of = ""
	}
	if b.subject == of && of != "" {
		return
	}
	b.stop()
	b.stop = func() {}
	b.subject, b.log, b.details, b.scroll = of, nil, nil, 0
	switch {
	case of == "":
	case b.shows() == logPane:
		b.follow()
	case b.shows() == diffPane:
		b.fetchDiff()
	default:
		b.fetchDetails()
	}
}

// follow reads the log of the subject, as it grows.
func (b *Board) follow() {
	ctx, stop := context.WithCancel(b.ctx)
	b.stop = stop
	of := b.subject
	b.start(func() any {
		select {
		case <-time.After(restsAfter): // a cursor that only passes by has nothing read
		case <-ctx.Done():
			return nil
		}
		first := true
		err := b.config.Service.Follow(ctx, of, recently, func(lines []string) error {
			clean := make([]string, len(lines))
			for i, line := range lines {
				more := len(line) - maxText
				if clean[i] = terminal.Clean(line[:min(len(line), maxText)]); more > 0 {
					clean[i] += fmt.Sprintf("… (%d more bytes: %s logs %s)", more, b.config.Program, of)
				}
			}
			b.send(said{of, first, clean})
			first = false
			return ctx.Err()
		})
		if err != nil && ctx.Err() == nil {
			return err
		}
		return nil
	})
}

// restsAfter is how long the cursor stays on what is read.
const restsAfter = 80 * time.Millisecond

func (b *Board) onSaid(s said) {
	if s.of != b.subject || b.shows() != logPane {
		return
	}
	if s.first {
		b.log = nil
	}
	b.log = append(b.log, s.lines...)
	b.log = b.log[max(len(b.log)-maxLog, 0):]
}

// fetchDetails asks for what is known of the subject, one at a time.
func (b *Board) fetchDetails() {
	of := b.subject
	if of == "" {
		return
	}
	if b.asked {
		b.again = true
		return
	}
	b.asked, b.again = true, false
	b.start(func() any {
		d, err := b.config.Service.Show(b.ctx, of)
		return shown{of, d, err}
	})
}

func (b *Board) onShown(s shown) {
	b.asked = false
	if s.of == b.subject {
		b.details = &s.details
		if s.err != nil {
			b.details, b.note = nil, "! "+s.err.Error()
		}
	}
	if b.again || s.of != b.subject && (b.shows() == aboutPane || b.shows() == worktreePane) {
		b.fetchDetails()
	}
}

// scrollBy scrolls the pane by rows: of a log the end is shown first, of all else the beginning.
func (b *Board) scrollBy(rows int) {
	e, _ := b.current()
	switch b.shows() {
	case questionPane:
		if e.open() {
			b.formOf(*e.question).Scroll(rows)
			return
		}
		b.scroll = max(b.scroll+rows, 0)
	case logPane:
		b.scroll = min(b.scroll+rows, 0)
	case firstPane, aboutPane, worktreePane, diffPane:
		b.scroll = max(b.scroll+rows, 0)
	}
}

// worktrees says which worktrees there are.
func (b *Board) worktrees() string {
	var text strings.Builder
	for _, a := range b.details.Run.Agents {
		w, own := b.details.Worktrees[a.ID]
		if !own || b.details.Agent != "" && b.details.Agent != a.ID {
			continue
		}
		fmt.Fprintf(&text, "%s: %s\n", terminal.CleanLine(labelOf(&a), 60), w.State)
		for _, fact := range []string{w.Branch, b.home(w.Path), w.Left} {
			if fact != "" {
				text.WriteString("  " + terminal.CleanLine(fact, 0) + "\n")
			}
		}
	}
	if text.Len() == 0 {
		return "There are no worktrees. Runs with --worktree make one for each agent that work is delegated to."
	}
	return text.String()
}

// worktree asks whether the worktree of an agent is to be merged or dropped.
func (b *Board) worktree(key, of string) {
	if b.shows() != worktreePane || b.details == nil {
		b.note = "Tab shows the worktrees; there m merges one and d drops it."
		return
	}
	agent := of
	if b.details.Agent == "" && len(b.details.Worktrees) == 1 {
		for only := range b.details.Worktrees {
			agent = only
		}
	}
	w, own := b.details.Worktrees[agent]
	merger := b.config.Service.(service.Merger)
	commands, what, do := w.Merge, "Merge what is left in the worktree of ", merger.Merge
	if key == "d" {
		commands, what, do = w.Drop, "Drop the worktree of ", merger.Drop
	}
	if !own || len(commands) == 0 {
		b.note = "There is nothing of " + agent + " to do that with; select the agent whose worktree it is."
		return
	}
	run := b.details.Run.ID
	text := []string{what + agent + "?", "", w.Left, "", "What you would type:"}
	if key == "d" {
		text[2] += "\nChanges that are not merged are lost."
	}
	b.sure(func() (string, error) { return do(b.ctx, run, agent) }, append(text, commands...)...)
}
