package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// maxCell bounds a text in Markdown, in bytes: summaries of CI jobs take a mebibyte in all.
const maxCell = 2_000

// Markdown writes the report of a run for the summary of a CI job.
func Markdown(w io.Writer, r view.RunReport) error {
	var b strings.Builder
	heading := "## Run " + r.Run.ID
	if r.Run.Name != "" {
		heading += " · " + escape(r.Run.Name)
	}
	fmt.Fprintf(&b, "%s\n\n**%s**: %s\n\n", heading, r.Run.Status, escape(view.Because(r.Run.Reason)))
	fmt.Fprintf(&b, "%s, %s, in %s\n\n", terminal.Duration(r.Took()), terminal.Money(r.Run.CostUSD), escape(r.Run.Cwd))
	if f := r.Run.Forked; f != nil {
		fmt.Fprintf(&b, "Continues from %s\n\n", escape(f.InWords()))
	}
	decisionTable(&b, "Questions and answers", "Question", chosen(r.Asked, false))
	decisionTable(&b, "Permitted and run", "What", chosen(r.Asked, true))
	b.WriteString("### Agents\n\n| Agent | Status | Worked | Waited for a person | Parked | Limited | Blocked | Cost " +
		"| Tokens in | From cache | To cache | Out |\n" + strings.Repeat("| --- ", 12) + "|\n")
	for _, a := range r.Agents {
		fmt.Fprintf(&b, "| %s%s | %s |", strings.Repeat("· ", min(a.Depth, 12)), escape(a.Who), a.Status)
		for _, kind := range []view.SpanKind{view.SpanWorking, view.SpanAsking, view.SpanParked, view.SpanLimited,
			view.SpanBlocked} {
			fmt.Fprintf(&b, " %s |", someTime(sum(a, kind)))
		}
		cost := terminal.Money(a.CostUSD)
		if tier := a.UnusualTier(); tier != "" {
			cost += " (" + escape(tier) + ")"
		}
		fmt.Fprintf(&b, " %s | %s | %s | %s | %s |\n", cost, terminal.Tokens(a.InputTokens),
			terminal.Tokens(a.CacheRead), terminal.Tokens(a.CacheCreation), terminal.Tokens(a.OutputTokens))
	}
	for _, a := range r.Agents {
		if a.Report == nil && a.Worktree == nil && len(a.Parts) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n", escape(a.Who))
		if rep := a.Report; rep != nil {
			for _, part := range []struct{ name, text string }{{"Reported", rep.Summary}, {"Deliverables", rep.Deliverables},
				{"Missing on disk", strings.Join(rep.Missing, "\n")}, {"Metrics", rep.Metrics}, {"Issues", rep.Issues},
				{"Recommendations", rep.Recommendations}} {
				if strings.TrimSpace(part.text) != "" {
					fmt.Fprintf(&b, "- %s: %s\n", part.name, escape(part.text))
				}
			}
		}
		for _, p := range a.Parts {
			fmt.Fprintf(&b, "- Subagent %s reported %s: %s\n", escape(p.By.Name()), escape(p.Status),
				escape(p.Summary))
			if len(p.Missing) > 0 {
				fmt.Fprintf(&b, "  - Missing on disk: %s\n", escape(strings.Join(p.Missing, "\n")))
			}
		}
		if tree := a.Worktree; tree != nil {
			fmt.Fprintf(&b, "- Worktree, %s: %s\n", tree.State, escape(strings.Trim(tree.Branch+": "+tree.Left, ": ")))
			for _, name := range few(a.Changed) {
				fmt.Fprintf(&b, "  - %s\n", escapeFirst(name))
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// RecordMarkdown writes what was decided in several runs.
func RecordMarkdown(w io.Writer, r view.Record) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n", recordTitle(r))
	if r.Cwd != "" {
		fmt.Fprintf(&b, "In %s and below\n\n", escape(r.Cwd))
	}
	for _, run := range r.Runs {
		fmt.Fprintf(&b, "### %s\n\n%s: %s, in %s, %s, %s\n\n",
			strings.TrimSuffix(run.Run.ID+" · "+escape(run.Run.Name), " · "), run.Run.Status,
			escape(view.Because(run.Run.Reason)), escape(run.Run.Cwd), when(run.Run.StartedAt),
			terminal.Money(run.Run.CostUSD))
		decisionTable(&b, "", "Question", run.Asked)
	}
	if len(r.Runs)+len(r.Beside) == 0 {
		b.WriteString("There was no run.\n")
	}
	decisionTable(&b, inSessions, "Question", r.Beside)
	_, err := io.WriteString(w, b.String())
	return err
}

// inSessions heads what was decided in sessions that are no run.
const inSessions = "In sessions without a supervisor"

// recordTitle says of when a record is.
func recordTitle(r view.Record) string {
	if r.From.IsZero() {
		return "Decisions"
	}
	return "Decisions since " + when(r.From)
}

// RecordLines writes what people have answered to questions of agents, each as a line for a CLAUDE.md: the last answer
// where a question was asked again. What let something happen is no rule for what comes later.
func RecordLines(w io.Writer, r view.Record) error {
	var b strings.Builder
	all := r.Decided()
	for i, d := range all {
		again := func(later view.Decided) bool { return later.Question == d.Question }
		if !d.Tells() || slices.ContainsFunc(all[i+1:], again) {
			continue
		}
		fmt.Fprintf(&b, "- %s %s (%s, %s)\n", escapeFirst(text.CleanLine(d.Question, maxLine)),
			escape(text.CleanLine(*d.Answer, maxLine)),
			d.AnsweredAt.Local().Format("2 Jan 2006"), cmp.Or(d.Run, "in a session"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxLine bounds what is said in a line, in cells.
const maxLine = 400

// decisionTable lists decisions, if there are any.
func decisionTable(b *strings.Builder, heading, what string, all []view.Decision) {
	if len(all) == 0 {
		return
	}
	if heading != "" {
		fmt.Fprintf(b, "### %s\n\n", heading)
	}
	fmt.Fprintf(b, "| %s | Answer | By | After |\n| --- | --- | --- | --- |\n", what)
	for _, d := range all {
		question := d.Asks()
		if d.Who != "" {
			question = d.Who + ": " + question
		}
		if d.Image != nil {
			question += "\n" + view.ShowsImage + d.Image.InWords()
		}
		if d.Assumption != "" {
			question += "\n" + view.AssumedInWords(d.QuestionView)
		}
		answer := outcome(d)
		if d.Ran != "" {
			answer += " (ran: " + d.Ran + ")"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escape(question), escape(answer), escape(by(d)), someTime(d.After))
	}
	b.WriteString("\n")
}

func someTime(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return terminal.Duration(d)
}

// escape writes a text so that Markdown, and the HTML in it, find nothing in it but text on one line: what could mean
// something where it stands is written as a character reference, which means nothing but the character. It is not the
// first of its line.
func escape(s string) string { return escaped(s, false) }

// escapeFirst is escape of what is the first of a line, or of an item of a list.
func escapeFirst(s string) string { return escaped(s, true) }

func escaped(s string, first bool) string {
	var b strings.Builder
	said := []rune(cut(text.Visible, strings.TrimSpace(s), maxCell))
	around := func(i int) rune {
		if i < 0 || i >= len(said) {
			return ' '
		}
		return said[i]
	}
	number := first // so far
	for i, r := range said {
		switch {
		case r == '\n':
			b.WriteString("<br>")
		case marks(around(i-1), r, around(i+1)),
			i > 0 && number && (r == '.' || r == ')'), // a list
			first && i == 0 && (r == '-' || r == '+') && (around(1) == ' ' || strings.Trim(string(said), "- ") == ""):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
		number = number && unicode.IsDigit(r)
	}
	return strings.ReplaceAll(b.String(), "www.", "www&#46;")
}

// marks reports whether a character may mean something in a line of Markdown, between its neighbours; what does so at
// the beginning alone is left out.
func marks(before, r, after rune) bool {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	switch r {
	case '_': // not inside a word
		return !word(before) || !word(after)
	case '&': // a reference
		return after == '#' || word(after)
	case '!': // on some hosts a request to merge
		return unicode.IsDigit(after)
	case ':': // an address, or :an_image:
		return !unicode.IsSpace(after)
	}
	return strings.ContainsRune("\\`*{[<>#|~@$", r)
}
