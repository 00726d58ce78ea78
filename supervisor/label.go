package supervisor

import (
	"strings"

	"claude-supervise/supervisor/text"
)

// This file names agents for people.

// What of an agent's id, and of its task, names it in a line, in bytes.
const (
	whoID    = len("a-7Qm2")
	whoTask  = 24
	whoFirst = 12 // of the word with which tasks begin that are alike
)

// Labels name the agents of a run. Of tasks that begin alike they are what differs.
type Labels struct {
	alike map[string]string // what tasks have in common, by how they begin
}

// LabelsOf names these agents, which are all of a run.
func LabelsOf(agents []Agent) Labels {
	l := Labels{alike: map[string]string{}}
	for i := range agents {
		l.add(&agents[i])
	}
	return l
}

func (l Labels) add(a *Agent) {
	if !byTask(a) {
		return
	}
	task, begins := folded(a.Task), beginning(a)
	if common, others := l.alike[begins]; others {
		task = common[:commonLength(common, task)]
	}
	l.alike[begins] = task
}

// byTask reports whether an agent is named by its task.
func byTask(a *Agent) bool { return a.Delegated != nil && a.Delegated.Name == "" }

// beginning is by which tasks are alike.
func beginning(a *Agent) string { return a.Task[:min(whoTask, len(a.Task))] }

func folded(task string) string { return strings.Join(strings.Fields(task), " ") }

func commonLength(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// Who names an agent for people in a few words: as a task file does, else by the start of its id, which commands take,
// and that of its task, or where others begin alike by where it differs.
func (l Labels) Who(a *Agent) string {
	switch {
	case a.Delegated == nil:
		return "root"
	case a.Delegated.Name != "":
		return a.Delegated.Name
	}
	return a.ID[:min(whoID, len(a.ID))] + " " + l.task(a)
}

// task is that of an agent in a few words.
func (l Labels) task(a *Agent) string {
	task, whole := folded(text.FirstLine(a.Task)), folded(a.Task)
	common := len(l.alike[beginning(a)])
	if common == len(whole) { // it is alone, or all that it says others say, too
		return shortened(task)
	}
	same := strings.LastIndexByte(whole[:common+1], ' ') + 1 // behind the last word that all have in common
	if same == 0 {
		return shortened(task)
	}
	first, _, _ := strings.Cut(whole, " ")
	if len(first) > whoFirst || len(first)+1 == same {
		first = ""
	}
	if same < len(task) { // else it differs in a later line
		whole = task
	}
	return strings.TrimSpace(first + " …" + shortened(whole[same:]))
}

// shortened is a task of one line, which says that it was cut.
func shortened(task string) string {
	if cut := text.Truncate(task, whoTask); cut != task {
		return strings.TrimSpace(cut) + "…"
	}
	return task
}

// Labels name all agents of the run.
func (s State) Labels() Labels {
	l := Labels{alike: map[string]string{}}
	for _, a := range s.Agents {
		l.add(a)
	}
	return l
}

// Who names an agent for people in a few words, where a run has several; "" where it has one.
func (s State) Who(agent string) string {
	a := s.Agents[agent]
	if a == nil || len(s.Agents) < 2 {
		return ""
	}
	l := Labels{alike: map[string]string{}}
	if byTask(a) {
		begins := beginning(a)
		for _, other := range s.Agents {
			if strings.HasPrefix(other.Task, begins) { // few of many
				l.add(other)
			}
		}
	}
	return l.Who(a)
}
