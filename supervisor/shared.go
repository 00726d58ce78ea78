package supervisor

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// Agents, and their subagents, share findings in files that each of them appends to (002, "Coordination file pattern";
// 003, Pattern 3):
//
//	$CLAUDE_SUPERVISE_SHARED/NAME.jsonl        one JSON value a line, each appended by one write
//	$CLAUDE_SUPERVISE_SHARED/NAME.merged.json  all of them as one array, once the run has ended (findings/merge.go)
//	$CLAUDE_SUPERVISE_SHARED/NAME.broken       the lines among them that are no JSON
//	SECURITY_FINDINGS.jsonl                    in the project's folder, as 002 has it: a plain array, in the run's folder
//
// The folder is the run's own. What the agents wrote stays as it is, so the files can be merged again at any time.

// EnvShared is the environment variable that tells every agent where findings are shared.
const EnvShared = "CLAUDE_SUPERVISE_SHARED"

// maxMerges is how often it is tried to merge findings on a full disk.
const maxMerges = 5

// mergeDue reports whether the findings of a run are to be merged: it has ended, and there was somebody to share them
// with: another agent, or a subagent.
func (s State) mergeDue() bool {
	return s.Run.Leaving == records.LeavingEnded && (s.Run.Merged == nil || !s.Run.Merged.Done) &&
		(s.Agents.Len() > 1 || s.Agents.Get(s.Run.Root).Subagents)
}

// planMerge plans that.
func (s State) planMerge() []effect.Effect {
	if !s.mergeDue() {
		return nil
	}
	tries := 0
	if s.Run.Merged != nil {
		tries = s.Run.Merged.Tries
	}
	return []effect.Effect{{Do: effect.Merge, Key: fmt.Sprintf("merge %d", tries+1)}}
}

// mergedNotices tells what became of the findings: of trouble once, of the rest when nothing more is tried.
func mergedNotices(before, after *Run) (told []string, trouble bool) {
	m, was := after.Merged, before.Merged
	switch {
	case !m.Done && was == nil:
		return []string{fmt.Sprintf("the shared findings cannot be merged: %s; it is tried again", m.Problem)}, true
	case !m.Done:
		return nil, false
	}
	if m.Problem != "" {
		told = append(told,
			fmt.Sprintf("shared findings are not merged: %s. Nothing is lost: they stay in their .jsonl files", m.Problem))
	}
	for _, f := range m.Files {
		told = append(told, MergedInWords(f))
	}
	return told, m.Problem != "" || slices.ContainsFunc(m.Files, func(f checkpoints.MergedFile) bool {
		return f.Broken > 0
	})
}

// MergedInWords says what became of a file of findings.
func MergedInWords(f checkpoints.MergedFile) string {
	s := fmt.Sprintf("%s: %s merged into %s", f.Name, text.Plural(f.Lines, "finding", "findings"), f.Merged)
	if f.Broken > 0 {
		s += fmt.Sprintf("; %s kept aside in %s", text.Plural(f.Broken, "broken line", "broken lines"), f.Aside)
	}
	return s
}

// Merged says what became of the files of findings.
type Merged struct {
	Files   []checkpoints.MergedFile `json:",omitempty"`
	Problem string                   `json:",omitempty"` // why not all of them are merged
	Again   bool                     `json:",omitempty"` // the disk was full: it may do later
}

var _ = kind[Merged]("merged")

func (e Merged) apply(d *transition) error {
	if !d.mergeDue() {
		return unwelcome("the findings are merged when the run has ended")
	}
	m := checkpoints.Merged{Tries: 1, Files: e.Files, Problem: e.Problem}
	if before := d.Run.Merged; before != nil {
		m.Tries += before.Tries
	}
	m.Done = !e.Again || m.Tries >= maxMerges
	d.run().Merged = &m
	return nil
}
