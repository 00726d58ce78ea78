package board

import (
	"strings"

	"claude-supervise/supervisor"
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

// open reports whether an entry is a question that waits for an answer.
func (e entry) open() bool { return e.question != nil && e.question.State == supervisor.Open }

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

// runID is the run that an entry is of; "" for a question of a script.
func (e entry) runID() string {
	if e.run == nil && e.question != nil {
		return e.question.Run
	} else if e.run == nil {
		return ""
	}
	return e.run.ID
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

// place is where the work of an entry is done, as a person looks for it: the machine, where there are several.
func (e entry) place() string {
	if e.run != nil && e.run.Worker != "" {
		return e.run.Worker
	}
	return e.folder()
}

// entries lists what fits a filter: open questions first, then each run with its agents below it, then questions that
// are open no more. A run stands above an agent that fits.
func entries(o view.Overview, over []view.RunView, answered []view.QuestionView, filter string,
	home func(string) string) []entry {
	var list []entry
	fits := words(filter)
	runs := map[string]*view.RunView{}
	for _, all := range [][]view.RunView{over, o.Runs} {
		for i := range all {
			runs[all[i].ID] = &all[i]
		}
	}
	add := func(asked []view.QuestionView) {
		for i := range asked {
			q := &asked[i]
			answer := ""
			if q.Answer != nil {
				answer = *q.Answer
			}
			if fits(q.ID, q.Run, q.RunName, q.Cwd, q.Question, q.Header, string(q.Kind), string(q.State), home(q.Cwd), answer) {
				list = append(list, entry{id: q.ID, question: q, run: runs[q.Run]})
			}
		}
	}
	add(o.Questions)
	for _, all := range [][]view.RunView{o.Runs, over} {
		for i := range all {
			list = append(list, tree(&all[i], fits, home)...)
		}
	}
	add(answered)
	return list
}

func tree(r *view.RunView, fits func(...string) bool, home func(string) string) []entry {
	list := []entry{{id: r.ID, run: r}}
	whole := fits(r.ID, r.Name, string(r.Status), home(r.Cwd), r.Reason, r.Cwd, r.Worker, r.Summary)
	if r.Suspended {
		whole = whole || fits("suspended")
	}
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

// words returns what reports whether each word of a filter is in one of the texts.
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
