package terminal

import (
	"strconv"
	"time"
)

// A Question is what a person sees of one open question. Its texts may be hostile: they are cleaned when they are
// shown.
type Question struct {
	ID          string
	Group       string // questions of one signal share it; empty: on its own
	Index, Of   int    // place in the group, from 0, and the size of the group
	Kind        string // clarification, blocker, permission, delegation, budget, command, file, overrun
	Header      string
	Text        string
	Context     string
	Agent, Run  string
	Place       string // of the run: its name and folder; "": not shown
	Asker       string // whom the agent asks for, where that is a subagent: what it is, its task, its depth
	Options     []Option
	MultiSelect bool
	Validate    string // choice, path, regex:PATTERN, integer, yes_no, schema:JSON; any other sets no rule
	Optional    bool   // it can be skipped
	Declinable  bool   // the person may say that there will be no answer, and why
	Urgent      bool
	Task        string // of a delegation: what is to be done, for the person to change
	Instead     string // of a delegation: what begins, in its denial, what is to be done in its place
	AskedAt     time.Time
	Folder      string // where paths in its answer begin; "": where those of all do, as Prompter.In says
	Command     string // the exact command that answers it elsewhere
	Advance     string // of a permission: what permits it in advance
}

// An Option is one offered answer.
type Option struct{ Label, Description, Preview string }

// keys gives what to show before each option for a person to type: numbers, or letters where a number could also mean
// the start of another label (ports, versions), or none where letters could too. Choose takes every key that is shown;
// it takes the other kind as well, unless that is ambiguous.
func keys(q Question) []string {
	keys := make([]string, len(q.Options))
	// most are not even shown; whoever picks one types more of its label if its number is ambiguous
	if len(keys) > maxShown {
		for i := range keys {
			keys[i] = numberKey(i)
		}
		return keys
	}
	for _, key := range []func(int) string{numberKey, letterKey} {
		clear := true
		for i, o := range q.Options {
			if o.blank() {
				continue
			}
			keys[i] = key(i)
			meant := q.readings(keys[i])
			clear = clear && len(meant) == 1 && q.Options[meant[0]].Label == q.Options[i].Label
		}
		if clear {
			return keys
		}
	}
	return make([]string, len(q.Options))
}

func (o Option) blank() bool { return CleanLine(o.Label, 0) == "" }

func numberKey(i int) string { return strconv.Itoa(i + 1) }

func letterKey(i int) string {
	if i >= 26 {
		return ""
	}
	return string(rune('a' + i))
}
