package asking

import (
	"fmt"
	"strings"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// Print lists open questions, each with the command that answers it.
func Print(p *terminal.Printer, open []view.QuestionView, asJSON bool) error {
	if asJSON {
		return p.JSON(append([]view.QuestionView{}, open...)) // never null
	}
	if len(open) == 0 {
		return p.Result("No question is open.")
	}
	for i, q := range open {
		text := terminal.Render(Placed(q), p.Columns(), time.Now())
		if i > 0 {
			text = "\n" + text
		}
		if err := p.Result(text); err != nil {
			return err
		}
	}
	return nil
}

// Whole is all that there is to say of a question, as `show` does.
func Whole(width int, q view.QuestionView) string {
	text, state, with := terminal.Whole(Shown(q), width, time.Now()), string(q.State), ""
	if s := q.Session; s != nil {
		text += "Session: " + terminal.CleanLine(s.ID, 0) + ", " + terminal.CleanLine(s.Where(), 0) + "\nFolder: " +
			terminal.CleanLine(s.Cwd, 0) + "\n"
	}
	if q.Remark != "" {
		state += " (" + terminal.CleanLine(q.Remark, 0) + ")"
	}
	if q.Answer == nil {
		return text + "State: " + state
	}
	for _, i := range q.Images {
		with += "\nWith the image " + terminal.Clean(i.String())
	}
	answered := "Answered"
	if q.AnsweredBy != "" { // by file nobody says it
		answered += " by " + q.AnsweredBy
	}
	return text + fmt.Sprintf("Answer: %s%s\n%s at %s\nState: %s", terminal.CleanLine(Given(q), 0), with, answered,
		terminal.When(*q.AnsweredAt), state)
}

// Given is the answer of a question as it is shown.
func Given(q view.QuestionView) string {
	switch {
	case q.Skipped:
		return "(skipped)"
	case q.Declined:
		return strings.TrimSpace("(declined) " + *q.Answer)
	}
	return *q.Answer
}

// Gone says what became of a question that is no longer open.
func Gone(q view.QuestionView) string {
	switch {
	case q.Answer == nil && q.Remark != "":
		return q.Remark
	case q.Answer == nil:
		return "withdrawn: nobody waits for its answer now"
	case q.Skipped:
		return "skipped " + by(q)
	case q.Declined:
		return strings.TrimSuffix(fmt.Sprintf("declined %s: %s", by(q), *q.Answer), ": ")
	}
	return fmt.Sprintf("answered %s: %s", by(q), *q.Answer)
}

// by says who has answered a question: on which terminal, or by which command. The number of a process says nothing
// once that is gone.
func by(q view.QuestionView) string {
	if on, is := strings.CutPrefix(q.AnsweredBy, questions.OnTerminal); is {
		return "in another terminal (" + on + ")"
	}
	who, _, _ := strings.Cut(q.AnsweredBy, ", process ")
	return "by " + who
}

// TellFileProblems says which question files cannot be read, and that none can. It keeps no question of a run from
// being seen.
func TellFileProblems(p *terminal.Printer, problems []string, err error) {
	for _, note := range service.FileNotes(problems, err) {
		p.Notice(note)
	}
}
