package precedents

import (
	"fmt"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

func (p *past) permits(n int, rule, answer string, change func(*checkpoints.Question)) {
	p.t.Helper()
	var asked []*checkpoints.Question
	for range n {
		q := asks(questions.AskPermission, "Bash | Allow "+rule+"? | allow | allow-run | deny | deny-stop")
		p.permitted++
		q.ID, q.Answer, q.Rule, q.Tool = fmt.Sprintf("q-%d", p.permitted), answer, rule, &checkpoints.ToolCall{Name: "Bash"}
		asked = append(asked, q)
	}
	p.answered(&p.saver.Run, asked, change)
}

func TestARuleIsSuggestedForWhatWasAllowedAgainAndAgain(t *testing.T) {
	for name, test := range map[string]struct {
		past func(*past)
		want string
	}{
		"five times":     {func(p *past) { p.permits(5, "Bash(npm test)", "allow", nil) }, "[Bash(npm test) /here 5 []]"},
		"or for a run":   {func(p *past) { p.permits(4, "Bash(ls)", "allow", nil); p.permits(1, "Bash(ls)", "allow-run", nil) }, "[Bash(ls) /here 5 []]"},
		"not for four":   {func(p *past) { p.permits(4, "Bash(npm test)", "allow", nil) }, ""},
		"nor if refused": {func(p *past) { p.permits(9, "Bash(ls)", "allow", nil); p.permits(1, "Bash(ls)", "deny not now", nil) }, ""},
		"nor if what it lets run was refused": {func(p *past) {
			p.permits(5, "Bash(ls)", "allow", nil)
			p.permits(1, "Bash(ls && ls)", "deny", nil)
		}, ""},
		"with what else it lets run": {func(p *past) {
			p.permits(5, "Bash(ls)", "allow", nil)
			p.permits(1, "Bash(ls && ls)", "allow", nil)
		}, "[Bash(ls) /here 5 [Bash(ls && ls)]]"},
		"nor by a rule": {func(p *past) { p.permits(9, "Bash(ls)", "allow", func(q *checkpoints.Question) { q.ByRule = true }) }, ""},
		"nor elsewhere": {func(p *past) {
			p.permits(9, "Bash(ls)", "allow", func(q *checkpoints.Question) { q.Tool.Cwd = "/other" })
		}, ""},
		"nor brought along": {func(p *past) { p.saver.Run.FromPack = "x"; p.permits(9, "Bash(ls)", "allow", nil) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPast(t)
			test.past(p)
			found, err := Suggest(t.Context(), p.saver.Store, func(checkpoints.Run) bool { return true })
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, s := range found {
				got += fmt.Sprint([]any{s.Rule, s.Cwd, s.Times, s.Others})
			}
			if got != test.want {
				t.Errorf("%s is suggested, and not %s", got, test.want)
			}
		})
	}
}
