package precedents

import (
	"cmp"
	"context"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/rules"
)

// A Suggestion is a rule that would have answered what a person has allowed again and again in a folder.
type Suggestion struct {
	Rule   string    `json:"rule"`
	Cwd    string    `json:"cwd"`
	Times  int       `json:"times"`  // it was allowed
	Last   time.Time `json:"last"`   // time
	Others []string  `json:"others"` // what else was asked about there, and allowed, that it would have let run, as rules
}

// Enough is how often something has to have been allowed, and never refused, for a rule to be suggested.
const Enough = 5

// Suggest returns the rules that people may want to give, what was allowed most often first. A rule permits exactly one
// call, and nothing that it permits was ever refused in its folder. wanted chooses runs.
func Suggest(ctx context.Context, store *checkpoints.Store, wanted func(checkpoints.Run) bool) ([]Suggestion, error) {
	asked, runs, err := all(ctx, store)
	if err != nil {
		return nil, err
	}
	type place struct{ cwd, rule string }
	made := map[place]*Suggestion{}
	calls := map[string][]*checkpoints.Question{} // by folder
	for i := range asked {
		q, run := &asked[i], runs[asked[i].Run]
		if !questions.KindOf(q.Kind).Ruled || q.Rule == "" || q.Tool == nil || q.Tool.Cwd != "" || !wanted(run) ||
			!byPerson(q) || brought(run, q) {
			continue
		}
		calls[run.Cwd] = append(calls[run.Cwd], q)
		at := place{run.Cwd, q.Rule}
		if made[at] == nil {
			made[at] = &Suggestion{Rule: q.Rule, Cwd: run.Cwd, Others: []string{}}
		}
		if questions.Allowed(q) {
			made[at].Times++
			made[at].Last = *q.AnsweredAt
		}
	}
	found := []Suggestion{}
	for _, s := range made {
		if rule, err := rules.Parse(s.Rule); err == nil && s.Times >= Enough && s.holds(rule, calls[s.Cwd]) {
			s.Rule = rule.From(s.Cwd).String() // it goes for what is below the folder, too, where another file has its name
			found = append(found, *s)
		}
	}
	slices.SortFunc(found, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Cwd, b.Cwd), cmp.Compare(a.Rule, b.Rule))
	})
	return found, nil
}

// all reads the questions and runs of all times, the questions as they were asked.
func all(ctx context.Context, store *checkpoints.Store) (asked []checkpoints.Question, runs map[string]checkpoints.Run,
	err error) {
	err = store.AsOne(ctx, func(ctx context.Context) error {
		if asked, err = store.Questions(ctx, checkpoints.QuestionFilter{}); err != nil {
			return err
		}
		list, err := store.Runs(ctx, true)
		runs = make(map[string]checkpoints.Run, len(list))
		for _, r := range list {
			runs[r.ID] = r
		}
		return err
	})
	return asked, runs, err
}

// holds finds what else a rule would have let run, and reports whether none of it was refused.
func (s *Suggestion) holds(rule rules.Rule, asked []*checkpoints.Question) bool {
	for _, q := range asked {
		call, err := rules.Parse(q.Rule)
		if err != nil || !rules.Covered([]rules.Rule{rule}, call, s.Cwd) {
			continue
		}
		if !questions.Allowed(q) {
			return false
		}
		if q.Rule != s.Rule && !slices.Contains(s.Others, q.Rule) {
			s.Others = append(s.Others, q.Rule)
		}
	}
	return true
}
