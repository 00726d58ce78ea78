package runs

import (
	"slices"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A sessionRow is a session that asks, as `ps --json` lists it behind the runs. Its kind tells it from a run, which has
// none.
type sessionRow struct {
	Kind      string    `json:"kind"` // session
	ID        string    `json:"id"`   // claude's own
	Name      string    `json:"name"`
	Status    string    `json:"status"` // waiting; ended: while it asked
	Since     time.Time `json:"since"`
	Cwd       string    `json:"cwd"`
	Screen    string    `json:"screen"`
	PID       int       `json:"pid"`
	Agents    []string  `json:"agents"` // never any
	Questions []string  `json:"open_questions"`
}

// askedIn leaves of questions those that are asked in the folder that is listed.
func (l Listing) askedIn(asked []view.QuestionView) []view.QuestionView {
	return slices.DeleteFunc(asked, func(q view.QuestionView) bool { return l.Cwd != "" && !text.Under(q.Cwd, l.Cwd) })
}

// sessionRows gathers the questions of each session.
func sessionRows(asked []view.QuestionView) (rows []*sessionRow) {
	for _, q := range asked {
		s := q.Session
		if s == nil { // by file
			continue
		}
		at := slices.IndexFunc(rows, func(r *sessionRow) bool { return r.ID == s.ID })
		if at < 0 {
			row := &sessionRow{Kind: "session", ID: s.ID, Status: "waiting", Since: q.AskedAt, Cwd: s.Cwd, Screen: s.Screen,
				PID: s.PID, Agents: []string{}}
			if s.PID == 0 {
				row.Status = "ended"
			}
			at, rows = len(rows), append(rows, row)
		}
		rows[at].Questions = append(rows[at].Questions, q.ID)
	}
	return rows
}

// outsideList lists for people what is asked by no run.
func outsideList(width int, asked []view.QuestionView, now time.Time) string {
	list := "\nAsked without a supervisor:"
	for _, q := range asked {
		place := q.ID
		if !q.AskedAt.IsZero() { // as a file may leave it
			place += "  " + terminal.Ago(q.AskedAt, now)
		}
		if s := q.Session; s != nil {
			place += "  " + terminal.FromHome(s.Cwd) + " · " + s.Where()
		} else {
			place += "  " + q.Agent
		}
		list += "\n  " + row(place, width, 2) + "\n    asks: " + row(q.Asks(), width, 10)
	}
	return list
}

// row is a line that fits behind an indent; as it is where the width is 0.
func row(line string, width, indent int) string {
	if width > 0 {
		width = max(width-indent, 40)
	}
	return terminal.CleanLine(line, width)
}
