package view

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// A Found is a place where words stand.
type Found struct {
	Kind     string    `json:"kind"` // question, report or task
	Run      string    `json:"run"`
	RunName  string    `json:"run_name"`
	Cwd      string    `json:"cwd"`
	Agent    string    `json:"agent"`
	Question string    `json:"question"` // its id; "": it is none
	At       time.Time `json:"at"`
	Text     string    `json:"text"`
	Answer   string    `json:"answer"` // to a question
}

// Search returns the questions, reports and tasks in which all words stand, as they stand in any case, the latest
// first: at most most of them. A question is asked with its options and answer. wanted chooses runs. It reads all
// there is.
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
		asked, err := r.Store.Questions(ctx, checkpoints.QuestionFilter{})
		if err != nil {
			return err
		}
		for i := range asked {
			q := &asked[i]
			if v, is := of[q.Run]; is {
				texts := []string{q.Header, q.Text, q.Context, q.Answer}
				for _, o := range q.Options {
					texts = append(texts, o.Label, o.Description)
				}
				look(Found{"question", q.Run, v.Name, v.Cwd, q.Agent, q.ID, q.AskedAt, q.Text, q.Answer}, texts...)
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
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Question, b.Question))
	})
	return found[:min(len(found), most)], err
}
