package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
)

// layout is where on the screen things stand, in cells.
type layout struct {
	top, list, listWidth int   // rows above the list, of the list; its columns
	pane, paneWidth      int   // rows and columns of what is beside or below it, its title among them
	formTop, formLeft    int   // rows above the open form; columns beside it
	lines                []int // of the list, that are shown, from its top on
}

// sideBySide is the width from which on the pane stands beside the list.
const sideBySide = 110

// lay says where things stand on so many rows of the body. A list that is short leaves its room to the pane.
func (b *Board) lay(columns, body int) (lines []int) {
	if columns >= sideBySide && !b.whole {
		lines = b.lines(body)
		left := columns * 11 / 20
		b.place = layout{top: 1, list: body, listWidth: left, pane: body, paneWidth: columns - left - 1}
		return lines
	}
	most := max((body-1)*2/5, 1)
	lines = b.lines(most)
	list := min(max(len(lines), 1), most)
	b.place = layout{top: 1, list: list, listWidth: columns, pane: body - list, paneWidth: columns}
	if b.whole {
		b.place = layout{top: 1, pane: body, paneWidth: columns}
	}
	return lines
}

// Rows is what stands on the screen now.
func (b *Board) Rows(columns, rows int, now time.Time) []string {
	drawn := b.rows(max(columns, 20), max(rows, 4), now)
	return drawn[:min(len(drawn), rows)] // whoever draws cuts what is too wide
}

func (b *Board) rows(columns, rows int, now time.Time) []string {
	head, foot := []string{b.title(columns)}, b.foot(columns, rows)
	room := max(rows-len(head)-len(foot), 1)
	lines := b.lay(columns, room)
	switch {
	case b.cover != nil:
		return slices.Concat(head, filled(b.part(b.cover.rows(columns), room), room), foot)
	case b.confirm != nil:
		b.scroll = 0
		asked := b.part(b.wrapped(strings.Join(b.confirm.text, "\n"), columns), room)
		return slices.Concat(head, filled(asked, room), foot)
	case b.form != nil && columns < sideBySide:
		b.place.listWidth, b.place.formTop = 0, len(head)
		return slices.Concat(head, filled(b.form.Rows(columns, room, b.around(), now), room), foot)
	}
	if len(b.list) == 0 && b.form == nil {
		b.place.lines = nil
		return slices.Concat(head, filled(b.wrapped(b.nothing(), columns), room), foot)
	}
	title, right := b.paneRows(now)
	right = append([]string{b.paint(faint, b.rule(title, b.place.paneWidth))}, right...)
	b.place.formTop = len(head) + 1 // below the title
	if b.whole {
		return slices.Concat(head, filled(right, room), foot)
	}
	left := filled(b.listRows(lines, now), b.place.list)
	b.place.formLeft = b.place.listWidth + 1
	if columns < sideBySide {
		return slices.Concat(head, left, filled(right, room-len(left)), foot)
	}
	body := make([]string, room)
	right = filled(right, room)
	bar := b.paint(faint, "│")
	for i := range body {
		body[i] = left[i] + strings.Repeat(" ", max(b.place.listWidth-ansi.StringWidth(left[i]), 0)) + bar + right[i]
	}
	return slices.Concat(head, body, foot)
}

// filled returns exactly so many rows.
func filled(rows []string, room int) []string {
	room = max(room, 0)
	rows = rows[:min(len(rows), room)]
	return append(rows[:len(rows):len(rows)], make([]string, room-len(rows))...)
}

func (b *Board) title(columns int) string {
	cost := 0.0
	states := map[string]int{}
	for _, r := range b.now.Runs {
		cost += r.CostUSD
		states[string(r.Status)]++
	}
	parts := []string{b.config.Program, plural(b.waiting(), "question", "questions"),
		plural(len(b.now.Runs), "run", "runs")}
	if n := states["running"]; n > 0 && n < len(b.now.Runs) {
		parts[2] += fmt.Sprintf(" (%d running)", n)
	}
	if cost > 0 {
		parts = append(parts, terminal.Money(cost))
	}
	if b.filter != "" {
		parts = append(parts, "filter: "+terminal.CleanLine(b.filter, 40))
	}
	if b.all {
		parts = append(parts, "with those that have ended")
	}
	if columns < wideEnough {
		parts = parts[1:]
	}
	text, place := strings.Join(parts, " · "), ""
	if at := b.at(); at >= 0 {
		place = fmt.Sprintf(" %d/%d", at+1, len(b.list))
	}
	text = ansi.Truncate(text, columns-len(place), "…")
	gap := strings.Repeat(" ", max(columns-len(place)-ansi.StringWidth(text), 0))
	return b.paint(bold, text) + gap + b.paint(faint, place)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// keysRow names the keys that lead on from what the cursor is on.
func (b *Board) keysRow() string {
	e, is := b.current()
	_, open := b.asks(e)
	switch {
	case b.grace.On():
		return "Keys count again once you have stopped typing."
	case b.confirm != nil:
		return "y does it · any other key does not"
	case b.cover != nil:
		return "↑↓ scroll · any other key: back"
	case b.form != nil && b.sending:
		return "sending…"
	case b.form != nil:
		return "Esc back to the board · what you have typed stays"
	case b.whole:
		return b.keys("Esc back", "↑↓ PgUp PgDn scroll", "w write", "s stop", "? keys")
	case is && b.shows() == worktreePane:
		return "m merge · d drop · Tab next pane · o folder · ? keys · q quit"
	case is && open:
		return b.keys("Enter answer", "Tab pane", "w write", "s stop", "n new", "/ filter", "? keys", "q quit")
	case is && e.answered() && b.config.has("A"):
		return b.keys("Enter open", "A answer differently", "Tab pane", "w write", "/ filter", "? keys", "q quit")
	case is && e.forked() && b.config.has("K"):
		return b.keys("Enter open", "= compare", "K keep", "Tab pane", "d diff", "w write", "s stop", "/ filter", "? keys",
			"q quit")
	case is && e.run != nil && e.run.SupervisorPID != 0:
		return b.keys("Enter open", "Tab pane", "d diff", "w write", "s stop", "n new", "/ filter", "? keys", "q quit")
	case is:
		return b.keys("Enter open", "Tab pane", "d diff", "w write", "s stop", "r resume", "n new", "/ filter", "? keys",
			"q quit")
	}
	return b.keys("n new", "e those that have ended", "/ filter", "? keys", "q quit")
}

// keyRows is keysRow in as many rows as it takes, each with whole keys; on a low screen it is cut to one.
func (b *Board) keyRows(columns, rows int) []string {
	const between = " · "
	lines := []string{""}
	for _, key := range strings.Split(b.keysRow(), between) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = key
		case ansi.StringWidth(*last+between+key) <= columns:
			*last += between + key
		default:
			lines = append(lines, key)
		}
	}
	if rows < leastForKeys {
		lines = []string{strings.Join(lines, between)}
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], columns, "…")
	}
	return lines
}

// leastForKeys is from how many rows on a narrow screen names all keys.
const leastForKeys = 12

// keys names those of some keys that the board has.
func (b *Board) keys(named ...string) string {
	return strings.Join(slices.DeleteFunc(named, func(name string) bool {
		key, _, _ := strings.Cut(name, " ")
		return !b.config.has(key)
	}), " · ")
}

// foot is what has happened, in as many rows as it takes up to a quarter of the screen, and the keys or what is typed.
func (b *Board) foot(columns, rows int) []string {
	note, look := b.note, plain
	switch {
	case b.broken != nil:
		note, look = "! the state cannot be read, and is tried again: "+b.broken.Error(), wrong
	case note == "" && len(b.now.Problems) > 0:
		note, look = "! "+b.now.Problems[len(b.now.Problems)-1], wrong
	case strings.HasPrefix(note, "!"):
		look = wrong
	}
	foot := b.wrapped(terminal.CleanLine(note, 0), columns)
	if most := max(rows/4, 1); len(foot) > most {
		foot = foot[:most]
		foot[most-1] = ansi.Truncate(foot[most-1], columns-1, "") + "…"
	}
	for i := range foot {
		foot[i] = b.paint(look, foot[i])
	}
	if b.line == nil {
		for _, row := range b.keyRows(columns, rows) {
			foot = append(foot, b.paint(faint, row))
		}
		return foot
	}
	text := terminal.CleanLine(b.line.label, 60) + " " + strings.ReplaceAll(terminal.Clean(string(b.line.text)), "\n", "⏎")
	if over := ansi.StringWidth(text) - columns + 1; over > 0 {
		text = ansi.TruncateLeft(text, over+1, "…")
	}
	return append(foot, text+"\x1b[7m \x1b[m")
}

// paneRows returns what is shown of what the cursor is on, below its title.
func (b *Board) paneRows(now time.Time) (title string, rows []string) {
	width, room := b.place.paneWidth, max(b.place.pane-1, 1)
	e, is := b.current()
	if b.form != nil {
		return b.tabs(e), b.form.Rows(width, room, b.around(), now)
	}
	switch shown := b.shows(); {
	case !is:
		return "", nil
	case shown == questionPane && e.open():
		return b.tabs(e), b.formOf(*e.question).Preview(width, room, now)
	case shown == questionPane:
		return b.tabs(e), b.part(b.wrapped(b.config.Asked(width, *e.question), width), room)
	case b.subject == "":
		return b.tabs(e), []string{"The script that asks belongs to no run."}
	case shown == logPane:
		return b.tabs(e), b.tail(width, room)
	case shown == diffPane && !b.diffRead:
		return b.tabs(e), []string{"…"}
	case shown == diffPane:
		return b.tabs(e), b.part(b.diffRows(width), room)
	case b.details == nil:
		return b.tabs(e), []string{"…"}
	case shown == aboutPane:
		return b.tabs(e), b.part(b.wrapped(b.config.About(width, *b.details), width), room)
	}
	return b.tabs(e), b.part(b.wrapped(b.worktrees(), width), room)
}

// tabs names the panes, with the one that is shown in brackets, and what they are of.
func (b *Board) tabs(e entry) string {
	if b.form != nil {
		return "question ── " + terminal.CleanLine(b.form.Question().ID, 120)
	}
	names := []string{"log", "report"}
	if b.config.has("m") {
		names = append(names, "worktrees")
	}
	if b.pane == diffPane {
		names = []string{"diff"}
		if b.against != "" {
			names = []string{"compare"}
		}
	}
	shown := map[pane]string{questionPane: "question", logPane: "log", aboutPane: "report",
		worktreePane: "worktrees", diffPane: names[0]}[b.shows()]
	if e.question != nil && b.pane != diffPane {
		names = append([]string{"question"}, names...)
	}
	for i, name := range names {
		if name == shown {
			names[i] = "[" + name + "]"
		}
	}
	of := cmp.Or(b.subject, e.id)
	if place := b.home(e.place()); place != "" && e.question == nil {
		of += " · " + terminal.CleanLine(place, 60)
	}
	return strings.Join(names, " ") + " ── " + terminal.CleanLine(of, 120)
}

func (b *Board) wrapped(text string, width int) []string {
	return terminal.Wrap(strings.TrimRight(terminal.Clean(text), "\n"), width)
}

// part returns the rows that were scrolled to.
func (b *Board) part(rows []string, room int) []string {
	b.scroll = min(max(b.scroll, 0), max(len(rows)-room, 0))
	rest := slices.Clone(rows[b.scroll:])
	if len(rest) > room && room > 0 {
		rest = append(rest[:room-1], b.paint(faint, fmt.Sprintf("… %d rows below · PgDn", len(rest)-room+1)))
	}
	if b.scroll > 0 && room > 2 {
		rest[0] = b.paint(faint, fmt.Sprintf("… %d rows above · PgUp", b.scroll+1))
	}
	return rest
}

// tail returns the end of the log, or what stands above it by as many rows as were scrolled.
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
	slices.Reverse(rows)
	if len(b.log) == 0 {
		return []string{b.paint(faint, "Nothing was said yet.")}
	}
	if b.scroll < 0 && len(rows) == room {
		rows[room-1] = b.paint(faint, fmt.Sprintf("… %d rows below · PgDn", 1-b.scroll))
	}
	return rows
}

// helpRows says what the keys do.
func (b *Board) helpRows(width int) (rows []string) {
	const column = 14
	for _, key := range b.keysHelp() {
		for i, row := range b.wrapped(key.does, max(width-column, 20)) {
			if i > 0 {
				key.keys = ""
			}
			rows = append(rows, fmt.Sprintf("  %-*s%s", column-2, key.keys, row))
		}
	}
	return rows
}
