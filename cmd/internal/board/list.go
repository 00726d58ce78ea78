package board

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/view"
)

// An entry is a row of the list: a question, a run, or an agent below its run.
type entry struct {
	id       string
	depth    int
	question *view.QuestionView
	run      *view.RunView // nil for a question of a script
	agent    *view.AgentView
}

// of is the run or the agent that an entry is of.
func (e entry) of() string {
	switch {
	case e.question != nil && e.question.Agent != "":
		return e.question.Agent
	case e.question != nil:
		return e.question.Run
	}
	return e.id
}

// folder is where the work of an entry is done.
func (e entry) folder() string {
	switch {
	case e.agent != nil && e.agent.Cwd != "":
		return e.agent.Cwd
	case e.run != nil:
		return e.run.Cwd
	}
	return ""
}

// entries lists what fits a filter: questions first, then each run with its agents below it. A run stands above an
// agent that fits.
func entries(o view.Overview, past []view.RunView, filter string) []entry {
	var list []entry
	fits := words(filter)
	runs := map[string]*view.RunView{}
	for i := range o.Runs {
		runs[o.Runs[i].ID] = &o.Runs[i]
	}
	for i := range o.Questions {
		q := &o.Questions[i]
		if fits(q.ID, q.Run, q.RunName, q.Cwd, q.Question, q.Header, string(q.Kind), "open") {
			list = append(list, entry{id: q.ID, question: q, run: runs[q.Run]})
		}
	}
	for _, all := range [][]view.RunView{o.Runs, past} {
		for i := range all {
			list = append(list, tree(&all[i], fits)...)
		}
	}
	return list
}

func tree(r *view.RunView, fits func(...string) bool) []entry {
	list := []entry{{id: r.ID, run: r}}
	whole := fits(r.ID, r.Name, string(r.Status), r.Cwd, r.Reason)
	view.EachBelow(r.Agents, func(depth int, a view.AgentView) {
		if depth == 1 && a.Parent == "" && len(r.Agents) == 1 {
			whole = whole || fits(a.ID, a.Name, a.Task, a.Who, string(a.Status))
			return // a run of one agent is one row
		}
		if whole || fits(a.ID, a.Name, a.Task, a.Who, string(a.Status), a.Cwd, r.Cwd, a.Reason) {
			list = append(list, entry{id: a.ID, depth: depth, run: r, agent: &a})
		}
	})
	if !whole && len(list) == 1 {
		return nil
	}
	return list
}

// words gives what reports whether each word of a filter is in one of the texts.
func words(filter string) func(...string) bool {
	wanted := strings.Fields(strings.ToLower(filter))
	return func(texts ...string) bool {
		for _, word := range wanted {
			found := false
			for _, text := range texts {
				found = found || strings.Contains(strings.ToLower(text), word)
			}
			if !found {
				return false
			}
		}
		return true
	}
}

// row is an entry in a line.
func (b *Board) row(e entry, now time.Time) (text string, look look) {
	line := func(parts ...string) string {
		kept := parts[:0]
		for _, part := range parts {
			if part = terminal.CleanLine(part, 200); part != "" {
				kept = append(kept, part)
			}
		}
		return strings.Join(kept, "  ")
	}
	switch {
	case e.question != nil:
		q := e.question
		mark, look := "? ", asks
		if q.Urgent {
			mark, look = "! ", urgent
		}
		return mark + line(q.ID, terminal.Ago(q.AskedAt, now), q.Question, q.RunName, b.config.Home(q.Cwd)), look
	case e.agent != nil:
		a := e.agent
		waits := a.Reason
		if len(a.OpenQuestions) > 0 {
			waits = "asks " + a.OpenQuestions[0]
		}
		return strings.Repeat("  ", min(e.depth, 7)) + line(a.ID, string(a.Status), terminal.Ago(a.Since, now),
			terminal.Money(a.CostUSD), a.Name, firstLine(a.Task), waits), lookOf(string(a.Status))
	}
	r := e.run
	status := string(r.Status)
	if r.Suspended {
		status = "suspended"
	}
	waits := r.Reason
	if n := len(r.OpenQuestions); n > 0 {
		waits = fmt.Sprintf("asks %s", r.OpenQuestions[0])
		if n > 1 {
			waits += fmt.Sprintf(" and %d more", n-1)
		}
	}
	return line(r.ID, status, terminal.Ago(r.Since, now), terminal.Money(r.CostUSD), r.Name, waits,
		b.config.Home(r.Cwd)), lookOf(status)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}
