package prompts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// saidOf puts an answer as the agent reads it: in its own words where it has proposed it.
func saidOf(r questions.Resolution, standing string) string {
	if r.Own != "" {
		standing = "Continue as you proposed yourself: " + r.Own
	}
	return withWords(standing, r.Words)
}

// StopAnswered is what the agent reads: 002, "Resume with Context" and "Parent Response to Errors". further is the
// question that the answer has led to, nil if it has to none; looked are the files that were looked for on disk.
func StopAnswered(q *Question, sig signals.Signal, further *Question, looked []string) string {
	failed := sig.Field("stop_reason") == "error" || sig.Field("blocker_type") == "error"
	r := questions.Resolve(q)
	if further != nil && !questions.KindOf(further.Kind).Runs {
		r.Words = Answer(further)
	}
	issue := "Issue: " + strings.TrimSpace(sig.Field("details"))
	heading, text, next := "## BLOCKER RESOLVED", issue+"\nResolution: ", "Do not repeat what is already done."
	if failed {
		heading, text = "## ERROR RECOVERY", issue+"\n"
	}
	switch r.How {
	case questions.RunCommand:
		text += CommandRan(r.Words, further)
	case questions.Resolved:
		words := r.Words
		if words == "" {
			words = "The person says that it is resolved."
		}
		if failed {
			heading, text, next = "## ERROR FIXED", issue+"\nApplied fix: ",
				"Resume from the checkpoint and retry what caused the error. "+next
		}
		text += words
	case questions.SkipPart:
		list := "SKIPPED_ITEMS.md"
		if failed {
			list = "SKIPPED_FILES.md"
		}
		text += saidOf(r, "Skip what is blocked and continue with the rest") + "\nLog what you skip to " +
			list + " for manual review."
	case questions.RetryPart:
		text += saidOf(r, "Retry from the checkpoint")
	case questions.DelegateIt:
		heading = "## PARTIAL RESUME"
		if r.Own != "" {
			text += saidOf(r, "") + "\n"
			r.Words = ""
		}
		text += withWords("Skip what is blocked: agent "+q.Child+" does it", r.Words) +
			"\nContinue with the rest. You are told when that agent has ended; do not report completion before."
	case questions.SplitIt:
		text += saidOf(r, "") + "\nHave each part of what is blocked done by an agent of its own: one delegate_work " +
			"(or DELEGATE_WORK block) a part, with all that it has to know. You are told when each has ended; put what they " +
			"report together before you report completion."
	case questions.Unresolved:
		heading, text = "## BLOCKER NOT RESOLVED",
			issue+"\n"+withWords("The person declines to resolve it", r.Words)+
				"\nGo on without the blocked part, or end with a report that says what is left."
	case questions.ReduceIt:
		text += saidOf(r, "Reduce the scope") + "\nSay in your report what was left out."
	default:
		text += saidOf(r, "")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", heading, text)
	b.WriteString(restoration(q, sig, looked))
	b.WriteString("\n## RESUME INSTRUCTIONS\n")
	if blocked := strings.TrimSpace(sig.Field("blocked_work")); blocked != "" && r.How != questions.SkipPart &&
		r.How != questions.DelegateIt && r.How != questions.Unresolved {
		fmt.Fprintf(&b, "Continue with what was blocked:\n%s\n", blocked)
	}
	step := stepAfter(sig.Field("resume_requirements"))
	if step != "" && (r.How == questions.Resolved || ranWell(further)) {
		next = "Next step: " + step + "\n" + next
	}
	b.WriteString(next + NotShown([]*Question{q}))
	return b.String()
}

// stepAfter returns the next step that an agent has written down beforehand: what it is to be resumed with once what it
// waits for is there. "" if it has written none.
func stepAfter(plan string) string {
	m := resumeWith().FindStringSubmatch(plan)
	if m == nil {
		return ""
	}
	step := strings.TrimSpace(m[1])
	if q := resumeQuote().FindStringSubmatch(step); q != nil {
		step = q[1]
	}
	return text.Line(step, maxStep)
}

const maxStep = 500 // characters of a next step

var (
	// "Then resume with: …", and of a coordination "Resume: …"
	resumeWith  = text.Lazily(`(?im)^\s*(?:[-*]\s*|\d{1,2}[.)]\s*)?(?:(?:then\s+)?resume\s+with:?|resume:)\s+(\S.*)$`)
	resumeQuote = text.Lazily(`(?i)^(?:.*\bresume\s+with:?\s+)?["“]([^"”]+)["”]`)
)

// ranWell reports whether a command has run as an answer wanted, without a fault.
func ranWell(command *Question) bool {
	return command != nil && command.Ran != nil && command.Ran.Exit == "exit 0"
}

func withWords(text, words string) string {
	if words == "" {
		return text + "."
	}
	return text + ": " + words
}

// restoration gives the agent its snapshot back, and says what of it is not there any more.
func restoration(q *Question, sig signals.Signal, looked []string) string {
	snapshot := strings.TrimSpace(sig.Field("state_snapshot"))
	if snapshot == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n## STATE RESTORATION\n%s\n", snapshot)
	if done := strings.TrimSpace(sig.Field("completed_work")); done != "" {
		fmt.Fprintf(&b, "Completed:\n%s\n", done)
	}
	there := slices.DeleteFunc(looked, func(path string) bool {
		return slices.ContainsFunc(q.Gone, func(gone string) bool { // with the reason after it, where it is not known
			return gone == path || strings.HasPrefix(gone, path+" (")
		})
	})
	if len(q.Gone) > 0 {
		fmt.Fprintf(&b, "Looked for on disk; these are NOT there, make them again if you need them:\n- %s\n",
			strings.Join(q.Gone, "\n- "))
	}
	if len(there) > 0 {
		fmt.Fprintf(&b, "Looked for on disk, and there: %s\n", strings.Join(there, ", "))
	}
	return b.String()
}

// CommandRan tells what came of the command that the person was asked about.
func CommandRan(command string, asked *Question) string {
	if asked == nil || asked.Ran == nil {
		return fmt.Sprintf("The person decided not to run `%s`. Continue without it, or ask.", command)
	}
	s := fmt.Sprintf("The person had `%s` run: %s.", command, asked.Ran.Exit)
	if out := strings.TrimSpace(asked.Ran.Output); out != "" {
		s += " It printed:\n" + text.Indented(out)
	}
	return s
}

// Overrun is what an agent reads that takes longer than its estimate, for what a person has answered to that: a word,
// and what was said after it.
func Overrun(estimate time.Duration, answer, word, words string) string {
	say := answer
	switch {
	case word == questions.ReduceIt && words == "":
		say = "Reduce the scope: leave out what matters least. Say in your report what was left out."
	case word == questions.ReduceIt:
		say = "Reduce the scope: " + words + "\nSay in your report what was left out."
	case word == questions.DelegateIt:
		say = withWords("Delegate what is left to new agents (delegate_work), and continue with the rest", words)
	case word == questions.GoOnIt:
		say = "Continue: " + words
	}
	return PersonSays(fmt.Sprintf("You take longer than your estimate of %s. %s", estimate, say))
}
