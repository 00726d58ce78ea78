package precedents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// A Precedent is what a person answered to a question that is like another.
type Precedent struct {
	Question string    `json:"question"` // its id
	Run      string    `json:"run"`
	Asked    string    `json:"asked"` // its text
	Answer   string    `json:"answer"`
	At       time.Time `json:"at"`
	Same     bool      `json:"same"`  // it asked the very same
	Here     bool      `json:"here"`  // in a run of the same folder
	Times    int       `json:"times"` // that this was answered to the very same, among those that were looked at

	Kind questions.Name `json:"kind"`
}

// Said says when, where and to what the answer was given, for people.
func (p Precedent) Said() string {
	said := "as you said on " + p.At.Local().Format("2 Jan")
	if !p.Same {
		said += fmt.Sprintf(" to %q", text.CleanLine(p.Asked, 60))
	}
	if !p.Here {
		said += " in another folder"
	}
	switch {
	case p.Times >= looked:
		said += fmt.Sprintf(", %d times or more", looked)
	case p.Times > 1:
		said += fmt.Sprintf(", %d times by now", p.Times)
	}
	return said + " (" + p.Run + ")"
}

// Most is how many precedents are found at most, each with another answer.
const Most = 3

// looked is how many questions are held against one.
const looked = 40

// Find returns what was answered before to what is like q, of a run in the folder cwd: what is of the same folder
// before other, the very same before what is near, the last given first. path is where the index is kept. It reads
// what was answered since it last did, which the first time is all. Errors are those of the disk and of both
// databases; who only wants to be reminded can do without what they keep from being found.
func Find(ctx context.Context, store *checkpoints.Store, path string, q *checkpoints.Question, cwd string) (
	[]Precedent, error) {
	if !remembered(q) {
		return nil, nil
	}
	ids, err := candidates(ctx, store, path, q, cwd)
	if err != nil { // whatever is wrong with it, it can be made anew
		if err := checkpoints.RemoveDatabase(path); err != nil {
			return nil, err
		}
		ids, err = candidates(ctx, store, path, q, cwd)
	}
	if err != nil {
		return nil, err
	}
	asked, err := store.Named(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var found []Precedent
	for i := range asked {
		p, is, err := precedent(ctx, store, &asked[i], q, cwd)
		if err != nil {
			return nil, err
		}
		if is {
			found = append(found, p)
		}
	}
	slices.SortFunc(found, func(a, b Precedent) int {
		return cmp.Or(first(a.Here, b.Here), first(a.Same, b.Same), b.At.Compare(a.At), cmp.Compare(a.Question, b.Question))
	})
	var each []Precedent
	for _, p := range found {
		for _, other := range found {
			if other.Same && other.Answer == p.Answer {
				p.Times++
			}
		}
		if len(each) < Most && !slices.ContainsFunc(each, func(e Precedent) bool { return e.Answer == p.Answer }) {
			each = append(each, p)
		}
	}
	return each, nil
}

func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func candidates(ctx context.Context, store *checkpoints.Store, path string, q *checkpoints.Question, cwd string) (
	[]string, error) {
	x, err := openIndex(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = x.db.Close() }() // it can be made anew
	if err := x.catchUp(ctx, store); err != nil {
		return nil, err
	}
	return x.candidates(ctx, q, cwd, looked)
}

// precedent says what the answer to old is for q; false if it is nothing.
func precedent(ctx context.Context, store *checkpoints.Store, old, q *checkpoints.Question, cwd string) (p Precedent,
	is bool, err error) {
	alike := compare(old, q)
	if alike == other || old.ID == q.ID || !byPerson(old) || alike == near && !possible(old, q) {
		return p, false, nil
	}
	run, err := store.Run(ctx, old.Run)
	if err != nil || brought(run, old) {
		return p, false, err
	}
	return Precedent{Question: old.ID, Run: old.Run, Asked: old.Text, Answer: old.Answer, At: *old.AnsweredAt,
		Same: alike == same, Here: run.Cwd == cwd, Kind: old.Kind}, true, nil
}

// remembered reports whether what is answered to such a question may be of use for another. What an MCP server of the
// person's own asks may be a secret.
func remembered(q *checkpoints.Question) bool {
	return !questions.KindOf(q.Kind).Server && strings.TrimSpace(q.Text) != ""
}

// byPerson reports whether a person has answered a question in words that stand. A file may be anybody's.
func byPerson(q *checkpoints.Question) bool {
	return q.AnsweredAt != nil && q.Answer != "" && !q.Skipped && !q.Declined && q.Revoked == "" && !q.ByRule &&
		q.Like == "" && q.AnsweredBy != checkpoints.ByHook && q.AnsweredBy != supervisor.ByFile &&
		q.State != checkpoints.QuestionWithdrawn
}

// brought reports whether an answer came with a run that was unpacked: the maker of its file may have written it.
func brought(r checkpoints.Run, q *checkpoints.Question) bool {
	return r.FromPack != "" && (r.KeyedSince == nil || q.AnsweredAt.Before(*r.KeyedSince))
}

// possible reports whether what was answered to one question can be the answer to another: what was chosen must be
// offered again.
func possible(old, q *checkpoints.Question) bool {
	chosen := func(in *checkpoints.Question) []int {
		at, err := questions.Of(in, "").Named(old.Answer)
		if err != nil {
			return nil
		}
		return at
	}
	return len(q.Options) == 0 || len(chosen(old)) == len(chosen(q))
}
