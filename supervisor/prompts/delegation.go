package prompts

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// DelegationDecided is what the agent reads once its delegation is decided: what it wanted done, with what it said
// beside the task.
func DelegationDecided(q *Question, task, priority string, said checkpoints.Delegated, program string) string {
	changed, ok := questions.Approved(q)
	if !ok {
		return delegationDenied(q, task)
	}
	by := ""
	if changed != "" {
		by, task = " (changed by the person)", changed
	}
	next := "Continue with your own task. You are told when the agent has ended; check_work tells meanwhile. Do not do " +
		"its task yourself."
	switch {
	case q.Tool != nil && q.Tool.From != nil:
		next = "Continue with your own part, and do not do its task yourself. When the agent has ended, its result goes to " +
			"the agent in whose name you asked; check_work with its id tells you how it gets on, and what it has come to."
	case said.Independence == checkpoints.Blocks:
		next = "It blocks your current work: end your turn now, without a report. Its report is your next message."
	case said.Independence == checkpoints.Optional:
		next += " It is optional: if you are done first, it is stopped."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATION APPROVED\n\nNew agent launched: %s\nTask%s: %s\nPriority: %s\n", q.Child, by,
		text.IndentedAfter(task), priority)
	if said.Coordination != "" {
		fmt.Fprintf(&b, "Coordination: %s\n", text.IndentedAfter(said.Coordination))
	}
	fmt.Fprintf(&b, "Its output: %s logs %s\n\n## RESUME INSTRUCTIONS\n%s", program, q.Child, next)
	return b.String()
}

func delegationDenied(q *Question, task string) string {
	why, alternative := questions.Denied(q)
	if why == "" {
		why = "None was given."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATION DENIED\n\nTask: %s\nReason: %s\n", text.FirstLine(task), why)
	if alternative != "" {
		fmt.Fprintf(&b, "Alternative: %s\n", alternative)
	}
	b.WriteString("\n## RESUME INSTRUCTIONS\nGo on with your own task. Do not ask for the same again.")
	return b.String()
}

// AskForAnother is what to do about a type of agents that there is not.
const AskForAnother = "Ask again with one of these, or with none."

// NoSuchType says that claude knows no agents of a type, and which it knows.
func NoSuchType(name string, known []string) string {
	return fmt.Sprintf("There is no subagent_type %q here. Known are: %s.", text.Truncate(name, text.MaxNamed),
		text.Truncate(text.PlainLine(strings.Join(known, ", ")), MaxChildText))
}

// UnknownType denies a delegation to such agents.
func UnknownType(name string, known []string) string {
	return fmt.Sprintf("## DELEGATION DENIED\n\nReason: %s\n\n## RESUME INSTRUCTIONS\n%s", NoSuchType(name, known),
		AskForAnother)
}

// TooManyDelegations denies a delegation after so many that wait.
func TooManyDelegations(waiting int) string {
	return fmt.Sprintf(`## DELEGATION DENIED

Reason: %d of your delegations wait to be decided or to be told you; those after them were not taken.
Alternative: Delegate fewer and larger parts, and end your turn first.`, waiting)
}

// UnderWay answers a delegation that was made before.
func UnderWay(c *Agent) string {
	return fmt.Sprintf("You have delegated this already: agent %s (%s). You are told when it has ended.", c.ID, c.Status)
}

// An End is what is known of the end of an agent beside its record.
type End struct {
	Took    time.Duration // by its processes
	Left    string        // in its worktree, in words
	Counts  bool          // it makes the end of the whole run worse
	Program string        // ours, as an agent calls it
	Run     string
}

// ChildEnded is what an agent reads of the end of its child. What the child wrote is set off, so that no line of it
// passes for a word of ours.
func ChildEnded(c *Agent, e End) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATED WORK ENDED\n\nAgent: %s\nTask: %s\nOutcome: %s (%s)\n", c.ID,
		text.FirstLine(c.Task), c.Status, strings.Join(strings.Fields(c.Reason), " "))
	quote := func(title, written string) {
		if written = strings.TrimSpace(written); written != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", title, text.Indented(text.Truncate(written, MaxChildText)))
		}
	}
	if r := c.Report; r != nil {
		quote("Summary", r.Summary)
		quote("Deliverables", r.Deliverables)
		quote("Metrics", r.Metrics)
		quote("Issues", r.Issues)
		quote("Recommendations", r.Recommendations)
		quote("Total duration", r.Duration)
	} else if c.Checkpoint != "" && c.Status != checkpoints.Succeeded {
		quote("What is known of its work", c.Checkpoint)
	}
	if where := workIn(c.Worktree, e.Left); where != "" {
		b.WriteString(where + "\n")
	}
	if e.Counts {
		b.WriteString("It counts so for the whole run, unless its work is continued: delegate it with resume: " + c.ID + "\n")
	}
	fmt.Fprintf(&b, "Tool uses: %d\nDuration: %s\nTokens: %d\nIts output: %s logs %s\n"+
		"Findings that agents have shared: %s show --findings %s", c.ToolUses,
		e.Took, c.InputTokens+c.OutputTokens, e.Program, c.ID, e.Program, e.Run)
	return b.String()
}

// ResumeStep gives back to an agent what it is to go on with once its child has succeeded, as its own coordination
// says.
func ResumeStep(c *Agent) string {
	step := stepAfter(c.Delegated.Coordination)
	if step == "" || c.Status != checkpoints.Succeeded {
		return ""
	}
	return "\n\n## RESUME INSTRUCTIONS\nNext step: " + step
}

// MaxEnds bounds what an agent reads of the ends of others at one time, in bytes, before it is told in a few lines of
// each: no model reads the whole reports of hundreds.
const MaxEnds = 128 << 10

// endLines is how many lines of an end tell who has ended, and how.
const endLines = 5

// EndsTold counts what of the ends of others is told in one prompt, in bytes.
type EndsTold int

// Add returns the end of an agent as it is told after those before, cut short where it is one too many.
func (n *EndsTold) Add(end, agent string) string {
	if *n += EndsTold(len(end)); *n <= MaxEnds {
		return end
	}
	lines := strings.SplitN(end, "\n", endLines+1)
	for i, line := range lines {
		lines[i] = text.Truncate(line, text.MaxNamed)
	}
	return strings.Join(lines[:min(endLines, len(lines))], "\n") +
		"\nToo many have ended for all of each. All of it: claude-supervise show " + agent
}

// MaxChildText bounds each text of a child that its parent reads, in bytes.
const MaxChildText = 8 << 10

// workIn is what a parent reads of where its child's work lies; "" if that is the parent's own folder.
func workIn(w *checkpoints.Worktree, left string) string {
	switch {
	case w == nil:
	case w.State == checkpoints.WorktreeRemoved:
		return "It has left no changes in its worktree, which is gone."
	case w.State == checkpoints.WorktreeKept:
		merge, drop := w.Commands("")
		if len(merge) == 0 {
			return fmt.Sprintf("Its worktree is kept, %s: %s.", w.Path, left)
		}
		return fmt.Sprintf(
			"Its work is not in your folder but in %s, branch %s: %s.\nTo take it over, in your folder: %s\nTo be rid of it: %s",
			w.Path, w.Branch, left, strings.Join(merge, " && "), strings.Join(drop, " && "))
	}
	return ""
}
