package view

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/sessions"
)

// A Found is a place where words stand.
type Found struct {
	Kind     string    `json:"kind"` // question, report or task
	Run      string    `json:"run"`  // "": a session that is no run
	RunName  string    `json:"run_name"`
	Cwd      string    `json:"cwd"`
	Agent    string    `json:"agent"`
	Question string    `json:"question"` // its id; "": it is none
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Answer   string    `json:"answer"` // to a question
}

// Search returns the questions, reports and tasks in which all words stand, as they stand in any case, the latest
// first: at most most of them. A question is asked with its options and answer. wanted chooses runs, and sessions by
// their folder alone. It reads all there is.
func (r Reader) Search(ctx context.Context, words []string, most int, wanted func(RunView) bool) ([]Found, error) {
	for i, word := range words {
		words[i] = questions.Fold(word)
	}
	found := []Found{}
	look := func(f Found, texts ...string) {
		all := questions.Fold(strings.Join(texts, "\n"))
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) }) {
			found = append(found, f)
		}
	}
	err := r.Store.AsOne(ctx, func(ctx context.Context) error {
		runs, err := r.Runs(ctx, true)
		if err != nil {
			return err
		}
		of := map[string]RunView{}
		for _, v := range runs {
			if wanted(v) {
				of[v.ID] = v
			}
		}
		asked, err := r.Store.Questions(ctx, checkpoints.QuestionFilter{May: mayHave(words)})
		if err != nil {
			return err
		}
		for i := range asked {
			q := &asked[i]
			if v, is := of[q.Run]; is {
				look(Found{"question", q.Run, v.Name, v.Cwd, q.Agent, q.ID, q.AskedAt, q.Text, q.Answer}, wordsOf(q)...)
			}
		}
		agents, err := r.Store.Agents(ctx, slices.Collect(maps.Keys(of))...)
		for i := range agents {
			a := &agents[i]
			v := of[a.Run]
			f := Found{"task", v.ID, v.Name, v.Cwd, a.ID, "", v.StartedAt, a.Task, ""}
			look(f, a.Task)
			if rep := a.Report; rep != nil {
				f.Kind, f.Text = "report", rep.Summary
				look(f, rep.Summary, rep.Deliverables, rep.Issues, rep.Recommendations)
			}
		}
		return err
	})
	for _, a := range sessions.WrittenSince(r.Dirs, time.Time{}) {
		if !wanted(RunView{Cwd: a.Cwd}) || a.State != sessions.Answered && r.takenUp(ctx, a) {
			continue
		}
		for _, asked := range a.Questions {
			q := OfSession(a, asked)
			look(Found{"question", "", q.RunName, q.Cwd, "", q.ID, q.AskedAt, q.Question, asked.Answer},
				wordsOf(asked)...)
		}
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Question, b.Question))
	})
	return found[:min(len(found), most)], err
}

// wordsOf are the texts of a question.
func wordsOf(q *checkpoints.Question) []string {
	texts := []string{q.Header, q.Text, q.Context, q.Answer}
	for _, o := range q.Options {
		texts = append(texts, o.Label, o.Description)
	}
	return texts
}

// mayHave reports of the JSON of a record whether each of the words, as Fold has them, may stand in it: for most it is
// known without reading the record. A letter or a digit stands in JSON for itself; what Fold takes out of a text
// between them, control characters as JSON escapes them and those that format, may be anywhere.
func mayHave(words []string) func(doc []byte) bool {
	var parts [][]byte
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	for _, word := range words {
		for _, part := range strings.FieldsFunc(word, between) {
			parts = append(parts, []byte(part))
		}
	}
	var small []byte
	return func(doc []byte) bool {
		small = small[:0]
		foreign := false
		for _, c := range doc { // most are ASCII alone, of which bytes.ToLower makes a copy each
			foreign = foreign || c > 0x7f
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			small = append(small, c)
		}
		if foreign {
			small = append(small[:0], bytes.ToLower(doc)...)
		}
		if !slices.ContainsFunc(parts, func(part []byte) bool { return !bytes.Contains(small, part) }) {
			return true
		}
		escaped := bytes.Count(doc, []byte(`\u`))
		for _, known := range []string{`\u003c`, `\u003e`, `\u0026`} {
			if escaped > 0 {
				escaped -= bytes.Count(doc, []byte(known))
			}
		}
		return escaped > 0 || foreign && bytes.ContainsFunc(doc, func(r rune) bool { return unicode.Is(unicode.Cf, r) })
	}
}
