// Package prompts has what is said to an agent: every prompt that it reads from us, and how it reads the answers of a
// person. The headings are those of the protocols document (002): agents written for it know them. It is pure, and
// knows records only; which of these is said, and when, the core decides. What a call of one of our tools returns at
// once, in a sentence, is beside that decision.
package prompts

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

type (
	// Agent is the record of an agent.
	Agent = checkpoints.Agent
	// Question is the record of what a person is asked.
	Question = checkpoints.Question
)

// An Opening is the first prompt of a conversation. One that begins again in place of a lost one carries what is known
// of the work so far.
type Opening struct {
	Identity   string
	Continues  bool // it begins with the conversation of another
	Task       string
	Folder     string   // what there is to say of it
	Ended      []string // of the agents that it comes after
	Checkpoint string
	Told       string // the answers that an earlier conversation was given
	Delegated  string // what has become of its children
}

func (o Opening) String() string {
	var b strings.Builder
	if o.Continues {
		b.WriteString(
			"What stands above is the conversation that you begin with. From here on you are an agent of your own, with this " +
				"id and this task.\n\n")
	}
	fmt.Fprintf(&b, "%s\n\n## YOUR TASK\n\n%s", o.Identity, o.Task)
	for _, more := range append([]string{o.Folder}, o.Ended...) {
		if more != "" {
			b.WriteString("\n\n" + more)
		}
	}
	if o.Checkpoint == "" && o.Told == "" && o.Delegated == "" {
		return b.String()
	}
	b.WriteString(
		"\n\n## STATE RESTORATION\n\nYou have worked on this task before, in a conversation that is not at hand any more. ")
	if o.Checkpoint != "" {
		fmt.Fprintf(&b, "What is known of it:\n\n%s\n\n", strings.TrimSpace(o.Checkpoint))
	}
	b.WriteString("Look at what is on disk, do not do again what is done, and continue from there.")
	if o.Told != "" {
		b.WriteString("\n\nAnswers that the person gave you then:\n" + o.Told)
	}
	b.WriteString(o.Delegated)
	return b.String()
}

// DeliverablesMissing has an agent make the files that are not on disk, or correct its list of them.
func DeliverablesMissing(agent string, missing []string) string {
	return fmt.Sprintf(`## DELIVERABLES MISSING

Your task or your report names files that are not on disk:
- %s

## RESUME INSTRUCTIONS
Make them, or correct the list; then call report_completion again (without that tool: print a new [COMPLETION_REPORT] `+
		`with agent_id: %s).`, strings.Join(missing, "\n- "), agent)
}

// ReportWanted asks an agent for its report.
func ReportWanted(agent, why string) string {
	return fmt.Sprintf(`## COMPLETION REPORT WANTED

%s The work counts as done with a report: call report_completion (without that tool: print a [COMPLETION_REPORT] `+
		`block with agent_id: %s).`, why, agent)
}

// GoOn is what an agent reads whose process was interrupted. children is what has become of them, "" without any.
func GoOn(id, children string) string {
	text := fmt.Sprintf(`## GO ON

Your process was interrupted and has been started again in the same conversation. Check what of your last step took `+
		`effect, do not repeat what is done, and continue with the task. If you had asked something that was not answered, `+
		`ask it again. Your agent id is still %s.`, id)
	if children != "" {
		text += "\n\nWork that you have delegated; do not delegate it again:\n" + children
	}
	return text
}

// Gate is why a turn does not end: there is neither a report, nor anything that the agent waits for.
func Gate(a *Agent, unfiled, unheard []string) string {
	lost := partsTold(a)
	for _, id := range unfiled {
		lost += fmt.Sprintf("Nobody was asked by QUESTION_ESCALATED:%s: there is no question file %s.json in "+
			"~/.claude/questions/pending. Write it and print the line again, or ask with ask_user. ", id, id)
	}
	for _, sub := range unheard {
		lost += fmt.Sprintf("Your subagent %s ended with a question that nobody was asked. Ask it on its behalf with "+
			"ask_user, then send it the answer by SendMessage. ", sub)
	}
	return lost + fmt.Sprintf(
		`You end your turn without a report, an open question or work that still runs. If the task is done, call `+
			`report_completion. If you need something from the person, call ask_user or stop_work. Else continue with the `+
			`task. Without these tools: print a [COMPLETION_REPORT], [CLARIFICATION_NEEDED] or [STOP_WORK] block with `+
			`agent_id: %s.`,
		a.ID)
}

// Folder is what an agent reads of the folder in which it works; "" if there is nothing to say. shared is the variable
// with the folder of findings.
func Folder(a *Agent, shared string) string {
	var b strings.Builder
	if w := a.Worktree; w != nil && w.State == checkpoints.WorktreeMade && !w.IsCopy() {
		fmt.Fprintf(&b, "You work in a git worktree of your own, %s, on the branch %s, which began at the commit %.12s. "+
			"What you commit or leave there is kept, and merged by others; do not work outside it.\n", w.Path, w.Branch, w.Base)
		for _, lack := range w.Lacks {
			fmt.Fprintf(&b, "Not in it: %s\n", lack)
		}
	}
	for _, path := range a.Beyond {
		fmt.Fprintf(&b, "Your context names a file that is not in your worktree, but here: %s\n", path)
	}
	for _, path := range a.Gone {
		fmt.Fprintf(&b, "Your context names a file that is NOT there: %s\n", path)
	}
	if a.Delegated != nil {
		b.WriteString("Findings that other agents need: append them to $" + shared + "/NAME.jsonl, one JSON object a line " +
			"with your agent_id and a timestamp, each by one echo with >>.") // which is one write
	}
	if b.Len() == 0 {
		return ""
	}
	return "## YOUR FOLDER\n\n" + strings.TrimRight(b.String(), "\n")
}

// TryAgain is what an agent reads whose work a person wants tried again.
func TryAgain(a *Agent) string {
	return fmt.Sprintf(`## TRY AGAIN

Your work ended as %s (%s). A person has looked at that, and wants it tried again: the cause may be fixed by now.

## RESUME INSTRUCTIONS
Look at what is there, do not do again what is done, and try the rest anew. Then report again: your earlier report no `+
		`longer counts.`,
		a.Status, text.FirstLine(a.Reason))
}

// moved is what an agent reads whose conversation tells of another folder: what has happened, the old folder and the
// new one, and what follows.
func moved(what, from, to, follows string) string {
	return fmt.Sprintf("## MOVED\n\n%s\nOld folder: %s\nNew folder: %s\n%s", what, from, to, follows)
}

// How an agent finds what its conversation names, and what has come to it.
const (
	samePlace = "What this conversation calls by a path under the old folder is at the same place under the new one; " +
		"use only the new one."
	elsewhere = "You have been moved, and continue in another place than this conversation tells of."
	leftThere = "\nProcesses that you started are gone, and so is what you left outside the folder, in /tmp for one."
)

// Renamed tells an agent that the folder of its run has another name, and in which it works.
func Renamed(from, to, folder string) string {
	return moved("The folder of this run was renamed or moved, with all that was in it.", from, to,
		samePlace+" You work in "+folder+". Processes that you started are gone.")
}

// Forked tells an agent, with the answer to its question, that it goes on in a copy of its folder.
func Forked(from, to string, ignored bool) string {
	lacks := ""
	if ignored {
		lacks = " Files that git ignores did not come along."
	}
	return "(From the supervisor: since you asked, your work was copied. You go on in " + to + ", where it is as it was " +
		"when you asked; the working directory of your shell is there. Another agent goes on in " + from + ": read and " +
		"write nothing there any more, and replace that path by the new one wherever it was named before." + lacks +
		" Processes that you started are not yours any more.)"
}

// Moved tells an agent that its run is elsewhere, with the uncommitted work or without.
func Moved(from, to string, work bool) string {
	came := " Uncommitted changes did not come along: look at what is on disk before you continue."
	if work {
		came = " Uncommitted changes came along; files that git ignores did not."
	}
	return moved(elsewhere, from, to, samePlace+came+leftThere)
}

// MovedTree tells that to an agent whose worktree, which was in a folder, has come along.
func MovedTree(a *Agent, was, from, to string) string {
	return moved(elsewhere, was, a.Cwd+", in your git worktree, on the branch "+a.Worktree.Branch,
		samePlace+" What you committed and what you did not commit came along; files that git ignores did not.\n"+
			"The run's folder was "+from+" and is "+to+" now."+leftThere)
}

// MovedAlone tells that to an agent whose own folder has not come along.
func MovedAlone(was string) string {
	return moved(elsewhere, was+", which was yours alone and did not come along, nor did what you committed there.",
		"the one in which your commands run now. Look at what is on disk before you continue.",
		"Processes that you started are gone.")
}

// PersonSays is a message of a person.
func PersonSays(text string) string {
	return "## MESSAGE FROM THE USER\n\n" + text
}

// AgentSays quotes an agent, so that no line of its message can pass for a heading of ours: for an answer, or a word of
// the user.
func AgentSays(from *Agent, s string) string {
	lines := strings.FieldsFunc(text.Newlines.Replace(s), func(r rune) bool { return r == '\n' })
	return fmt.Sprintf("## MESSAGE FROM AGENT %s\n\n> %s\n\n(It works on: %s)", from.ID, strings.Join(lines, "\n> "),
		text.FirstLine(from.Task))
}

// FinishUp is what an agent reads whose budget is used up, and which has so many requests left.
func FinishUp(requests int) string {
	return fmt.Sprintf(`## FINISH UP

The budget of this work is used up. You have %d requests left, this one included: start nothing new, and delegate `+
		`nothing.
Leave what you have in a state in which somebody else can continue with it, and report now: status partial_success, `+
		`what is done,
and under issues_encountered what is not.`, requests)
}

// maxMissing is how many of the files are named that a part has reported, and that are not there.
const maxMissing = 3

// partsTold reminds an agent that ends its turn without a report of those of its subagents: they are not its own.
func partsTold(a *Agent) string {
	if len(a.Parts) == 0 {
		return ""
	}
	p := a.Parts[len(a.Parts)-1]
	told := fmt.Sprintf("Your subagent %s has reported %s on its part; that is no report on your task. ", p.By.Name(),
		p.Status)
	if len(p.Missing) > 0 {
		told += "Not on disk of what it lists: " + strings.Join(text.FirstOf(p.Missing, maxMissing), ", ") + ". "
	}
	return told
}
