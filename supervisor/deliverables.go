package supervisor

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// files gives the files that a report's deliverables name. Only what plainly is a file name counts, at the beginning of
// an entry: prose and addresses are not looked for.
func files(deliverables []string) []string {
	var named []string
	for _, entry := range deliverables {
		path, _, _ := strings.Cut(strings.TrimSpace(entry), " ")
		path = strings.TrimSuffix(strings.Trim(path, "`'\"*,;"), ":")
		if fileName.MatchString(path) && !strings.Contains(path, "//") &&
			(strings.Contains(path, "/") || suffix.MatchString(path)) {
			named = append(named, path)
		}
	}
	return named
}

var (
	fileName = regexp.MustCompile(`^[~.\w@+%*/-]+$`)
	suffix   = regexp.MustCompile(`\.[A-Za-z][A-Za-z0-9]{0,9}$`)
)

// missing gives the files that are not on disk, as they were named.
func missing(cwd string, files []string) []string {
	var gone []string
	for _, path := range files {
		if !onDisk(cwd, path) {
			gone = append(gone, path)
		}
	}
	return gone
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
