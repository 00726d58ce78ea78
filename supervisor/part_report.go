package supervisor

import (
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/task"
	"claude-supervise/supervisor/text"
)

// This file is what the subagents of an agent report: news of a part of its work. It is shown, and its deliverables are
// looked for. Whether the task is done, only the agent that has it knows: it reports itself, and is asked to.

// maxParts bounds how many reports of subagents are kept of an agent, the newest.
const maxParts = 100

// reportedPart takes what a subagent reports. The last report of each counts.
func (d *transition) reportedPart(a *Agent, sig signals.Signal, by *checkpoints.Subagent) {
	who := *by
	who.Prompt, who.Done, who.By = "", "", nil
	next := 1
	if n := len(a.Parts); n > 0 {
		next = a.Parts[n-1].N + 1
	}
	parts := slices.DeleteFunc(slices.Clone(a.Parts), func(p checkpoints.PartReport) bool {
		return p.By.Key() == by.Key()
	})
	parts = append(parts, checkpoints.PartReport{N: next, By: who, At: d.at, Report: *task.ReportOf(sig)})
	a.Parts = parts[max(0, len(parts)-maxParts):]
}

// hasPart reports whether a signal is the last report of its subagent, said again.
func hasPart(a *Agent, n Named) bool {
	by := n.by()
	if by == nil || n.Signal.Kind != signals.Completion && n.Signal.Kind != signals.WorkflowComplete {
		return false
	}
	said := task.ReportOf(n.Signal)
	return slices.ContainsFunc(a.Parts, func(p checkpoints.PartReport) bool {
		return p.By.Key() == by.Key() && p.Status == said.Status && p.Summary == said.Summary &&
			p.Deliverables == said.Deliverables
	})
}

// checkedPart takes which deliverables of a subagent's report are missing.
func (d *transition) checkedPart(a *Agent, n int, missing []string) error {
	a.Parts = slices.Clone(a.Parts)
	p := task.PartAt(a, n)
	if p == nil || p.Checked {
		return unwelcome("%s has no report %d of a subagent to check", a.ID, n)
	}
	p.Checked, p.Missing = true, missing
	return nil
}

// partNotice tells of a subagent's report.
func partNotice(p *checkpoints.PartReport) notice.Notification {
	said := "reported " + p.Status + ": " + text.FirstLine(p.Summary)
	if files := strings.TrimSpace(p.Deliverables); files != "" {
		said += "\n  deliverables:\n    " + strings.ReplaceAll(files, "\n", "\n    ")
	}
	if len(p.Missing) > 0 {
		said += "\n  missing on disk: " + strings.Join(p.Missing, ", ")
	}
	return notice.Notification{Subagent: p.By.Name(), Text: said, Trouble: p.Status == "failed" || len(p.Missing) > 0}
}

// distrustParts takes no more of the reports in a pack file than are kept, and numbers them.
func distrustParts(a *Agent) {
	a.Parts = slices.Clone(a.Parts[:min(len(a.Parts), maxParts)])
	for i := range a.Parts {
		a.Parts[i].N = i + 1
	}
}
