package task

import (
	"strings"
	"unicode"

	"claude-supervise/supervisor/text"
)

// A Gap is one of the parts that a task should have (003, "/bg Command Flow", phase 1) and does not.
type Gap struct {
	Part   TaskPart
	Advice string // what to add, for people
}

// TaskPart is a part of a task that is looked for before it is launched.
type TaskPart string

// The parts, in the order in which they are told of. Actionability is that the task names anything to work on.
const (
	PartContext         TaskPart = "context"
	PartGoals           TaskPart = "goals"
	PartSuccessCriteria TaskPart = "success criteria"
	PartActionability   TaskPart = "something to work on"
)

// maxJudged bounds what of a prompt is judged, in bytes, at its beginning and at its end.
const maxJudged = 16 << 10

// shortTask is how many words say something of the circumstances by themselves.
const shortTask = 12

// CheckTask judges whether an agent that can ask nobody in passing has what it needs: context, goals, success criteria
// and something to work on. A part is there if the brief has it, or if the prompt's own words do:
//
//	context            names a file, an address, code, a quotation or a number; says "because", "we" and the like; has a
//	                   heading or label for it; or is at least twelve words long
//	goals              has two words: what to do, and with what
//	success criteria   says "done when", "must", "until", "make sure", "at least", "tests pass" and the like, or has a
//	                   heading or label for it; deliverables in the brief are criteria, too
//	actionability      has a word beside those that only point: "fix it", "make everything better" have none
//
// The words looked for are English; in another language a task is judged by its length and by what it names. It is a
// reminder for people, not a proof: it is pure, and costs no more for a prompt of 16 MiB than for one of 32 KiB.
func CheckTask(prompt string, b Brief) []Gap {
	if len(prompt) > 2*maxJudged {
		prompt = prompt[:maxJudged] + "\n" + prompt[len(prompt)-maxJudged:]
	}
	all, pointing := words(prompt)
	for _, goal := range b.Goals {
		n, p := words(goal)
		all, pointing = all+n, pointing+p
	}
	var gaps []Gap
	lacks := func(part TaskPart, has bool, advice string) {
		if !has {
			gaps = append(gaps, Gap{Part: part, Advice: advice})
		}
	}
	lacks(PartContext, b.Context != "" || all >= shortTask || saysContext().MatchString(prompt),
		"name the files or the part that it is about, and why it is wanted")
	lacks(PartGoals, len(b.Goals) > 0 || all >= 2,
		"say what is to be done, and with what")
	lacks(PartSuccessCriteria, len(b.SuccessCriteria)+len(b.Deliverables) > 0 || saysCriteria().MatchString(prompt),
		`say how one sees that it is done ("Done when: ...")`)
	lacks(PartActionability, all > pointing,
		`say what "it" is: a file, a function, a text`)
	return gaps
}

// They are compiled when a task is checked: the start of every other command would wait for it.
var (
	saysContext = text.Lazily("(?i)" +
		`[\w.-]+/[\w./-]*|\b[\w-]+\.[a-z][a-z0-9]{0,4}\b|` + // a path, a file, an address
		"`[^`\n]+`|\"[^\"\n]+\"|“[^”\n]+”|" + // code, a quotation
		`\w\(\)|[a-z]_[a-z]|#\d|\d|` + // a function, a name in code, a number
		`\b(?:because|since|currently|at the moment|so far|we|our|us|context|background)\b`)
	saysCriteria = text.Lazily(`(?i)` +
		`\b(?:done when|done if|success|criteri(?:a|on)|definition of done|metrics?|expected|acceptance)\b|` +
		`\b(?:must|should|shall|until|so that|make sure|ensure|verify|check that|confirm that|prove that)\b|` +
		`\b(?:at least|at most|exactly|no more than|less than|fewer than|within|without (?:any ` +
		`)?(?:error|warning|failure)s?)\b|` +
		`\b(?:pass|passes|passing|succeeds?|is green|compiles|builds|exits?)\b|[<>≤≥]=? ?\d|\d ?%`)
)

// pointers are the words that only point at what is meant, or at what is wanted of it, without naming it.
var pointers = wordSet(`
	a an the this that these those it its them they thing things stuff something anything everything all some any one
	here there now again more better best good nice well properly right up on out of in to for with and or then also just
	please can could would you your i me my let us do does done make makes get go keep continue proceed start finish help
	fix solve handle improve change update work works run try be is are what how why hi hello hey ok okay yes no thanks
	problem problems issue issues rest`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w] = true
	}
	return set
}

// words counts the words of a text, and those among them that only point. Where no spaces stand between words each
// letter counts as one.
func words(text string) (all, pointing int) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	}) {
		n := 1
		if unspaced := strings.IndexFunc(word, func(r rune) bool {
			return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
		}); unspaced >= 0 {
			n = len([]rune(word))
		}
		all += n
		if pointers[strings.ToLower(word)] {
			pointing++
		}
	}
	return all, pointing
}
