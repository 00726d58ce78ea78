package view

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/stream"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// A Remark is one thing that the log of an agent says, as `logs --json` prints it. Fields may be added, never renamed.
type Remark struct {
	Time   time.Time  `json:"time"`
	Run    string     `json:"run"`
	Agent  string     `json:"agent"`
	Who    string     `json:"who"`    // the agent in a few words, where the run has several
	Launch int        `json:"launch"` // 0 for an answer
	Type   RemarkType `json:"type"`
	Text   string     `json:"text"`

	Question *string `json:"question"`    // of an answer: the id of the question,
	By       *string `json:"answered_by"` // and who gave it
}

// RemarkType is what sort of thing a log says.
type RemarkType string

// The types of remark.
const (
	RemarkText     RemarkType = "text"
	RemarkCall     RemarkType = "call" // of a tool
	RemarkStderr   RemarkType = "stderr"
	RemarkTurnDone RemarkType = "turn_ended"
	RemarkRefused  RemarkType = "refused" // a call, by claude alone
	RemarkAnswered RemarkType = "answered"
	RemarkSkipped  RemarkType = "skipped"
	RemarkDeclined RemarkType = "declined"
)

// words says a remark without its time.
func (r Remark) words() string {
	switch r.Type {
	case RemarkCall:
		return calls.Readable(r.Text)
	case RemarkStderr:
		return "stderr: " + r.Text
	case RemarkTurnDone:
		return "-- turn ended: " + r.Text
	case RemarkAnswered:
		return "answered by " + *r.By + ": " + r.Text
	case RemarkSkipped:
		return "skipped by " + *r.By
	case RemarkDeclined:
		return strings.TrimSuffix("declined by "+*r.By+": "+r.Text, ": ")
	}
	return r.Text
}

// String says a remark with its time, whose it is, and what an answer is to.
func (r Remark) String() string {
	text := r.words()
	if r.Question != nil {
		text = "[" + *r.Question + "] " + text
	}
	if r.Who != "" {
		text = r.Who + ": " + text
	}
	return Stamp(r.Time) + " " + text
}

func inWords(said []Remark) []string {
	var texts []string
	for _, r := range said {
		texts = append(texts, r.String())
	}
	return texts
}

// Stamp says a time to the second by the person's own clock, with its date where that is not today's.
func Stamp(t time.Time) string { return byClock(t, time.TimeOnly, time.DateTime) }

// Clock is Stamp to the minute.
func Clock(t time.Time) string { return byClock(t, "15:04", "2006-01-02 15:04") }

func byClock(t time.Time, today, otherDay string) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format(today)
	}
	return t.Format(otherDay)
}

// remarks returns what a line of a log holds. What is to be said of a text, read gives; it reads the calls and ends of
// turns, too.
func remarks(line []byte, read func(procs.Message) string) []Remark {
	var e stream.Entry
	if !stream.Decode(line, &e) {
		return nil // a line that is no protocol, or was cut by a crash
	}
	var out []Remark
	add := func(kind RemarkType, text string) {
		out = append(out, Remark{Time: e.Time, Launch: e.Launch, Type: kind, Text: text})
	}
	if e.Stderr != "" {
		add(RemarkStderr, e.Stderr)
	}
	for _, m := range claude.Logged(e.Line) {
		text := read(m)
		switch m := m.(type) {
		case procs.Raw:
			if strings.TrimSpace(ansi.Strip(text)) != "" { // more than what hides a cursor
				add(RemarkText, strings.TrimRight(text, "\r\n"))
			}
		case procs.Text:
			if text != "" {
				add(RemarkText, text)
			}
		case procs.ToolUse:
			add(RemarkCall, CallInWords(m.Name, m.Input))
		case procs.Refused:
			add(RemarkRefused, listen.Refusal(m))
		case procs.Result:
			add(RemarkTurnDone, e.Line.Subtype)
		}
	}
	return out
}

// inReason are the times that the reason of a status has.
var inReason = text.Lazily(`(resumes at|tried again at|silent since) (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))`)

// Because returns the reason of a status as a person reads it: its times, which are RFC 3339 as they are stored, by
// their own clock, and what is to be permitted as they are asked.
func Because(reason string) string {
	if at := strings.Index(reason, ": Allow "); at >= 0 {
		reason = reason[:at+2] + questions.KindOf(questions.AskPermission).Asks(reason[at+2:])
	}
	return inReason().ReplaceAllStringFunc(reason, func(found string) string {
		words := inReason().FindStringSubmatch(found)
		at, err := time.Parse(time.RFC3339, words[2])
		if err != nil {
			return found
		}
		return words[1] + " " + Clock(at)
	})
}
