package ask

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// GivenIn leaves of the rules that --allow gives, for the agents' own folders, those that hold where a call is made.
func GivenIn(given []rules.Rule, cwd string) []rules.Rule {
	if cwd == "" {
		return given
	}
	return slices.DeleteFunc(slices.Clone(given), IsCommand)
}

// Permission makes the question of a permission prompt, and the rule that would permit the same for the whole run;
// "" if none can. What is of the call stands in it as package text writes it: so it is seen wherever the question is
// shown. t is what the person sees of the call.
func Permission(m procs.Ask, t CallView) (signals.Question, string) {
	name := text.Line(m.Name, MaxToolName)
	asked := "Allow " + name
	if t.Where != "" {
		asked += " in " + text.Line(t.Where, text.MaxNamed)
	}
	if what := t.Headline.String(); what != "" {
		asked += ": " + what
	}
	asked += "?"
	context := t.Preview
	if said := text.Line(m.Description, text.MaxLine); said != "" && !strings.Contains(context, said) {
		context += "\n" + calls.ItSays + said
	}
	if m.Reason != "" {
		context += becauseLine + text.Line(m.Reason, text.MaxLine)
	}
	if m.From.ID != "" {
		context += subagentLine + text.Line(m.From.ID, text.MaxLine)
	}
	var options []signals.Option
	rule, holds := "", "always in this run: "
	if t.Cwd != "" {
		holds = "always in this run, in that folder: "
	}
	if t.More > 0 {
		context += "\n" + onlyRefused
	} else {
		options = append(options, signals.Option{Label: questions.Allow, Description: "this once"})
	}
	if t.Rule != (rules.Rule{}) {
		rule = t.Rule.String()
	}
	if rule != "" && t.More == 0 {
		options = append(options, signals.Option{Label: questions.AllowRun, Description: holds + rule})
	}
	return signals.Question{
		ID: m.Name, Header: name, Text: asked, Context: context,
		Options: append(options,
			signals.Option{Label: questions.Deny, Description: "refuse it; add why, e.g. deny: use the test database"},
			signals.Option{Label: questions.DenyStop, Description: "refuse it, and stop the agent"}),
	}, rule
}

// AboutRefused makes of a question whether a call is permitted one whether it may be made although it was refused.
func AboutRefused(q signals.Question) signals.Question {
	q.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o signals.Option) bool {
		return o.Label == questions.AllowRun
	})
	for i, o := range q.Options {
		switch o.Label {
		case questions.Allow:
			q.Options[i].Description = "once: the agent is told to make this very call again"
		case questions.Deny:
			q.Options[i].Description = "it stays refused; add why, e.g. deny: use the test database"
		case questions.DenyStop:
			q.Options[i].Description = "it stays refused, and the agent is stopped"
		}
	}
	return q
}

// The lines of a permission's context that are not about the call. No line of others begins so
// (permission/preview_evidence).
const (
	becauseLine  = "\nAsked because: "
	subagentLine = "\nAsked by the subagent "
)

// MaxToolName bounds the name of a tool in it.
const MaxToolName = 100

// onlyRefused says why a call can only be refused.
var onlyRefused = fmt.Sprintf("It can only be refused: more than %d KiB cannot be shown, and what is not shown\n"+
	"cannot be allowed. Deny it, and ask for smaller steps.", text.MaxPreview>>10)

// Permits reports whether a question's answer lets a call be made that the person was shown.
func Permits(q *checkpoints.Question) bool {
	return questions.KindOf(q.Kind).Ruled && questions.Allowed(q)
}

// SameEvidence reports whether two permissions show the same of a call, whoever asks for it and why.
func SameEvidence(a, b string) bool {
	of := func(context string) string {
		for _, ours := range []string{becauseLine, subagentLine} {
			context, _, _ = strings.Cut(context, ours)
		}
		return context
	}
	return of(a) == of(b)
}

// GrantsRule reports whether a question's answer is a rule that is in force.
func GrantsRule(q *checkpoints.Question) bool {
	word, _ := questions.Decision(q.Answer)
	return Permits(q) && q.AnsweredAt != nil && word == questions.AllowRun && q.Rule != "" &&
		(q.State == checkpoints.QuestionAnswered || q.State == checkpoints.QuestionDelivered)
}

// A RunRule is a rule that somebody gave while a run was under way.
type RunRule struct {
	Rule     string    `json:"rule"`
	Folder   string    `json:"folder,omitempty"` // one about commands holds there; "": in the agent's own
	Question string    `json:"question"`         // the answer to which it is
	By       string    `json:"by"`
	At       time.Time `json:"at"`
}

// RuleOf returns the rule that an answer to a permission has given.
func RuleOf(q *checkpoints.Question) RunRule {
	return RunRule{Rule: questions.GivenRule(q, q.Answer), Folder: CwdOf(q), Question: q.ID, By: q.AnsweredBy,
		At: *q.AnsweredAt}
}

// CwdOf returns where the call of a permission is made, as a checkpoints.ToolCall has it. A record of an earlier build
// has none, and counts as made in the agent's own folder.
func CwdOf(q *checkpoints.Question) string {
	if q.Tool == nil {
		return ""
	}
	return q.Tool.Cwd
}

// IsCommand reports whether a rule is about some commands. What one does depends on the folder in which it runs, so
// such a rule holds where it was given.
func IsCommand(r rules.Rule) bool { return r.Tool == "Bash" && r.Spec != "" }

// A CallSite is where a call is made.
type CallSite struct {
	Folder string // the agent's
	Cwd    string // where it, or its subagent, has gone; "" if that is not known
}

// A CallView is what a person is shown of a call before it is permitted.
type CallView struct {
	Headline calls.Headline // for the question's text: what the call does
	Cwd      string         // where it is made, as a checkpoints.ToolCall has it
	Where    string         // the same in few words, for the question's text; "": the agent's own folder
	Preview  string         // all of the call, as package text writes it
	Rule     rules.Rule     // that permits exactly this in the whole run; the zero Rule if none can
	More     int            // how many bytes of the preview are left out; such a call can only be refused
}
