package supervisor

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// This file is what the person and the agents read of a delegation. The headings are those of the protocols document
// (002, Protocol 4); how the end of a child is told follows what a subagent's result tells (004).

func init() {
	handlers[questions.AskDelegation] = handler{
		signal: signals.Delegate,
		asked: func(sig signals.Signal) []signals.Question {
			return []signals.Question{DelegationQuestion(workAsked(sig))}
		},
		prompt: func(s State, group []*Question) string { return s.delegationDecided(group[0]) },
		work:   approvedWork,
		anew: func(_ *transition, q *Question, _ map[string]SeenCall) bool {
			if q.Nested == nil && len(q.Signal) == 0 {
				return false
			}
			reshow(q, DelegationQuestion(WorkIn(q)))
			return true
		},
	}
}

// DelegationQuestion puts a delegation to the person, with the document's list of what to look at.
func DelegationQuestion(w Work) signals.Question {
	var b strings.Builder
	fmt.Fprintf(&b, "Task:\n%s\n\n", text.Indented(w.Task))
	line := func(title, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", title, text.IndentedAfter(value))
		}
	}
	line("Why", w.Said.Reason)
	line("Independence", string(w.Said.Independence))
	line("Priority", w.Priority)
	line("Needs to know", w.Said.Context)
	line("Coordination", w.Said.Coordination)
	line("Estimated", w.Said.Estimated)
	line("Kind of agent", w.Said.Type)
	line("Model", w.Said.Model)
	if w.Said.MaxTurns > 0 {
		line("Turns", fmt.Sprint(w.Said.MaxTurns))
	}
	line("Continues", w.Resume)
	if w.Resume == "" && !w.Fork { // else a conversation says what the task does not
		line("It lacks", lacking(w))
	}
	if w.Fork {
		line("Begins with", "the conversation of the agent that asks")
	}
	b.WriteString(evaluation)
	return signals.Question{
		ID: "delegate", Header: "delegation",
		Text:    fmt.Sprintf("Start another agent for: %s?", strings.TrimSuffix(text.Line(w.Task, text.MaxNamed), ".")),
		Context: b.String(),
		Options: []signals.Option{
			{Label: Approve, Description: "start it; add another task to change it, e.g. approve Refactor only src/auth"},
			{Label: Deny, Description: "add why, and what to do instead, e.g. deny too early instead: list it in the report"},
		},
	}
}

// lacking names what the task of a delegation does not say; "" if that is nothing.
func lacking(w Work) string {
	var parts []string
	for _, g := range CheckTask(w.Task, Brief{Context: w.Said.Context, SuccessCriteria: w.SuccessCriteria,
		Deliverables: w.Deliverables}) {
		parts = append(parts, string(g.Part))
	}
	return strings.Join(parts, ", ")
}

// evaluation is 002, Protocol 4, "Parent agent evaluation checklist".
const evaluation = `
Before you approve:
- Is it justified, against the agent continuing by itself?
- Is the task well defined: context, goals, metrics?
- Is what it says of its independence so: parallel or blocking?
- Is the priority right?
- Is there time, computing power and a slot for it?`

// delegationDecided is what the agent reads once its delegation is decided.
func (s State) delegationDecided(q *Question) string {
	w := WorkIn(q)
	task, ok := questions.Approved(q)
	if !ok {
		return delegationDenied(w, q)
	}
	changed := ""
	if task != "" {
		changed, w.Task = " (changed by the person)", task
	}
	next := "Continue with your own task. You are told when the agent has ended; check_work tells meanwhile. Do not do " +
		"its task yourself."
	switch {
	case q.Tool != nil && q.Tool.From != nil:
		next = "Continue with your own part, and do not do its task yourself. When the agent has ended, its result goes to " +
			"the agent in whose name you asked; check_work with its id tells you how it gets on, and what it has come to."
	case w.Said.Independence == checkpoints.Blocks:
		next = "It blocks your current work: end your turn now, without a report. Its report is your next message."
	case w.Said.Independence == checkpoints.Optional:
		next += " It is optional: if you are done first, it is stopped."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATION APPROVED\n\nNew agent launched: %s\nTask%s: %s\nPriority: %s\n", q.Child, changed,
		text.IndentedAfter(w.Task), w.Priority)
	if w.Said.Coordination != "" {
		fmt.Fprintf(&b, "Coordination: %s\n", text.IndentedAfter(w.Said.Coordination))
	}
	fmt.Fprintf(&b, "Its output: %s logs %s\n\n## RESUME INSTRUCTIONS\n%s", s.program(), q.Child, next)
	return b.String()
}

func delegationDenied(w Work, q *Question) string {
	why, alternative := questions.Denied(q)
	if why == "" {
		why = "None was given."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATION DENIED\n\nTask: %s\nReason: %s\n", text.FirstLine(w.Task), why)
	if alternative != "" {
		fmt.Fprintf(&b, "Alternative: %s\n", alternative)
	}
	b.WriteString("\n## RESUME INSTRUCTIONS\nGo on with your own task. Do not ask for the same again.")
	return b.String()
}

// MaxAgentTypes bounds how many types of agents are remembered of a process.
const MaxAgentTypes = 200

const askForAnother = "Ask again with one of these, or with none."

func noSuchType(name string, known []string) string {
	return fmt.Sprintf("There is no subagent_type %q here. Known are: %s.", text.Truncate(name, text.MaxNamed),
		text.Truncate(text.PlainLine(strings.Join(known, ", ")), maxChildText))
}

func unknownType(name string, known []string) string {
	return fmt.Sprintf("## DELEGATION DENIED\n\nReason: %s\n\n## RESUME INSTRUCTIONS\n%s", noSuchType(name, known),
		askForAnother)
}

var tooManyDelegations = fmt.Sprintf(`## DELEGATION DENIED

Reason: %d of your delegations wait to be decided or to be told you; those after them were not taken.
Alternative: Delegate fewer and larger parts, and end your turn first.`, maxUndecided)

// underWay answers a delegation that was made before.
func underWay(c *Agent) string {
	return fmt.Sprintf("You have delegated this already: agent %s (%s). You are told when it has ended.", c.ID, c.Status)
}

// childEnded is what an agent reads of the end of its child. What the child wrote is set off, so that no line of it
// passes for a word of ours.
func (s State) childEnded(c *Agent) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## DELEGATED WORK ENDED\n\nAgent: %s\nTask: %s\nOutcome: %s (%s)\n", c.ID,
		text.FirstLine(c.Task), c.Status, strings.Join(strings.Fields(c.Reason), " "))
	quote := func(title, written string) {
		if written = strings.TrimSpace(written); written != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", title, text.Indented(text.Truncate(written, maxChildText)))
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
	if where := workLies(c); where != "" {
		b.WriteString(where + "\n")
	}
	if worse(c, checkpoints.Succeeded) && gates(c) {
		b.WriteString("It counts so for the whole run, unless its work is continued: delegate it with resume: " + c.ID + "\n")
	}
	fmt.Fprintf(&b, "Tool uses: %d\nDuration: %s\nTokens: %d\nIts output: %s logs %s\n%s", c.ToolUses,
		s.Duration(c), c.InputTokens+c.OutputTokens, s.program(), c.ID, s.howToReadShared())
	return b.String()
}

// resumeStep gives back to an agent what it is to go on with once its child has succeeded, as its own coordination
// says.
func resumeStep(c *Agent) string {
	step := stepAfter(c.Delegated.Coordination)
	if step == "" || c.Status != checkpoints.Succeeded {
		return ""
	}
	return "\n\n## RESUME INSTRUCTIONS\nNext step: " + step
}

// maxEnds bounds what an agent reads of the ends of others at one time, in bytes, before it is told in a few lines of
// each: no model reads the whole reports of hundreds.
const maxEnds = 128 << 10

// endLines is how many lines of an end tell who has ended, and how.
const endLines = 5

// endsTold counts what of the ends of others is told in one prompt, in bytes.
type endsTold int

// of gives what is said to an agent, cut short where it is one end too many.
func (n *endsTold) of(say checkpoints.OutboxItem) string {
	if !strings.HasPrefix(say.Key, childKeys) {
		return say.Text
	}
	return n.one(say.Text, say.From)
}

func (n *endsTold) one(end, agent string) string {
	if *n += endsTold(len(end)); *n <= maxEnds {
		return end
	}
	lines := strings.SplitN(end, "\n", endLines+1)
	for i, line := range lines {
		lines[i] = text.Truncate(line, text.MaxNamed)
	}
	return strings.Join(lines[:min(endLines, len(lines))], "\n") +
		"\nToo many have ended for all of each. All of it: claude-supervise show " + agent
}

// delegatedBefore is what an agent is told of its children where its conversation begins again: it knows of none of
// them any more.
func (s State) delegatedBefore(a *Agent) string {
	children := s.Children(a.ID)
	if len(children) == 0 || !s.Begun(a.ID) {
		return ""
	}
	lines, _ := s.work(a, "", nil)
	var b strings.Builder
	b.WriteString("\n\nWork that you have delegated; do not delegate it again:\n" + lines)
	for _, c := range children[max(len(children)-maxRetold, 0):] {
		if c.Status.Ended() && !s.backgroundEndUnreported(c) {
			b.WriteString("\n\n" + s.childEnded(c) + resumeStep(c))
		}
	}
	return b.String()
}

// maxRetold is of how many children an agent whose conversation begins again is told all that it was told before.
const maxRetold = 20

// maxChildText bounds each text of a child that its parent reads, in bytes.
const maxChildText = 8 << 10

// Duration is how long the processes of an agent have lived.
func (s State) Duration(a *Agent) time.Duration {
	var sum time.Duration
	for _, l := range s.Launches[a.ID] {
		if l.StartedAt != nil && l.EndedAt != nil {
			sum += l.EndedAt.Sub(*l.StartedAt)
		}
	}
	return sum.Round(time.Second)
}
