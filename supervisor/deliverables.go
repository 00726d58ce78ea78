package supervisor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// missing gives the files that a report's deliverables name and that are not on disk. Only what plainly is a file
// name is looked for: a list item that begins with a path. Prose, and addresses, are not.
func missing(cwd, deliverables string) []string {
	var gone []string
	for line := range strings.Lines(deliverables) {
		path := deliverable(line)
		if path == "" {
			continue
		}
		if !onDisk(cwd, path) {
			gone = append(gone, path)
		}
	}
	return gone
}

var (
	item     = regexp.MustCompile(`^\s*(?:[-*+•✓]|\d+[.)])\s+`)
	fileName = regexp.MustCompile(`^[~.\w@+%*/-]+$`)
	suffix   = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,9}$`)
)

// deliverable gives the file that a line of a list names, "" if it names none.
func deliverable(line string) string {
	line = strings.TrimSpace(line)
	rest := item.ReplaceAllString(line, "")
	listed := rest != line
	path, _, described := strings.Cut(rest, " ")
	path = strings.Trim(path, "`'\"*,;")
	path = strings.TrimSuffix(path, ":")
	if described && !listed || !fileName.MatchString(path) || strings.Contains(path, "//") {
		return ""
	}
	if !strings.Contains(path, "/") && !suffix.MatchString(path) {
		return ""
	}
	return path
}

func onDisk(cwd, path string) bool {
	if home, ok := strings.CutPrefix(path, "~/"); ok {
		dir, err := os.UserHomeDir()
		if err != nil {
			return false
		}
		path = filepath.Join(dir, home)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(cwd, path)
	}
	if strings.Contains(path, "*") {
		found, err := filepath.Glob(path)
		return err == nil && len(found) > 0
	}
	_, err := os.Lstat(path)
	return err == nil
}
