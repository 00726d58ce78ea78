package questions

import (
	"regexp"
	"slices"
	"strings"

	"claude-supervise/supervisor/text"
)

// This file is what the answers to a stop mean (002, Protocol 3 and "Error Handling").

// What a person may answer to a stop, beside the agent's own options and free text. Each but GiveUp may be followed by
// a colon and words of the person's.
const (
	Resolved   = "resolved"
	RunCommand = "run" // needs the words: the command
	SkipPart   = "skip"
	RetryPart  = "retry"
	DelegateIt = "delegate"
	ReduceIt   = "reduce"
	GiveUp     = "give up"

	GoOnIt = "continue" // of work that takes too long: 002, "Agent Timeout". ReduceIt and DelegateIt may be, too

	SplitIt    = "delegate the parts" // not typed: the agent proposes to have several agents do what is blocked
	Unresolved = "decline"            // not typed: the person will not answer
)

// maxCommand bounds a command, in bytes: one that a person reads before it runs.
const maxCommand = 500

// PlainCommand reports whether a command is what it looks like: one line of characters that a person sees.
func PlainCommand(command string) bool {
	return command != "" && len(command) <= maxCommand && !strings.ContainsFunc(command, text.Hidden)
}

// IsStanding reports whether a word is a standing answer to a stop, in any case.
func IsStanding(word string) bool {
	return slices.ContainsFunc([]string{Resolved, RunCommand, SkipPart, RetryPart, DelegateIt, ReduceIt, GiveUp},
		func(label string) bool { return strings.EqualFold(label, word) })
}

// A Resolution is what an answer to a stop means.
type Resolution struct {
	How   string // a standing answer, or "" for an option of the agent's own that is none of them
	Own   string // the option of the agent's own that was chosen
	Words string // of the person's
}

// proposals are the standing answers that options of the agent's own are, by how these begin.
var proposals = []struct {
	how string
	is  func() *regexp.Regexp
}{
	{SkipPart, text.Lazily(`(?i)^skip\b`)},
	{RetryPart, text.Lazily(`(?i)^(retry|restart|try again)\b`)},
	{SplitIt, text.Lazily(`(?i)^(delegate|hand over)\b.*\b(multiple|several|parallel|\w+ or more)\b.*\bagents\b`)},
	{DelegateIt, text.Lazily(`(?i)^(delegate|hand over)\b`)},
	{ReduceIt, text.Lazily(`(?i)^(reduce|narrow|limit)\b.*\bscope\b`)},
	{GiveUp, text.Lazily(`(?i)^give up\b`)},
}

// proposed reads the choice of an option of the agent's own, after which may stand a colon and words of the person's.
func proposed(q *Question) (r Resolution, ok bool) {
	for _, o := range q.Options {
		rest, is := strings.CutPrefix(q.Answer, o.Label)
		if is && len(o.Label) > len(r.Own) && (rest == "" || strings.HasPrefix(rest, ":")) {
			r.Own, r.Words = o.Label, strings.TrimSpace(strings.TrimPrefix(rest, ":"))
		}
	}
	for _, p := range proposals {
		if r.How == "" && p.is().MatchString(r.Own) {
			r.How = p.how
		}
	}
	return r, r.Own != ""
}

// Asks reports whether a resolution wants another question answered before the agent reads it: whether a command may
// run, or what it leaves to be said.
func (r Resolution) Asks() bool { return r.How == RunCommand || r.Unsaid() != "" }

// Unsaid returns what an answer leaves to be said, as the option that was chosen puts it: "specify file patterns to
// exclude". "" if nothing is.
func (r Resolution) Unsaid() string {
	if r.Words != "" {
		return ""
	}
	if m := toBeSaid().FindStringSubmatch(r.Own); m != nil {
		return m[1]
	}
	if r.How == ReduceIt && (r.Own == "" || bareReduce().MatchString(r.Own)) {
		return "say what to leave out"
	}
	return ""
}

var (
	toBeSaid   = text.Lazily(`(?i)\(\s*(?:please\s+)?((?:specify|say|name|state|tell)\b[^()]*)\)`)
	bareReduce = text.Lazily(`(?i)^\w+( the)? scope$`)
)

// resolveStop reads an answer to a stop. Words that are no answer of ours tell how it was resolved.
func resolveStop(q *Question) Resolution {
	own, isOwn := proposed(q)
	head, words, colon := strings.Cut(q.Answer, ":")
	head = strings.ToLower(strings.TrimSpace(head))
	switch {
	case q.Declined:
		return Resolution{How: Unresolved, Words: strings.TrimSpace(q.Answer)}
	case q.Skipped:
		return Resolution{How: SkipPart}
	case colon && head == RunCommand && PlainCommand(strings.TrimSpace(words)):
		return Resolution{How: RunCommand, Words: strings.TrimSpace(words)}
	case head != RunCommand && IsStanding(head):
		return Resolution{How: head, Words: strings.TrimSpace(words)}
	case isOwn:
		return own
	}
	return Resolution{How: Resolved, Words: strings.TrimSpace(q.Answer)}
}

// handsBlocked reports whether an answer has another agent do the blocked part.
func handsBlocked(q *Question) bool { return resolveStop(q).How == DelegateIt }

func stopInAdvance(q *Question, fromFile bool) string {
	switch resolveStop(q).How {
	case RunCommand:
		return "it would run a command as you, which is answered by a person only"
	case DelegateIt:
		if fromFile {
			return "it would start an agent, which no task file can"
		}
	}
	return ""
}
