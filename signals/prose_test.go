package signals

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAMessageThatEndsWithAQuestionAsksIt(t *testing.T) {
	labels := func(q Question) (all []string) {
		for _, o := range q.Options {
			all = append(all, o.Label)
		}
		return all
	}
	for name, c := range map[string]struct {
		message, question, context string
		options                    []string
	}{
		"the document's author's":   {message: "Done. Should I also update the docs?", question: "Done. Should I also update the docs?"},
		"below what was done":       {"The parser is fixed.\n\n**Should I also update the docs?**", "Should I also update the docs?", "The parser is fixed.", nil},
		"with options":              {"Which store?\n\n1. SQLite\n2. Postgres", "Which store?", "", []string{"SQLite", "Postgres"}},
		"with a short closing line": {"Should I go on?\n\nLet me know.", "Should I go on?", "", nil},
		"in another script":         {"続けますか？", "続けますか？", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			sig, ok := ClosingQuestion(c.message)
			if !ok || len(sig.Questions) != 1 {
				t.Fatalf("%+v, %v", sig, ok)
			}
			q := sig.Questions[0]
			if q.Text != c.question || q.Context != c.context || cmp.Diff(c.options, labels(q)) != "" {
				t.Errorf("%+v", q)
			}
		})
	}
}

func TestAMessageThatDoesNotEndWithAQuestionAsksNone(t *testing.T) {
	for name, message := range map[string]string{
		"empty":                 "",
		"a statement":           "All is done.",
		"answered by itself":    "Is it fast? I measured it, and it is, on all of the machines that I could reach from here and on some more of them.",
		"a question long above": "Which one?\n\nI took the first.\nIt works.",
		"a heading":             "## Any questions?",
		"a quote":               "> Should I?",
		"in a fence":            "The prompt is:\n```\nProceed?\n```",
		"in an open fence":      "The prompt is:\n```\nProceed?",
		"a word with a mark":    strings.Repeat("x", maxAsked) + "?",
	} {
		if sig, ok := ClosingQuestion(message); ok {
			t.Errorf("%s: %+v", name, sig)
		}
	}
}

func FuzzClosingQuestion(f *testing.F) {
	f.Add("Which?\n- a\n- b")
	f.Fuzz(func(t *testing.T, message string) {
		if sig, ok := ClosingQuestion(message); ok && (len(sig.Questions) != 1 || sig.Questions[0].Text == "") {
			t.Errorf("%+v", sig)
		}
	})
}
