package main

import (
	"strings"
	"testing"
)

func TestAMessageAndAnAnswerAreToldApart(t *testing.T) {
	one, two := []string{"q-7kq2mx"}, []string{"q-7kq2mx", "q-abcdef"}
	for _, c := range []struct {
		line      string
		open      []string
		undecided string
		want      typedLine
	}{
		{"use staging", nil, "", typedLine{kind: toSay, text: "use staging"}},
		{"two\nlines", nil, "", typedLine{kind: toSay, text: "two\nlines"}},
		{"use staging", one, "", typedLine{kind: toChoose, text: "use staging"}},
		{"1", one, "", typedLine{kind: toChoose, text: "1"}},
		{"a", one, "", typedLine{kind: toChoose, text: "a"}},
		{"a", one, "1", typedLine{kind: toAnswer, text: "1"}},
		{"A", one, "1", typedLine{kind: toAnswer, text: "1"}},
		{"/answer", one, "1", typedLine{kind: toAnswer, text: "1"}},
		{"m", one, "1", typedLine{kind: toSay, text: "1"}},
		{"/say", one, "1", typedLine{kind: toSay, text: "1"}},
		{"n", one, "1", typedLine{kind: toDrop}},
		{"a different one", one, "1", typedLine{kind: toChoose, text: "a different one"}},
		{"/say use staging", one, "", typedLine{kind: toSay, text: "use staging"}},
		{"/say /etc is shared", nil, "", typedLine{kind: toSay, text: "/etc is shared"}},
		{"/say", one, "", typedLine{kind: toSay}},
		{"/answer 2", one, "", typedLine{kind: toAnswer, text: "2"}},
		{"/answer both, OAuth2 first", one, "", typedLine{kind: toAnswer, text: "both, OAuth2 first"}},
		{"/answer q-abcdef JWT it is", two, "", typedLine{kind: toAnswer, question: "q-abcdef", text: "JWT it is"}},
		{"/answer q-abc JWT", two, "", typedLine{kind: toAnswer, question: "q-abc", text: "JWT"}},
		{"/answer abcdef JWT", two, "", typedLine{kind: toAnswer, question: "abcdef", text: "JWT"}},
		{"/answer", one, "", typedLine{kind: toAnswer}},
		{"/detach", one, "", typedLine{kind: toDetach}},
		{"/help", nil, "", typedLine{kind: toHelp}},
		{"/etc is shared", nil, "", typedLine{kind: unknownTo, text: "/etc"}},
		{"/Answer 2", one, "", typedLine{kind: unknownTo, text: "/Answer"}},
	} {
		if got := understood(c.line, c.open, c.undecided); got != c.want {
			t.Errorf("%q with %d open questions and %q undecided is %+v, want %+v", c.line, len(c.open),
				c.undecided, got, c.want)
		}
	}
}

// A line that is not a command of ours and was not called a message is never sent, nor kept as an answer, while a
// question is open.
func FuzzUnderstood(f *testing.F) {
	f.Add("a", "1")
	f.Add("/answer q-7kq2mx x", "")
	f.Add("/say x", "y")
	f.Fuzz(func(t *testing.T, line, undecided string) {
		w := understood(line, []string{"q-7kq2mx"}, undecided)
		named := strings.HasPrefix(strings.TrimSpace(line), "/")
		if (w.kind == toSay || w.kind == toAnswer) && !named && (undecided == "" || w.text != undecided) {
			t.Errorf("%q with %q undecided is %+v", line, undecided, w)
		}
		if again := understood(line, []string{"q-7kq2mx"}, undecided); again != w {
			t.Errorf("%q is %+v, and then %+v", line, w, again)
		}
	})
}
