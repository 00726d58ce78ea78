package asking

import (
	"fmt"

	"claude-supervise/supervisor/service"
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

// InJSON is an answer that was kept, for programs.
func InJSON(k service.Kept, a service.Answer) Kept {
	return Kept{k.Question.ID, k.Question.Run, k.Text, a.Skip, a.Decline != nil, a.AllLike,
		append([]string{}, k.Skipped...)}
}

// Said is an answer that was kept, for people.
func Said(k service.Kept, a service.Answer) string {
	said := fmt.Sprintf("%s\n%s answered: %s", k.Question.Asks(), k.Question.ID, k.Text)
	switch {
	case a.Skip:
		said = fmt.Sprintf("%s\n%s skipped", k.Question.Asks(), k.Question.ID)
	case a.Decline == nil:
		if beside := k.Question.Terms().Beside(k.Text); beside != "" {
			said += " (" + beside + ")"
		}
	default:
		said = fmt.Sprintf("%s\n%s declined: %s", k.Question.Asks(), k.Question.ID, k.Text)
	}
	if k.Also != "" {
		said += "\n" + k.Also
	}
	return said
}
