package commands

import (
	"net/url"
	"path/filepath"
	"strings"

	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/terminal"
)

// checkRepository refuses a repository that git would look for among the files of the machine it runs on: a worker
// would take a path of this machine for one of its own. file:// is how a person says that it is there, too.
func checkRepository(repo string) error {
	if !isPath(repo) {
		return nil
	}
	path, err := filepath.Abs(repo)
	if err != nil {
		path = "/PATH"
	}
	return exitcode.Usage("--repo %s is a path of this machine, and workers may be on others; nothing was submitted.\n"+
		"Give a URL that the workers reach or, where each of them has the repository at that path:\n"+
		"  --repo %s", terminal.CleanLine(repo, 0), (&url.URL{Scheme: "file", Path: path}).String())
}

// isPath reports whether git takes the name of a repository for a path: it is no URL, and no colon stands before its
// first slash, as in HOST:PATH.
func isPath(repo string) bool {
	if repo == "" || strings.Contains(repo, "://") {
		return false
	}
	host, _, _ := strings.Cut(repo, "/")
	return !strings.Contains(host, ":")
}
