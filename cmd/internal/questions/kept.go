package questions

import (
	"fmt"
	"strings"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Kept is an answer that was kept, as `answer --json` prints it; fields may be added, never renamed.
type Kept struct {
	ID          string   `json:"id"`
	Run         string   `json:"run"`
	Answer      string   `json:"answer"`
	Skipped     bool     `json:"skipped"`
	Declined    bool     `json:"declined"`
	AllLike     bool     `json:"all_like"`
	SkippedWith []string `json:"skipped_with"`
}

// Kept is an answer that was kept, for programs. skipped are the questions that were left out with it.
func (f Flags) Kept(q view.QuestionView, value string, skipped []string) Kept {
	return Kept{q.ID, q.Run, value, f.Skip, f.Decline != nil, f.AllLike, append([]string{}, skipped...)}
}

// Said is an answer that was kept, for people.
func (f Flags) Said(q view.QuestionView, value string, skipped []string) string {
	said := fmt.Sprintf("%s\n%s answered: %s", q.Question, q.ID, value)
	switch {
	case f.Skip:
		said = fmt.Sprintf("%s\n%s skipped", q.Question, q.ID)
	case f.Decline != nil:
		said = fmt.Sprintf("%s\n%s declined: %s", q.Question, q.ID, value)
	}
	return said + f.AlsoKept(q, value, skipped)
}

// AlsoKept says what was kept with an answer, in lines of their own.
func (f Flags) AlsoKept(q view.QuestionView, value string, skipped []string) (also string) {
	if len(skipped) > 0 {
		also += "\nskipped with it: " + strings.Join(skipped, ", ")
	}
	if f.AllLike {
		also += "\nSo is every question of " + q.Run + " that is like it, now and later, until this answer is changed."
	}
	if q.Run == "" {
		also += "\nThe answer is kept; the script that asks will take it."
	}
	asked := supervisor.Question{Kind: q.Kind}
	asked.Rule = q.AllowRule
	if given := supervisor.GivenRule(&asked, value); given != "" && f.Decline == nil {
		also += fmt.Sprintf("\nNot asked about again in this run: %s\nTo revoke it: %s permissions %s",
			given, f.program(), q.Run)
	}
	return also
}
