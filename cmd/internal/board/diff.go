package board

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/text"
)

// diffing is what the run or the agent under the cursor has changed: on the whole screen, until the person leaves it.
type diffing struct {
	diff     string
	diffRead bool   // else it is on its way
	against  string // the run that it is compared with, in place of its diff; "": with none
	both     [2]service.Compared
}

type diffed struct {
	of, text string
	both     [2]service.Compared
	err      error
}

// showDiff shows what a run or an agent has changed.
func (b *Board) showDiff(e entry) {
	if e.of() == "" {
		b.note = "The script that asks belongs to no run."
		return
	}
	b.pane, b.whole, b.subject, b.against = diffPane, true, "", ""
	b.read()
}

// leaveDiff goes back from the diff, if that is shown, to the list.
func (b *Board) leaveDiff() {
	if b.pane == diffPane {
		b.pane, b.whole, b.subject = firstPane, false, ""
		b.read()
	}
}

func (b *Board) fetchDiff() {
	of, against := b.subject, b.against
	b.diff, b.diffRead = "", false
	b.start(func() any {
		if against != "" {
			both, err := b.config.Service.(service.Forker).Compare(b.ctx, against, of)
			return diffed{of: of, both: both, err: err}
		}
		text, err := b.config.Service.(service.Differ).Diff(b.ctx, of, false)
		return diffed{of: of, text: text, err: err}
	})
}

func (b *Board) onDiffed(d diffed) {
	switch {
	case d.of != b.subject || b.pane != diffPane:
	case d.err != nil:
		b.leaveDiff()
		b.note = "! " + d.err.Error()
	default:
		b.diff, b.both, b.diffRead = d.text, d.both, true
	}
}

// diffRows lays the diff out in rows of at most width cells: lines are broken where the row is full, so that no space
// is lost, and each row has the look of its line.
func (b *Board) diffRows(width int) (rows []string) {
	if b.against != "" {
		return b.wrapped(b.config.Compared(width, b.both), width)
	}
	looks := [...]look{text.DiffFile: bold, text.DiffHunk: faint, text.Added: works, text.Removed: wrong}
	for is, line := range text.DiffLines(strings.TrimRight(b.diff, "\n")) {
		line = strings.ReplaceAll(terminal.Clean(line), "\t", "    ")
		for row := range strings.SplitSeq(ansi.Hardwrap(line, max(width, 1), true), "\n") {
			rows = append(rows, b.paint(looks[is], row))
		}
	}
	return rows
}
