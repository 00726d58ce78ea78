package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"

	"claude-supervise/cmd/internal/markup"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// A chapter is what happened meanwhile under one heading.
type chapter struct {
	heading string
	items   []item
}

// An item is one thing that happened, or waits. Its texts may be an agent's.
type item struct {
	says    string
	beside  []string // what else is to be known, a line each
	command string   // what to type next; "": nothing
	diff    string
}

// maxChanges bounds what is shown of the changes of a run, in bytes: the command beside shows all of them.
const maxChanges = 4_000

// chapters orders what happened by what a person who comes back has to know first.
func chapters(m view.Meanwhile) []chapter {
	waits, failed, done, goes := chapter{heading: "Waits for you"}, chapter{heading: "Failed"}, chapter{heading: "Done"},
		chapter{heading: "Not ended"}
	refused, decided := chapter{heading: "Refused"}, chapter{heading: "Decided"}
	became := func(where string, asked ...view.Decision) {
		for _, d := range asked {
			one := item{says: d.ID + ": " + d.Asks() + " → " + outcome(d),
				beside: []string{where + strings.TrimSuffix(", by "+by(d), ", by ") + ", " + after(d.After)}}
			switch {
			case d.AnsweredAt == nil:
			case d.Refused():
				refused.items = append(refused.items, one)
			default:
				decided.items = append(decided.items, one)
			}
		}
	}
	for _, w := range m.Waits {
		waits.items = append(waits.items, waiting(w))
	}
	for _, r := range m.Runs {
		switch one := ofRun(r); {
		case r.Run.EndedAt == nil:
			goes.items = append(goes.items, one)
		case ending(r.Run.ExitCode) == "bad":
			failed.items = append(failed.items, one)
		default:
			done.items = append(done.items, one)
		}
		became("in "+called(r.Run), r.Asked...)
	}
	for _, d := range m.Beside {
		became("in "+d.Cwd+" ("+d.Session.Where()+")", d)
	}
	return slices.DeleteFunc([]chapter{waits, failed, done, goes, refused, decided},
		func(p chapter) bool { return len(p.items) == 0 })
}

// headline says what a part is, and how much there is of it.
func (p chapter) headline() string { return fmt.Sprintf("%s (%d)", p.heading, len(p.items)) }

func waiting(w view.Waiting) item {
	held := ""
	if w.Holds > 0 {
		held = ", holds back " + text.Plural(w.Holds, "agent", "agents")
	}
	where := "by a script"
	switch {
	case w.Of.ID != "":
		where = "in " + called(w.Of)
	case w.Session != nil:
		where = "by " + w.Session.Where()
	}
	one := item{says: w.ID + ": " + w.Asks(), command: w.AnswerCommand,
		beside: []string{where + ", for " + terminal.Duration(w.After) + held}}
	if w.Assumption != "" {
		one.beside = append(one.beside, view.AssumedInWords(w.QuestionView))
	}
	return one
}

func ofRun(r view.RunReport) item {
	one := item{says: called(r.Run) + ": " + string(r.Run.Status),
		beside: []string{r.Run.Cwd + ", " + terminal.Duration(r.Took()) + ", " + terminal.Money(r.Run.CostUSD)}}
	if r.Run.Reason != "" {
		one.says += ": " + view.Because(r.Run.Reason)
	}
	one.beside = append(one.beside, few(made(r))...)
	if one.diff = strings.TrimSpace(r.Changes); one.diff != "" {
		one.beside = append(one.beside, few(changedIn(one.diff))...)
		one.command = "claude-supervise show " + r.Run.ID + " --diff"
	}
	return one
}

// called is a run by its id and the name that the person gave it.
func called(r view.RunView) string { return strings.TrimSpace(r.ID + " " + r.Name) }

// made is what the agents of a run have reported.
func made(r view.RunReport) (lines []string) {
	for _, a := range r.Agents {
		if a.Report == nil || strings.TrimSpace(a.Report.Summary) == "" {
			continue
		}
		said := a.Report.Summary
		if len(r.Agents) > 1 {
			said = a.Who + ": " + said
		}
		lines = append(lines, said)
		if len(a.Report.Missing) > 0 {
			lines = append(lines, "missing on disk: "+strings.Join(a.Report.Missing, ", "))
		}
	}
	return lines
}

// changedIn names the files of a diff, with how many lines of each are new and gone.
func changedIn(diff string) (files []string) {
	name, before, added, removed := "", "", 0, 0
	next := func(to string) {
		if name != "" {
			files = append(files, fmt.Sprintf("%s (+%d −%d)", name, added, removed))
		}
		name, added, removed = to, 0, 0
	}
	for is, line := range text.DiffLines(diff) {
		old, isOld := strings.CutPrefix(line, "--- ")
		now, isNew := strings.CutPrefix(line, "+++ ")
		switch {
		case is == text.Added:
			added++
		case is == text.Removed:
			removed++
		case is == text.DiffFile && isOld:
			before = strings.TrimPrefix(old, "a/")
		case is == text.DiffFile && isNew && now == "/dev/null":
			next(before)
		case is == text.DiffFile && isNew:
			next(strings.TrimPrefix(now, "b/"))
		}
	}
	next("")
	return files
}

// MeanwhileTitle says since when it is.
func MeanwhileTitle(m view.Meanwhile) string {
	if m.From.IsZero() {
		return "What happened"
	}
	return "Since " + when(m.From)
}

// inAll says in a line how much there was.
func inAll(m view.Meanwhile) string {
	if len(m.Runs) == 0 {
		return "There was no run."
	}
	where := ""
	if m.Cwd != "" {
		where = " in " + m.Cwd + " and below"
	}
	return text.Plural(len(m.Runs), "run", "runs") + where + ", " + terminal.Money(m.Spent) + " spent."
}

// MeanwhileText is what happened for a terminal, in lines of at most so many cells; commands stand whole.
func MeanwhileText(width int, m view.Meanwhile) string {
	var b strings.Builder
	put := func(indent int, s string) {
		for _, row := range terminal.Wrap(text.CleanLine(s, maxLine), max(width-indent, 20)) {
			fmt.Fprintf(&b, "%*s%s\n", indent, "", row)
		}
	}
	put(0, MeanwhileTitle(m)+": "+inAll(m))
	for _, p := range chapters(m) {
		b.WriteString("\n" + p.headline() + "\n")
		for _, i := range p.items {
			put(2, i.says)
			for _, s := range i.beside {
				put(4, s)
			}
			if i.command != "" {
				b.WriteString("    " + text.CleanLine(i.command, 0) + "\n")
			}
		}
	}
	return b.String()
}

// MeanwhileMarkdown writes what happened as Markdown.
func MeanwhileMarkdown(w io.Writer, m view.Meanwhile) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s\n", MeanwhileTitle(m), escapeFirst(inAll(m)))
	for _, p := range chapters(m) {
		fmt.Fprintf(&b, "\n### %s\n\n", p.headline())
		for _, i := range p.items {
			fmt.Fprintf(&b, "- %s\n", escapeFirst(i.says))
			for _, s := range i.beside {
				fmt.Fprintf(&b, "  - %s\n", escapeFirst(s))
			}
			if i.command != "" {
				fmt.Fprintf(&b, "  - %s\n", escapeFirst(i.command))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// MeanwhileHTML writes what happened as a page.
func MeanwhileHTML(w io.Writer, m view.Meanwhile) error {
	return write(w, document(MeanwhileTitle(m), html.Main(markup.Lines(html.H1(g.Text(MeanwhileTitle(m))),
		MeanwhilePart(m)))))
}

// MeanwhilePart draws what happened as one element, of a page that has [CSS].
func MeanwhilePart(m view.Meanwhile) g.Node {
	return html.Div(html.Class("report"), markup.Lines(
		html.P(own(inAll(m))),
		g.Map(chapters(m), func(p chapter) g.Node {
			return g.Group{html.H2(g.Text(p.headline())), g.Map(p.items, drawnItem)}
		}),
	))
}

func drawnItem(i item) g.Node {
	return html.Div(html.Class("decision"), markup.Lines(
		paragraph("text", see(i.says)),
		g.If(len(i.beside) > 0, list(i.beside)),
		g.If(i.command != "", html.P(html.Class("meta"), html.Code(g.Text(line(i.command))))),
		g.If(i.diff != "", folded("Changes", html.Pre(html.Class("text"), g.Text(cut(text.Visible, i.diff, maxChanges))))),
	))
}
