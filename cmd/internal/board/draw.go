package board

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
)

// layout is where on the screen things stand, in cells.
type layout struct {
	top, list, listWidth int // rows above the list, of the list; its columns
	pane, paneWidth      int // rows and columns of what is beside or below it
}

// sideBySide is the width from which on the pane stands beside the list.
const sideBySide = 110

func lay(columns, rows int) layout {
	body := max(rows-3, 2) // a title above, and two rows of keys and notes below
	if columns >= sideBySide {
		left := columns / 2
		return layout{top: 1, list: body, listWidth: left, pane: body, paneWidth: columns - left - 1}
	}
	list := max(body/2-1, 1)
	return layout{top: 1, list: list, listWidth: columns, pane: body - list, paneWidth: columns}
}

// look is what a row looks like.
type look int

const (
	plain look = iota
	asks
	urgent
	works
	over
	wrong
	faint
	bold
)

func lookOf(status string) look {
	switch status {
	case "running", "starting":
		return works
	case "waiting", "parked", "blocked":
		return asks
	case "failed", "orphaned", "unreported", "over_budget", "suspended":
		return wrong
	case "succeeded", "stopped", "partial":
		return over
	}
	return plain
}

var styles = map[look]lipgloss.Style{
	asks:   lipgloss.NewStyle().Foreground(lipgloss.Cyan),
	urgent: lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true),
	works:  lipgloss.NewStyle().Foreground(lipgloss.Green),
	over:   lipgloss.NewStyle().Faint(true),
	wrong:  lipgloss.NewStyle().Foreground(lipgloss.Red),
	faint:  lipgloss.NewStyle().Faint(true),
	bold:   lipgloss.NewStyle().Bold(true),
}

func (b *Board) paint(look look, text string) string {
	style, is := styles[look]
	if !b.config.Colours || !is || text == "" {
		return text
	}
	return style.Render(text)
}

// Rows is what stands on the screen now.
func (b *Board) Rows(columns, rows int, now time.Time) []string {
	drawn := b.rows(max(columns, 20), max(rows, 4), now)
	return drawn[:min(len(drawn), rows)] // whoever draws cuts what is too wide
}

func (b *Board) rows(columns, rows int, now time.Time) []string {
	b.place = lay(columns, rows)
	head := []string{b.paint(bold, ansi.Truncate(b.title(), columns, "…"))}
	foot := b.foot(columns)
	room := max(rows-len(head)-len(foot), 1)
	switch {
	case b.help:
		return b.below(head, strings.Split(helpText, "\n"), foot, room)
	case b.confirm != nil:
		asked := b.wrapped(strings.Join(b.confirm.text, "\n  "), columns)
		return b.below(head, append(asked, "", "y does it, any other key does not."), foot, room)
	case b.form != nil && columns < sideBySide:
		return b.below(head, b.form.Rows(columns, room, b.waiting()-1, now), foot, room)
	}
	b.place.pane += 2 - len(foot)
	left := b.listRows(now)
	title, right := b.paneRows(now)
	right = append([]string{b.paint(faint, ansi.Truncate(title, b.place.paneWidth, "…"))}, right...)
	if columns < sideBySide {
		return b.below(head, append(left, right...), foot, room)
	}
	var body []string
	for i := range room {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		l = ansi.Truncate(l, b.place.listWidth, "…")
		body = append(body, l+strings.Repeat(" ", b.place.listWidth-ansi.StringWidth(l))+b.paint(faint, "│")+r)
	}
	return b.below(head, body, foot, room)
}

// below puts what belongs at the bottom there.
func (b *Board) below(head, body, foot []string, room int) []string {
	body = body[:min(len(body), room)]
	for len(body) < room {
		body = append(body, "")
	}
	return append(append(head, body...), foot...)
}

func (b *Board) title() string {
	text := fmt.Sprintf("claude-supervise · %d asked · %d runs", b.waiting(), len(b.now.Runs))
	if b.filter != "" {
		text += " · only: " + terminal.CleanLine(b.filter, 40)
	}
	if b.past != nil {
		text += " · with those that have ended"
	}
	return text
}

const keysRow = "a answer · w write · s stop · r resume · / filter · Tab pane · ? keys · q leaves"

func (b *Board) foot(columns int) []string {
	note, keys := terminal.CleanLine(b.note, columns), keysRow
	look := plain
	switch {
	case b.broken != nil:
		note = terminal.CleanLine("! the state cannot be read, and is tried again: "+b.broken.Error(), columns)
		look = wrong
	case note == "" && len(b.now.Problems) > 0:
		note = terminal.CleanLine("! "+b.now.Problems[len(b.now.Problems)-1], columns)
		look = wrong
	case strings.HasPrefix(note, "!"):
		look = wrong
	}
	switch {
	case b.line != nil:
		text := b.line.label + strings.ReplaceAll(string(b.line.text), "\n", "⏎")
		if over := ansi.StringWidth(text) - columns + 1; over > 0 {
			text = ansi.TruncateLeft(text, over+1, "…")
		}
		return []string{b.paint(look, note), text + "\x1b[7m \x1b[m"}
	case b.form != nil && b.sending:
		keys = "sending…"
	case b.form != nil:
		keys = "Esc back to the board"
	}
	return []string{b.paint(look, note), b.paint(faint, ansi.Truncate(keys, columns, "…"))}
}

// listRows gives the rows of the list that there is room for, those around the cursor.
func (b *Board) listRows(now time.Time) []string {
	if len(b.list) == 0 {
		text := "Nothing runs, and nothing is asked. e shows what has ended."
		switch {
		case !b.known:
			text = "Looking…"
		case b.filter != "":
			text = "Nothing fits the filter; / changes it."
		}
		return b.below(nil, []string{text}, nil, b.place.list)
	}
	at := max(b.at(), 0)
	b.first = min(max(b.first, at-b.place.list+1), at)
	b.first = max(min(b.first, len(b.list)-b.place.list), 0)
	var rows []string
	for i := b.first; i < min(len(b.list), b.first+b.place.list); i++ {
		text, look := b.row(b.list[i], now)
		mark := "  "
		if i == at {
			mark = "❯ "
		}
		text = ansi.Truncate(mark+text, b.place.listWidth, "…")
		if i == at && look != urgent {
			look = bold
		}
		rows = append(rows, b.paint(look, text))
	}
	return b.below(nil, rows, nil, b.place.list)
}

// paneRows gives what is shown of what the cursor is on.
func (b *Board) paneRows(now time.Time) (title string, rows []string) {
	width, room := b.place.paneWidth, max(b.place.pane-1, 1)
	if b.form != nil {
		return "question", b.form.Rows(width, room, b.waiting()-1, now)
	}
	e, is := b.current()
	if is && e.question != nil && b.pane == logPane {
		text := terminal.Render(b.config.Question(*e.question), width, now)
		return "question · Enter answers · Tab: log, report, worktrees", b.part(b.wrapped(text, width), room)
	}
	title = [panes]string{"log of ", "report of ", "worktrees of "}[b.pane] + b.subject
	switch {
	case b.subject == "":
		return "", nil
	case b.pane == logPane:
		return title, b.tail(width, room)
	case b.details == nil:
		return title, []string{"…"}
	case b.pane == aboutPane:
		return title, b.part(b.wrapped(b.config.About(width, *b.details), width), room)
	}
	return title + " · m merges · d drops", b.part(b.wrapped(b.worktrees(), width), room)
}

func (b *Board) worktrees() string {
	var text strings.Builder
	for _, a := range b.details.Run.Agents {
		w, own := b.details.Worktrees[a.ID]
		if !own || b.details.Agent != "" && b.details.Agent != a.ID {
			continue
		}
		fmt.Fprintf(&text, "%s  %s  %s  %s\n  %s\n", a.ID, w.State, w.Branch, b.config.Home(w.Path),
			terminal.CleanLine(w.Left, 0))
	}
	if text.Len() == 0 {
		return "There are no worktrees."
	}
	return text.String()
}

func (b *Board) wrapped(text string, width int) []string {
	text = strings.ReplaceAll(strings.TrimRight(terminal.Clean(text), "\n"), "\t", "    ")
	return strings.Split(ansi.Wrap(text, max(width, 1), ""), "\n")
}

// part gives the rows that were scrolled to.
func (b *Board) part(rows []string, room int) []string {
	b.scroll = min(max(b.scroll, 0), max(len(rows)-room, 0))
	rest := rows[b.scroll:]
	if len(rest) > room {
		return append(rest[:room-1:room-1], b.paint(faint, fmt.Sprintf("… %d rows below · PgDn", len(rest)-room+1)))
	}
	return rest
}

// tail gives the end of the log, or what stands above it by as many rows as were scrolled.
func (b *Board) tail(width, room int) []string {
	b.scroll = min(b.scroll, 0)
	var rows []string // from the last on
	at := len(b.log) - 1
	for ; at >= 0 && len(rows) < room-b.scroll; at-- {
		wrapped := b.wrapped(b.log[at], width)
		for i := len(wrapped) - 1; i >= 0; i-- {
			rows = append(rows, wrapped[i])
		}
	}
	if at < 0 { // no more above
		b.scroll = min(max(b.scroll, room-len(rows)), 0)
	}
	rows = rows[min(-b.scroll, len(rows)):]
	rows = rows[:min(len(rows), room)]
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	if len(b.log) == 0 {
		return []string{b.paint(faint, "Nothing was said yet.")}
	}
	return rows
}

// scrolled is what is scrolled to after some more rows; of a log, whose end is shown first, it is negative.
func (b *Board) scrolled(by int) int {
	if e, _ := b.current(); b.pane == logPane && e.question == nil {
		return min(b.scroll+by, 0)
	}
	return max(b.scroll+by, 0)
}

const helpText = `  a            answers what is asked, urgent first, then the oldest
  Enter        answers the question that the cursor is on
  w            writes to the agent; its log shows what it says
  s            stops it        r  goes on with the run
  R            tries again what has failed
  p            forgets a run that has ended
  o            opens its folder        c  copies its id
  /            shows only what has these words: text, status, folder
  e            shows the runs that have ended, or hides them
  Tab          log, report, worktrees (there m merges, d drops)
  PgUp, PgDn   scroll the log or the question, as the wheel does
  ?            these keys
  q, Ctrl-C    leaves; the runs go on`
