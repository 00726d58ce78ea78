package label

import (
	"iter"
	"strings"

	"claude-supervise/checkpoints"
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

// Of names these agents, which are all of a run.
func Of(agents []checkpoints.Agent) Labels {
	l := Labels{alike: map[string]string{}}
	for i := range agents {
		l.Add(&agents[i])
	}
	return l
}

// Add has them name another agent of the run.
func (l Labels) Add(a *checkpoints.Agent) {
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
func byTask(a *checkpoints.Agent) bool { return a.Delegated != nil && a.Delegated.Name == "" }

// beginning is by which tasks are alike.
func beginning(a *checkpoints.Agent) string { return a.Task[:min(whoTask, len(a.Task))] }

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
func (l Labels) Who(a *checkpoints.Agent) string {
	switch {
	case a.Delegated == nil:
		return "root"
	case a.Delegated.Name != "":
		return a.Delegated.Name
	}
	return a.ID[:min(whoID, len(a.ID))] + " " + l.task(a)
}

// task is that of an agent in a few words.
func (l Labels) task(a *checkpoints.Agent) string {
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

// Among names an agent as Who does, among these.
func Among(a *checkpoints.Agent, all iter.Seq[*checkpoints.Agent]) string {
	l := Labels{alike: map[string]string{}}
	if byTask(a) {
		begins := beginning(a)
		for other := range all {
			if strings.HasPrefix(other.Task, begins) { // few of many
				l.Add(other)
			}
		}
	}
	return l.Who(a)
}

// Title names an agent for people: as its task file does, else by its id.
func Title(a *checkpoints.Agent) string {
	if a.Delegated != nil && a.Delegated.Name != "" {
		return a.Delegated.Name + " (" + a.ID + ")"
	}
	return a.ID
}

// Titles returns those of several agents.
func Titles(as []*checkpoints.Agent) []string {
	var names []string
	for _, a := range as {
		names = append(names, Title(a))
	}
	return names
}

// WaitsFor says that an agent waits for those of these names.
func WaitsFor(names []string) string { return "waits for " + text.JoinLimited(names) }

// Branch names the branch of an agent's worktree.
func Branch(a *checkpoints.Agent) string { return branchPrefix + a.Run + "/" + a.ID }

const branchPrefix = "claude-supervise/"

// AgentOfBranch returns the agent for which the branch of a worktree was made, "" if it is no branch of the run's.
func AgentOfBranch(run, branch string) string {
	if agent, of := strings.CutPrefix(branch, branchPrefix+run+"/"); of && checkpoints.PlainID(agent) {
		return agent
	}
	return ""
}

// LeftIn says in words what is left in a worktree.
func LeftIn(w *checkpoints.Worktree) string {
	var what []string
	if w.Commits > 0 {
		what = append(what, text.Plural(w.Commits, "commit", "commits"))
	}
	if w.Loose > 0 {
		what = append(what, text.Plural(w.Loose, "change", "changes")+" not committed")
	}
	if w.Problem != "" {
		what = append(what, w.Problem)
	}
	return strings.Join(what, ", ")
}
