package permission

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A checkout is the git work tree that a folder belongs to.
type checkout struct {
	root string // the folder that holds .git; "" outside of any
	main string // the main checkout of a worktree, from which claude takes local settings; root where it is that itself
}

// maxGitFile bounds a .git file and what it leads to, in bytes.
const maxGitFile = 4 << 10

// checkoutOf finds the work tree of a folder as claude does: by the next .git above it. What a .git file leads to is
// only read; one that leads nowhere, or in a circle, is taken for none.
func checkoutOf(cwd string) checkout {
	for _, dir := range withAbove(cwd) {
		git := filepath.Join(dir, ".git")
		info, err := os.Stat(git)
		if err != nil {
			continue
		}
		if info.IsDir() {
			return checkout{dir, dir}
		}
		return checkout{dir, mainOf(dir, git)}
	}
	return checkout{}
}

// mainOf follows a .git file: it names the folder of the worktree, whose commondir names the repository's.
func mainOf(dir, git string) string {
	text, err := readText(git, maxGitFile)
	private, ok := strings.CutPrefix(strings.TrimSpace(text), "gitdir: ")
	if err != nil || !ok {
		return dir
	}
	if !filepath.IsAbs(private) {
		private = filepath.Join(dir, private)
	}
	common, err := readText(filepath.Join(private, "commondir"), maxGitFile)
	if err != nil {
		return dir // a submodule has none
	}
	if common = strings.TrimSpace(common); !filepath.IsAbs(common) {
		common = filepath.Join(private, common)
	}
	if filepath.Base(common) != ".git" {
		return dir
	}
	return filepath.Dir(common)
}

// noMonitor is the environment in which git runs no program to learn what has changed: one that a folder's .git/config
// names runs with a mere git status, at claude's start (before 2.1.329) and unasked by Bash. It goes on top of env, and
// after what git finds there already.
func noMonitor(env []string) []string {
	const counter = "GIT_CONFIG_COUNT="
	n := 0
	for _, entry := range env {
		if text, ok := strings.CutPrefix(entry, counter); ok {
			n, _ = strconv.Atoi(text) // what is no number, git does not take either
		}
	}
	return []string{
		fmt.Sprintf("%s%d", counter, n+1), fmt.Sprintf("GIT_CONFIG_KEY_%d=core.fsmonitor", n),
		fmt.Sprintf("GIT_CONFIG_VALUE_%d=false", n),
	}
}
