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
		want      wish
	}{
		{"use staging", nil, "", wish{do: toSay, text: "use staging"}},
		{"two\nlines", nil, "", wish{do: toSay, text: "two\nlines"}},
		{"use staging", one, "", wish{do: toChoose, text: "use staging"}},
		{"1", one, "", wish{do: toChoose, text: "1"}},
		{"a", one, "", wish{do: toChoose, text: "a"}},
		{"a", one, "1", wish{do: toAnswer, text: "1"}},
		{"A", one, "1", wish{do: toAnswer, text: "1"}},
		{"/answer", one, "1", wish{do: toAnswer, text: "1"}},
		{"m", one, "1", wish{do: toSay, text: "1"}},
		{"/say", one, "1", wish{do: toSay, text: "1"}},
		{"n", one, "1", wish{do: toDrop}},
		{"a different one", one, "1", wish{do: toChoose, text: "a different one"}},
		{"/say use staging", one, "", wish{do: toSay, text: "use staging"}},
		{"/say /etc is shared", nil, "", wish{do: toSay, text: "/etc is shared"}},
		{"/say", one, "", wish{do: toSay}},
		{"/answer 2", one, "", wish{do: toAnswer, text: "2"}},
		{"/answer both, OAuth2 first", one, "", wish{do: toAnswer, text: "both, OAuth2 first"}},
		{"/answer q-abcdef JWT it is", two, "", wish{do: toAnswer, question: "q-abcdef", text: "JWT it is"}},
		{"/answer q-abc JWT", two, "", wish{do: toAnswer, question: "q-abc", text: "JWT"}},
		{"/answer abcdef JWT", two, "", wish{do: toAnswer, question: "abcdef", text: "JWT"}},
		{"/answer", one, "", wish{do: toAnswer}},
		{"/detach", one, "", wish{do: toDetach}},
		{"/help", nil, "", wish{do: toHelp}},
		{"/etc is shared", nil, "", wish{do: unknownTo, text: "/etc"}},
		{"/Answer 2", one, "", wish{do: unknownTo, text: "/Answer"}},
	} {
		if got := understood(c.line, c.open, c.undecided); got != c.want {
			t.Errorf("%q with %d open questions and %q undecided is %+v, want %+v", c.line, len(c.open), c.undecided, got, c.want)
		}
	}
}

// A line that is not a command of ours and was not called a message is never sent, nor kept as an answer, while a question is open.
func FuzzUnderstood(f *testing.F) {
	f.Add("a", "1")
	f.Add("/answer q-7kq2mx x", "")
	f.Add("/say x", "y")
	f.Fuzz(func(t *testing.T, line, undecided string) {
		w := understood(line, []string{"q-7kq2mx"}, undecided)
		named := strings.HasPrefix(strings.TrimSpace(line), "/")
		if (w.do == toSay || w.do == toAnswer) && !named && (undecided == "" || w.text != undecided) {
			t.Errorf("%q with %q undecided is %+v", line, undecided, w)
		}
		if again := understood(line, []string{"q-7kq2mx"}, undecided); again != w {
			t.Errorf("%q is %+v, and then %+v", line, w, again)
		}
	})
}
