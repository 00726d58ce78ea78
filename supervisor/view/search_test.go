package view

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/questions"
)

// asked saves runs that have asked ten questions each, and returns who reads them.
func asked(t testing.TB, runs int) Reader {
	t.Helper()
	dirs := storetest.TestDirs(t)
	s := storetest.NewSaver(t, dirs, "r-aaaaaaaa")
	begun := checkpoints.Now()
	for n := range runs {
		at := begun.Add(time.Duration(n) * time.Minute)
		run := s.Run
		run.ID, run.Root, run.StartedAt, run.EndedAt = fmt.Sprintf("r-%08d", n), fmt.Sprintf("a-%012d", n), at, &at
		a := checkpoints.Agent{ID: run.Root, Run: run.ID, Task: "Write the storage layer of the service, with its tests, " +
			"and document what it promises to those who call it.", Status: checkpoints.Succeeded, Since: at}
		a.Report = &checkpoints.Report{Status: "success", Summary: fmt.Sprintf("the layer %d is there", n)}
		change := checkpoints.Change{Run: &run, Agents: []*checkpoints.Agent{&a},
			Event: checkpoints.Event{Run: run.ID, Seq: 1, At: at, Type: "test", Doc: []byte(`{}`)}}
		for i := range 10 {
			q := &checkpoints.Question{ID: fmt.Sprintf("q-%d-%d", n, i), Run: run.ID, Agent: a.ID,
				Kind: questions.AskClarification, State: checkpoints.QuestionDelivered, AskedAt: at}
			q.AnsweredAt = &at
			q.Text = fmt.Sprintf("Which method should the service %d of module %d use to authenticate?", n%100, i)
			q.Context = strings.Repeat("Others in this folder go by what the person said. ", 4)
			q.Answer = "the one with sessions"
			q.Options = []checkpoints.Option{{Label: "JWT", Description: "no state"}, {Label: "Sessions", Description: "revocable"}}
			change.Questions = append(change.Questions, q)
		}
		if err := s.Store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	return Reader{dirs, s.Store}
}

// What is left out before it is read is nothing that has the words, whatever is between their letters.
func TestNothingThatMayHaveTheWordsIsLeftUnread(t *testing.T) {
	for text, words := range map[string][]string{
		"Which RATE\n\tlimit?":             {"rate limit", "which"},
		"Größe <b>&amp;</b>":               {"GRÖSSE"}, // not the same letters
		"GRÖßE of the <table>":             {"größe", "<TABLE>"},
		"se\u00adcret in the ra\x1b[31mte": {"secret", "rate"},
		"a \"quoted\" \\path\\to":          {`"quoted"`, `\path`},
		"K is a Kelvin":                    {"kelvin"},
		"\u200fright to left":              {"right"},
		"nothing of it":                    {"something"},
	} {
		doc, err := json.Marshal(checkpoints.Wording{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		all := questions.Fold(text)
		for i, word := range words {
			words[i] = questions.Fold(word)
		}
		has := !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) })
		if may := mayHave(words)(doc); has && !may || !has && may && !strings.Contains(string(doc), `\u`) {
			t.Errorf("%q in %s: may be there: %v, is there: %v", words, doc, may, has)
		}
	}
}

func FuzzMayHave(f *testing.F) {
	f.Add("Which RATE limit?", "rate limit")
	f.Add("se\u00adcret\x00", "SECRET")
	f.Fuzz(func(t *testing.T, text, word string) {
		doc, err := json.Marshal(text)
		if err != nil || questions.Fold(word) == "" {
			return
		}
		word = questions.Fold(word)
		if strings.Contains(questions.Fold(text), word) && !mayHave([]string{word})(doc) {
			t.Errorf("%q in %s is left out", word, doc)
		}
	})
}

func BenchmarkSearchAmongTenThousandQuestions(b *testing.B) {
	r := asked(b, 1000)
	for b.Loop() {
		found, err := r.Search(b.Context(), []string{"service 17", "MODULE 3"}, 20, func(RunView) bool { return true })
		if err != nil || len(found) != 10 {
			b.Fatal(len(found), err)
		}
	}
}
