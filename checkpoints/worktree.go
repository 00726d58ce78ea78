package checkpoints

import (
	"strings"
)

// A Worktree is a git worktree of an agent's own, with a branch of its own (git-worktree(1)); of a fork from a folder
// without git it is a plain copy of that, without branch, repository and base.
type Worktree struct {
	State  WorktreeState `json:"state"`
	Branch string        `json:"branch"`         // made for it: claude-supervise/RUN/AGENT
	Path   string        `json:"path,omitempty"` // its top folder, absolute; "" where there is none
	Repo   string        `json:"repo,omitempty"` // the top of the work tree that the run began in
	// the folder that it corresponds to: where the agent would work without it
	From string `json:"from,omitempty"`
	Base string `json:"base,omitempty"` // the commit that it began at
	// whose files it began with, in place of those of the commit; nil: with these
	Moment *MomentOf `json:"moment,omitempty"`
	Lacks  []string  `json:"lacks,omitempty"` // what is where it was made from and not in it, for people
	// kept: what is checked out in it, a branch, or a commit where there is none
	Tip     string `json:"tip,omitempty"`
	Loose   int    `json:"loose,omitempty"`   // kept: files in it with changes that are not committed
	Commits int    `json:"commits,omitempty"` // kept: how many commits were made in it
	Problem string `json:"problem,omitempty"` // why there is none, or why it was not looked through
}

// IsCopy reports whether it is a plain copy of a folder without git.
func (w Worktree) IsCopy() bool { return w.Moment != nil && w.Branch == "" }

// WorktreeState is how far an agent's worktree has got.
type WorktreeState string

// The states of a worktree. Wanted is saved before anything is made.
const (
	WorktreeWanted  WorktreeState = "wanted"
	WorktreeMade    WorktreeState = "made"    // the agent works in it
	WorktreeKept    WorktreeState = "kept"    // the agent has ended, and has left something in it
	WorktreeRemoved WorktreeState = "removed" // the agent has ended, and has left nothing in it
	WorktreeHanded  WorktreeState = "handed"  // another agent goes on in it
	WorktreeNone    WorktreeState = "none"    // none could be made: Problem says why
)

// Commands returns what a person types to take over what is in a worktree that was kept, in order, and what to be rid
// of it. folder is the work tree that takes it over; "" is where the commands are typed. What is in a copy is taken
// over by its run's id, which is not known here.
func (w Worktree) Commands(folder string) (merge, drop []string) {
	if w.State != WorktreeKept {
		return nil, nil
	}
	if w.IsCopy() {
		if w.Path != "" {
			drop = []string{"rm -r " + shellWord(w.Path)}
		}
		return nil, drop
	}
	tip := w.Tip
	if strings.HasPrefix(tip, "-") { // a branch that would be read as an option
		tip = "refs/heads/" + tip
	}
	if w.Loose > 0 {
		merge = append(merge, git(w.Path, "add", "--all"), git(w.Path, "commit", "--message", shellWord("work of "+w.Branch)))
	}
	switch {
	case w.Loose > 0 && isCommit(w.Tip): // no branch follows the commit
		merge = append(merge, git(folder, "merge", `"$(`+git(w.Path, "rev-parse", "HEAD")+`)"`))
	case w.Loose > 0 || w.Commits > 0:
		merge = append(merge, git(folder, "merge", shellWord(tip)))
	}
	if w.Path != "" {
		drop = append(drop, git(w.Repo, "worktree", "remove", "--force", shellWord(w.Path)))
	}
	return merge, append(drop, git(w.Repo, "branch", "-D", shellWord(w.Branch)))
}

// RepairCommand returns what a person types where the work tree that it was made from was moved to a folder: git looks
// for it by where that was.
func (w Worktree) RepairCommand(folder string) string {
	return git(folder, "worktree", "repair", shellWord(w.Path))
}

// git returns a command for git as a person types it, in a folder; "": where they are. The arguments are words of a
// shell.
func git(folder string, args ...string) string {
	words := []string{"git"}
	if folder != "" {
		words = append(words, "-C", shellWord(folder))
	}
	return strings.Join(append(words, args...), " ")
}

// isCommit reports whether a tip is the name of a commit, and not of a branch.
func isCommit(tip string) bool {
	return isHex(tip, 40) || isHex(tip, 64)
}

// isHex reports whether a text is so many hexadecimal digits, in lower case.
func isHex(text string, digits int) bool {
	return len(text) == digits && strings.Trim(text, "0123456789abcdef") == ""
}

// shellWord writes a text as one word of a POSIX shell.
func shellWord(text string) string {
	if text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r &&
			r <= '9' || strings.ContainsRune("/._-+,:@%=", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
