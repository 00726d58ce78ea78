package news

import (
	"fmt"
	"strings"

	"claude-supervise/cmd/internal/asking"
	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/runs"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// maxEnding bounds how many agents and questions the last words of a run name.
const maxEnding = 10

// Ending says in what state the run was left, and what to type next.
func Ending(out supervisor.Outcome) string {
	first, rest, more := strings.Cut(endingOfRun(out), "\n")
	if more {
		rest = "\n" + rest
	}
	cost := 0.0
	for _, a := range out.State.AllAgents() {
		cost += a.CostUSD
	}
	return strings.TrimRight(first+runs.Spent(out.Run.StartedAt, out.Run.EndedAt, out.Run.Since, cost)+rest+"\n"+
		endingOfOthers(out), "\n")
}

func endingOfRun(out supervisor.Outcome) string {
	id, reason := out.Run.ID, view.Because(out.Run.Reason)
	if over := out.Run.TakenOver; over != nil {
		return fmt.Sprintf("%s continues elsewhere (epoch %d, %s)\nIts agents here were ended, and nothing more was said to "+
			"them. To take it over again, run:\n  claude-supervise unpack %s", id, over.Epoch, over.By, over.In)
	}
	switch out.Code {
	case exit.Success:
		return fmt.Sprintf("%s succeeded", id)
	case exit.Parked:
		return parkedEnding(out)
	case exit.Budget:
		if out.Run.EndedAt == nil {
			return budgetEnding(out)
		}
	case exit.Interrupted:
		saved := "was interrupted" + withOpen(out.Open()) + "; everything is saved"
		if out.Run.Left == "" { // it did not come to that
			saved = "was ended at once; what was saved before is kept"
		}
		return fmt.Sprintf("%s %s\nTo continue, run: claude-supervise resume %s", id, saved, id)
	case exit.Partial:
		return fmt.Sprintf("%s succeeded in part: %s", id, reason)
	case exit.Stopped:
		if strings.HasPrefix(reason, string(out.Run.Status)) {
			return fmt.Sprintf("%s was %s", id, reason)
		}
	}
	text := fmt.Sprintf("%s %s: %s", id, out.Run.Status, reason)
	switch {
	case out.Code == exit.NoAgent && len(out.State.Config.Flags) > 0 && supervisor.BlamesFlag(out.Root):
		text += fmt.Sprintf("\nTo continue without that flag, or with another value or others, run:\n"+
			"  claude-supervise resume %s -- [FLAGS]", id)
	case out.Code == exit.NoAgent && out.State.Config.Claude != "":
		text += fmt.Sprintf("\nThe program tried was %s. `claude-supervise doctor --claude PATH` checks another one;\n"+
			"then run: claude-supervise resume %s --claude PATH", out.State.Config.Claude, id)
	case out.Code == exit.NoAgent && !out.State.Abilities().OnPath:
		text += fmt.Sprintf("\nTo continue, run: claude-supervise resume %s %s 'COMMAND {}'", id, out.State.Abilities().Flag)
	// as it was run, it would meet its budget again and fail again
	case out.Code == exit.Budget && failedByBudget(out):
		retry := id
		if out.State.Agents.Len() > 1 && out.Retries() {
			retry = "--failed " + id
		}
		text += fmt.Sprintf("\nTo be asked whether to raise it, run:\n  claude-supervise resume %s --on-question ask", retry)
	case out.State.Agents.Len() > 1 && out.Retries():
		text += fmt.Sprintf("\nTo retry what failed, run: claude-supervise resume --failed %s", id)
	case supervisor.NeedsLogin(out.Root):
		text += fmt.Sprintf("\nStart claude and type /login, or set a valid ANTHROPIC_API_KEY. Then run:\n"+
			"  claude-supervise resume %s", id)
	case out.Code == exit.Unreported && foreignID(out) != "" && !out.State.Abilities().UsesOurID:
		return fmt.Sprintf("%s\nIf that id is the agent's own, run:\n  claude-supervise resume %s --accept-id %s",
			text, id, foreignID(out))
	case out.Code == exit.Unreported && !out.State.Abilities().Resumes:
		text += fmt.Sprintf("\nThe command has to print a report: see claude-supervise help protocols.\n"+
			"Then run: claude-supervise resume %s", id)
	case out.Code == exit.Unreported:
		text += fmt.Sprintf("\nTo have it continue, or report, run: claude-supervise resume %s", id)
	case out.Root.Revivable():
		text += fmt.Sprintf("\nFix the problem, then run: claude-supervise resume %s", id)
	}
	return text
}

// withOpen names the questions that stay open.
func withOpen(open []*supervisor.Question) string {
	var ids []string
	for i, q := range open {
		if i == maxEnding {
			ids = append(ids, fmt.Sprintf("%d more", len(open)-i))
			break
		}
		ids = append(ids, q.ID)
	}
	if len(ids) == 0 {
		return ""
	}
	return " with " + strings.Join(ids, ", ") + " open"
}

// foreignID is the id under which a command's report was ignored, as a word of a shell, "ID" where it is none; "" if no
// report was.
func foreignID(out supervisor.Outcome) string {
	launches := out.State.Launches.Get(out.Root.ID)
	if len(launches) == 0 {
		return ""
	}
	id := launches[len(launches)-1].Foreign
	if id != "" && !completion.Plain(id) {
		return "ID"
	}
	return id
}

// failedByBudget reports whether a budget of ours has failed an agent, and not a bound that claude has by a flag of its
// own.
func failedByBudget(out supervisor.Outcome) bool {
	for a := range out.State.Agents.Values() {
		if a.Exceeds != "" && a.EndedAt != nil {
			return true
		}
	}
	return false
}

// parkedEnding says who waits for a person, and how to go on.
func parkedEnding(out supervisor.Outcome) string {
	id, reason := out.Run.ID, view.Because(out.Run.Reason)
	open := out.Open()
	if out.State.Agents.Len() > 1 && len(open) > 0 {
		reason = asked(open)
	}
	return fmt.Sprintf("%s is parked: %s\nNo process is running. Answer, then run:\n  claude-supervise resume %s",
		id, reason, id) +
		letThrough(open)
}

// budgetEnding says which budget is used up, and how to go on.
func budgetEnding(out supervisor.Outcome) string {
	return fmt.Sprintf(
		"%s is over its budget: %s\nNothing more is used. Answer raise N, finish or stop, then run:\n  claude-supervise "+
			"resume %s",
		out.Run.ID, asked(out.Open()), out.Run.ID)
}

// asked names the questions that are open, with who asks.
func asked(open []*supervisor.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d questions are open", len(open))
	if len(open) == 1 {
		b.Reset()
		b.WriteString("a question is open")
	}
	for i, q := range open {
		if i == maxEnding {
			fmt.Fprintf(&b, "\n  and %d more: claude-supervise questions", len(open)-i)
			break
		}
		fmt.Fprintf(&b, "\n  %s, %s: %s", q.ID, asking.AgentOf(view.View(q)), terminal.FirstLine(q.Text))
	}
	return b.String()
}

// endingOfOthers says what became of the agents that the end of the run does not tell of: those that did not succeed,
// and what was left in worktrees.
func endingOfOthers(out supervisor.Outcome) string {
	if out.Run.EndedAt == nil {
		return ""
	}
	var b strings.Builder
	labels := out.State.Labels()
	failed, kept := out.Unsuccessful(), out.Worktrees()
	if out.Table() != nil {
		failed = nil // that tells of each
	}
	for i, a := range failed {
		if i == maxEnding {
			fmt.Fprintf(&b, "  and %d more: claude-supervise show %s\n", len(failed)-i, out.Run.ID)
			break
		}
		fmt.Fprintf(&b, "  %s (%s) %s: %s\n", labels.Who(a), a.ID, a.Status, terminal.FirstLine(view.Because(a.Reason)))
	}
	if len(kept) > 0 {
		fmt.Fprintf(&b, "Worktrees with changes are kept. To merge them:\n")
	}
	for i, a := range kept {
		if i == maxEnding {
			fmt.Fprintf(&b, "  and %d more: claude-supervise show %s\n", len(kept)-i, out.Run.ID)
			break
		}
		fmt.Fprintf(&b, "  # %s\n  %s\n", labels.Who(a), strings.Join(out.Merge(a), "\n  "))
	}
	return b.String()
}

// letThrough says, of a run that waits for permissions, which flags would have given them in advance.
func letThrough(open []*supervisor.Question) string {
	var lines []string
	for _, q := range open {
		v := view.View(q)
		line := "  " + asking.InAdvance(v.AllowRule)
		if v.AllowRule == "" {
			line = "  " + q.ID + ": " + asking.InAdvance("")
		}
		if questions.KindOf(v.Kind).Ruled && len(lines) < maxEnding {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "\nTo permit it in advance, start a run with:\n" + strings.Join(lines, "\n")
}
