package findings

import (
	"path/filepath"
	"strings"

	"claude-supervise/checkpoints"
)

// SharedFolder is the folder of the findings of a run.
func SharedFolder(dirs checkpoints.Dirs, run string) string {
	return filepath.Join(dirs.RunDir(run), "shared")
}

// findingsName reports whether a file has the name of one of findings, and gives what stands before its suffix.
func findingsName(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, ".jsonl")
	return name, ok && len(name) <= maxFile && plainFile().MatchString(name)
}

// projectFindings is findingsName for a project's own folder, in which other .jsonl files lie, too: of the document's
// kind of name, SECURITY_FINDINGS.jsonl.
func projectFindings(file string) (name string, ok bool) {
	name, ok = findingsName(file)
	return name, ok && strings.HasSuffix(name, "FINDINGS")
}
