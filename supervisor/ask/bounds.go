package ask

import (
	"fmt"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// OverdueInWords tells a person of it where nobody is asked, with what can be done.
func OverdueInWords(a *checkpoints.Agent) string {
	return fmt.Sprintf(
		"takes longer than its estimate (%s; %s). Let it continue, or have it reduce its task or delegate a part: "+
			"claude-supervise attach %s; or: claude-supervise stop %s", a.Estimate, a.Status, a.ID, a.ID)
}

// Further is the question that the answer to a stop leads to.
func Further(r questions.Resolution, q *checkpoints.Question, cwd string) (checkpoints.QuestionKind, signals.Question) {
	if r.How == questions.RunCommand {
		return questions.AskCommand, Command(r.Words, cwd)
	}
	what := r.Unsaid()
	return questions.AskClarification, signals.Question{
		ID: "details", Header: "details", Text: strings.ToUpper(what[:1]) + what[1:] + ".",
		Context: fmt.Sprintf("It belongs to your answer %q to: %s", q.Answer, q.Text),
	}
}

// Overrun asks what becomes of an agent that takes longer than its estimate, and says what it does. It works on
// meanwhile.
func Overrun(a *checkpoints.Agent, doing string, takesInput bool) signals.Question {
	context := "It continues meanwhile, whether this is answered or not."
	if a.Progress != nil {
		context = "It is " + doing + ".\n" + context
	}
	options := []signals.Option{
		{Label: questions.GoOnIt, Description: "accept that it takes longer"},
		{Label: questions.ReduceIt, Description: "have it do less; add what to skip, e.g. reduce: the old releases"},
		{Label: questions.DelegateIt, Description: "have it hand what is left to new agents"},
		{Label: questions.StopIt, Description: "end it, and what it has started"},
	}
	if !takesInput { // nothing can be said to it while it works
		options = []signals.Option{options[0], options[3]}
	}
	return signals.Question{
		ID: "overrun", Header: "overrun", Options: options,
		Text:    fmt.Sprintf("%s takes longer than its estimate of %s. What should happen?", label.Title(a), a.Estimate),
		Context: fmt.Sprintf("Task: %s\n%s", text.Truncate(text.FirstLine(a.Task), text.MaxNamed), context),
	}
}

// Budget asks what becomes of a scope whose budget is used up, which keeps agents from going on. Its words stay as they
// are: what earlier releases have recorded has to come to the same question again.
func Budget(usedUp string, over checkpoints.Exceeded, stuck []*checkpoints.Agent, finishTurns int) signals.Question {
	var b strings.Builder
	for _, a := range stuck {
		fmt.Fprintf(&b, "Cannot go on: %s (%s)\n", label.Title(a), text.Truncate(text.FirstLine(a.Task), text.MaxNamed))
		if b.Len() > MaxText {
			b.WriteString("and more\n")
			break
		}
	}
	b.WriteString("Nothing is lost: the conversations are kept, and nothing more is used before you answer.")
	return signals.Question{
		ID: over.What, Header: "budget",
		Text:    "The " + usedUp + ". Raise it, finish up, or stop?",
		Context: b.String(),
		Options: []signals.Option{
			{Label: questions.Raise, Description: "add the new bound, as in " + questions.TypedAmounts[over.What] +
				"; with + what is put on top"},
			{Label: questions.Finish,
				Description: fmt.Sprintf("what has begun is told to save its state and report, with %d more requests each",
					finishTurns)},
			{Label: questions.StopIt, Description: "stop the work under this budget"},
		},
	}
}
