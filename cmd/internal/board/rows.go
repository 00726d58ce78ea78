package board

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// look is what a text looks like.
type look int

const (
	plain look = iota
	asks
	urgent
	works
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
		return faint
	}
	return plain
}

var styles = map[look]lipgloss.Style{
	asks:   lipgloss.NewStyle().Foreground(lipgloss.Cyan),
	urgent: lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true),
	works:  lipgloss.NewStyle().Foreground(lipgloss.Green),
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

// The columns of the list, in cells. What a row says stands behind them, and where the work is done at the right.
const (
	markWidth   = 2
	statusWidth = 11
	ageWidth    = 4
	costWidth   = 8
	wideEnough  = 50 // below that a row has no cost
	maxPlace    = 20
)

// heading names the columns of runs.
const heading = "runs"

// lines returns what the lines of the list are: entries by their places, -1 for the heading that stands above the runs
// where there is room.
func (b *Board) lines(room int) []int {
	lines := make([]int, 0, len(b.list)+1)
	headed := room < 8
	for i, e := range b.list {
		if !e.open() && !headed {
			headed = true
			lines = append(lines, -1)
		}
		lines = append(lines, i)
	}
	return lines
}

// listRows returns the lines of the list that there is room for, those around the cursor, and notes which they are.
func (b *Board) listRows(lines []int, now time.Time) []string {
	cursor := b.at()
	b.place.lines = b.visible(lines, cursor)
	rows := make([]string, 0, len(b.place.lines))
	for i, line := range b.place.lines {
		switch {
		case line < 0:
			rows = append(rows, b.paint(faint, b.rule(heading, b.place.listWidth)))
		default:
			rows = append(rows, b.row(b.list[line], b.mark(i, line == cursor), b.place.listWidth, now))
		}
	}
	return rows
}

// nothing says of an empty list what would be in it.
func (b *Board) nothing() string {
	switch {
	case !b.known:
		return "Looking…"
	case b.filter != "":
		return "Nothing has these words, and nothing of what is past. / changes them, Esc shows all."
	}
	text := "No run is active, and no question is open.\n" +
		"Every run that you start is here, from whichever terminal, with what it asks: answer it, watch it, write to it, " +
		"stop or resume it."
	if b.config.has("n") {
		text += "\nn starts one."
	}
	return text + " e shows those that have ended."
}

// mark is what stands before a row that is shown: the cursor, and whether there are more above or below it.
func (b *Board) mark(row int, cursor bool) string {
	mark, more := " ", " "
	if cursor {
		mark = "❯"
	}
	at, parts := b.place.lines[row], slices.Contains(b.place.lines, -1)
	hidden := func(next int) bool {
		return next >= 0 && next < len(b.list) && !slices.Contains(b.place.lines, next) &&
			(!parts || b.list[next].open() == b.list[at].open())
	}
	switch {
	case hidden(at - 1):
		more = "▲"
	case hidden(at + 1):
		more = "▼"
	}
	return mark + more
}

// leastRows is how many rows the questions and the runs leave each other, where the list is too long for the screen.
const leastRows = 3

// visible returns the lines of the list that there is room for. The part that the cursor is in, questions or runs,
// scrolls with it; of the other some rows stay.
func (b *Board) visible(lines []int, cursor int) []int {
	room := b.place.list
	runs := slices.IndexFunc(lines, func(line int) bool { return line < 0 || !b.list[line].open() })
	if runs <= 0 || len(lines) <= room || room < leastRows+2 {
		b.first = scrolled(lines, room, cursor, b.first)
		return lines[b.first:min(len(lines), b.first+room)]
	}
	asked, below := lines[:runs], lines[runs:]
	headed := 0
	if below[0] < 0 {
		headed = 1
	}
	rest := room - headed // for entries
	below = below[headed:]
	upper := min(len(asked), leastRows)
	if slices.Contains(asked, cursor) {
		upper = min(len(asked), rest-min(len(below), leastRows))
	}
	upper = max(upper, rest-len(below))
	b.first = scrolled(asked, upper, cursor, b.first)
	b.firstRun = scrolled(below, rest-upper, cursor, b.firstRun)
	return slices.Concat(asked[b.first:b.first+upper], lines[runs:runs+headed],
		below[b.firstRun:b.firstRun+rest-upper])
}

// scrolled returns the first line that is shown of so many, with the cursor among them if it is in these lines.
func scrolled(lines []int, room, cursor, first int) int {
	if at := slices.Index(lines, cursor); at >= 0 {
		first = min(max(first, at-room+1), at)
		if at == 1 && lines[0] < 0 { // the heading, too
			first = 0
		}
	}
	return max(min(first, len(lines)-room), 0)
}

// rule is a line with a text in it.
func (b *Board) rule(text string, width int) string {
	text = ansi.Truncate("── "+text+" ", width, "…")
	return text + strings.Repeat("─", max(width-ansi.StringWidth(text), 0))
}

// row is an entry in a line.
func (b *Board) row(e entry, mark string, width int, now time.Time) string {
	cursor := strings.HasPrefix(mark, "❯")
	if e.question != nil {
		return b.questionRow(mark, *e.question, cursor, width, now)
	}
	status, since, cost, label, reason, place := "", "", "", "", "", ""
	if a := e.agent; a != nil {
		status, since, cost = string(a.Status), age(a.Since, now), money(a.CostUSD)
		label = strings.Repeat("  ", min(e.depth, 7)-1) + "└ " + labelOf(a)
		reason = view.Because(a.Reason)
		if e.run.Worker == "" { // else where the run is
			place = a.Cwd
		}
	} else {
		status, since, cost = string(e.run.Status), age(e.run.Since, now), money(e.run.CostUSD)
		if e.run.Suspended {
			status = "suspended"
		}
		label, reason, place = nameOf(e.run), view.Because(e.run.Reason), e.place()
	}
	look := lookOf(status)
	if status == "succeeded" { // which says it
		reason = ""
	}
	columns := fmt.Sprintf(" %*s ", ageWidth, since)
	if width >= wideEnough {
		columns += fmt.Sprintf("%*s  ", costWidth, cost)
	}
	status = fmt.Sprintf("%-*s", statusWidth, ansi.Truncate(terminal.CleanLine(status, 40), statusWidth, "…"))
	if width < wideEnough {
		place = ""
	}
	left := width - markWidth - statusWidth - ansi.StringWidth(columns)
	return mark + b.paint(look, status) + columns +
		b.sides(label, line(reason, 400), b.home(place), left, cursor, look == faint)
}

func (b *Board) questionRow(mark string, q view.QuestionView, cursor bool, width int, now time.Time) string {
	kind, look, since, answer := "?", asks, q.AskedAt, ""
	switch {
	case q.State != supervisor.Open:
		kind, look, answer = "✓", faint, closing(q)
		if q.AnsweredAt != nil {
			since = *q.AnsweredAt
		}
	case q.Urgent:
		kind, look = "!", urgent
	}
	place := b.home(q.Cwd)
	if q.RunName != "" {
		place = line(q.RunName, 0)
	}
	if width < wideEnough {
		place = ""
	}
	columns := fmt.Sprintf(" %*s  ", ageWidth, age(since, now))
	return mark + b.paint(look, kind) + columns +
		b.sides(line(q.Asks(), 400), line(answer, 400), place, width-markWidth-1-len(columns), cursor, look == faint)
}

// sides puts what something is called and how it stands at the left of a row, and where it is at its right: of a folder
// the end.
func (b *Board) sides(label, reason, place string, width int, cursor, over bool) string {
	place = terminal.CleanLine(place, 0)
	switch most := min(maxPlace, width/3); {
	case ansi.StringWidth(place) <= most:
	case !strings.Contains(place, "/"): // a name
		place = ansi.Truncate(place, most, "…")
	default:
		place = ansi.TruncateLeft(place, ansi.StringWidth(place)-most+1, "…")
	}
	room := width
	if place != "" {
		room -= ansi.StringWidth(place) + 2
	}
	const between = " · "
	if reason != "" {
		label = ansi.Truncate(label, max(room/2, room-ansi.StringWidth(between+reason)), "…") + between + reason
	}
	text := ansi.Truncate(label, max(room, 0), "…")
	gap := strings.Repeat(" ", max(width-ansi.StringWidth(text)-ansi.StringWidth(place), 0))
	switch {
	case cursor:
		text = b.paint(bold, text)
	case over:
		text = b.paint(faint, text)
	}
	if place == "" {
		return text
	}
	return text + gap + b.paint(faint, place)
}

func (b *Board) home(folder string) string {
	if folder == "" {
		return ""
	}
	return b.config.Home(folder)
}

// nameOf is what a person calls a run: by its name, else by what it is to do. Of one with several agents these say so.
func nameOf(r *view.RunView) string {
	if r.Name != "" {
		return line(r.Name, 60)
	}
	if len(r.Agents) == 1 {
		return cmp.Or(line(r.Agents[0].Task, 200), r.ID)
	}
	return r.ID
}

func money(usd float64) string {
	if usd == 0 {
		return ""
	}
	return terminal.Money(usd)
}

// labelOf is what a person calls an agent.
func labelOf(a *view.AgentView) string { return cmp.Or(line(a.Name, 60), line(a.Task, 200), a.ID) }

// line is the first line of a text that has something in it.
func line(text string, most int) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return terminal.CleanLine(first, most)
}

// age is how long ago something was. It is right for as long as a picture stands: less than a minute is no number.
func age(t, now time.Time) string {
	switch d := now.Sub(t); {
	case t.IsZero():
		return ""
	case d < time.Minute: // or the clock was set back
		return "<1m"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d < 1000*24*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	}
	return fmt.Sprintf("%dy", now.Sub(t)/(365*24*time.Hour))
}
