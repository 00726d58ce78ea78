package service

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/view"
)

// asking is a run that waits for these questions.
func asking(t *testing.T, asked ...*supervisor.Question) (*storetest.Saver, client.Client) {
	t.Helper()
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	s := storetest.NewSaver(t, storetest.TestDirs(t), "r-aaaaaaaa")
	s.Run.Name = "nightly"
	for _, q := range asked {
		q.Run, q.Agent, q.State, q.AskedAt = s.Run.ID, s.Run.Root, supervisor.Open, checkpoints.Now()
	}
	s.Run.Status = checkpoints.Waiting
	s.Commit(checkpoints.Change{Run: &s.Run, Questions: asked,
		Agents: []*supervisor.Agent{{ID: s.Run.Root, Run: s.Run.ID, Status: checkpoints.Waiting}}})
	return s, client.Client{Dirs: s.Dirs, Store: s.Store}
}

func question(id string, kind questions.Name, labels ...string) *supervisor.Question {
	q := &supervisor.Question{ID: id, Kind: kind}
	for _, l := range labels {
		q.Options = append(q.Options, questions.Option{Label: l})
	}
	return q
}

func typed(text string) Answer { return Answer{Typed: &text, By: "ann"} }

func TestTheFirstReplyStandsAndCanBeChanged(t *testing.T) {
	s, c := asking(t, question("q-aaaaaa", questions.AskClarification, "JWT", "Sessions"))
	kept, err := Reply(t.Context(), c, "q-aaaaaa", typed("2"))
	if err != nil || kept.Text != "Sessions" || kept.Alone || kept.Note != "" || kept.Also != "" {
		t.Fatalf("it is %+v, %v", kept, err)
	}
	var taken *client.TakenError
	if _, err = Reply(t.Context(), c, "q-aaaaaa", typed("1")); !errors.As(err, &taken) || taken.By != "ann" {
		t.Errorf("whoever is late is told %v", err)
	}
	s.Leave(records.LeavingParked)
	another := Replied("JWT", false, true)
	if kept, err = Reply(t.Context(), c, "q-aaaaaa", another); err != nil || !kept.Alone ||
		!strings.Contains(kept.Note, "resume r-aaaaaaaa") {
		t.Errorf("a change where nobody supervises the run is %+v, %v", kept, err)
	}
}

func TestTheRestOfAGroupIsSkippedWithAnAnswer(t *testing.T) {
	var group []*supervisor.Question
	for i, id := range []string{"q-aaaaaa", "q-bbbbbb", "q-cccccc", "q-dddddd"} {
		q := question(id, questions.AskClarification)
		q.Group, q.Index, q.Optional = "g", i, i != 2
		group = append(group, q)
	}
	group[3].Group = "another"
	_, c := asking(t, group...)
	a := typed("this one")
	a.SkipRest = true
	kept, err := Reply(t.Context(), c, "q-aaaaaa", a)
	if err != nil || kept.Failed != nil || !slices.Equal(kept.Skipped, []string{"q-bbbbbb"}) ||
		kept.Also != "skipped with it: q-bbbbbb" {
		t.Errorf("it is %+v, %v", kept, err)
	}
}

func TestACommandIsAllowedOnATerminalAlone(t *testing.T) {
	_, c := asking(t, question("q-aaaaaa", questions.AskCommand, "run: make", questions.LeaveIt))
	var refused *Refusal
	if _, err := Reply(t.Context(), c, "q-aaaaaa", typed("run")); !errors.As(err, &refused) ||
		refused.Reason != Elsewhere || refused.Command != "claude-supervise answer q-aaaaaa VALUE" {
		t.Errorf("by a page it is %v", err)
	}
	onTerminal := typed("run")
	onTerminal.Screen = true
	if kept, err := Reply(t.Context(), c, "q-aaaaaa", onTerminal); err != nil || kept.Text != "run: make" {
		t.Errorf("on a terminal it is %+v, %v", kept, err)
	}
}

// What an answer decides is held against the record, where a form has read it, too.
func TestARuleThatDoesNotPermitTheCallIsRefusedHoweverItIsGiven(t *testing.T) {
	q := question("q-aaaaaa", questions.AskPermission, questions.Allow, questions.AllowRun, questions.Deny)
	q.Rule = "Bash(make test)"
	_, c := asking(t, q)
	bad := "allow-run Bash(rm:*)"
	for _, a := range []Answer{typed(bad), {Chosen: &bad, Screen: true},
		{Form: &questions.Filled{Places: []int{1}, Words: "Bash(rm:*)"}}} {
		_, err := Reply(t.Context(), c, "q-aaaaaa", a)
		var refused *questions.Refusal
		if !errors.As(err, &refused) || refused.Reason != questions.Undecided ||
			strings.HasSuffix(err.Error(), "question q-aaaaaa stays open") != (a.Chosen == nil) {
			t.Errorf("%+v: %v", a, err)
		}
	}
	kept, err := Reply(t.Context(), c, "q-aaaaaa", typed("allow-run"))
	if err != nil || !strings.HasSuffix(kept.Also, "permissions r-aaaaaaaa") {
		t.Errorf("the rule that is shown: %+v, %v", kept, err)
	}
}

func TestWhatArgumentsMean(t *testing.T) {
	_, c := asking(t, question("q-aaaaaa", questions.AskClarification, "nightmare", "JWT"))
	for name, w := range map[string]struct {
		args  []string
		typed string
		named Named
		no    string
	}{
		"an id":                     {[]string{"q-aaaaaa", "JWT", "first"}, "JWT first", NamedByID, ""},
		"an id without its mark":    {[]string{"aaaaaa", "2"}, "2", NamedByID, ""},
		"the run":                   {[]string{"r-aaaaaaaa", "2"}, "2", NamedByRun, ""},
		"its agent":                 {[]string{"a-aaaaaaaa", "2"}, "2", NamedByRun, ""},
		"the only one":              {[]string{"JWT"}, "JWT", NamedByNone, ""},
		"the start of an id":        {[]string{"aaa"}, "aaa", NamedByNone, ""},
		"a name that begins an one": {[]string{"night"}, "night", NamedByNone, ""},
		"another id":                {[]string{"q-zzzzzz", "2"}, "", 0, "q-zzzzzz"},
		"another run":               {[]string{"r-zzzzzzzz", "2"}, "", 0, "r-zzzzzzzz"},
	} {
		q, typed, named, err := Meant(t.Context(), c, w.args)
		switch {
		case w.no != "":
			if err == nil || !strings.Contains(err.Error(), w.no) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || q == nil || q.ID != "q-aaaaaa" || typed != w.typed || named != w.named:
			t.Errorf("%s means %q of %v by %d, %v", name, typed, q, named, err)
		}
	}
}

func TestWhatAQuestionDoesNotTakeIsRefusedBeforeItIsRead(t *testing.T) {
	ofRun := view.QuestionView{ID: "q-aaaaaa", Run: "r-aaaaaaaa", Kind: questions.AskClarification}
	optional, scripts, budget := ofRun, ofRun, ofRun
	optional.Optional = true
	scripts.Run = ""
	budget.Kind, budget.Options = questions.AskBudget, []questions.Option{{Label: "raise"}, {Label: "stop"}}
	permission := ofRun
	permission.Kind = questions.AskPermission
	why, none := "not mine", " "
	for name, c := range map[string]struct {
		q    view.QuestionView
		a    Answer
		says string // "": it is taken
	}{
		"a required one, skipped":             {ofRun, Answer{Skip: true}, "`it stop r-aaaaaaaa` ends the run instead"},
		"an optional one, skipped":            {optional, Answer{Skip: true}, ""},
		"a skip with a value":                 {optional, Answer{Skip: true, Typed: &why}, "--skip takes no value"},
		"a script's, skipped":                 {scripts, Answer{Skip: true}, "neither skipped nor resumed"},
		"a script's, for all alike":           {scripts, Answer{AllLike: true, Typed: &why}, "none like it"},
		"a budget, for all alike":             {budget, Answer{AllLike: true, Typed: &why}, "for it alone"},
		"the rest of a required one":          {ofRun, Answer{SkipRest: true, Typed: &why}, "skips none of them"},
		"declined":                            {ofRun, Answer{Decline: &why}, ""},
		"declined without a reason":           {ofRun, Answer{Decline: &none}, "say why"},
		"declined with a value":               {ofRun, Answer{Decline: &why, Typed: &why}, "either a VALUE or the reason"},
		"declined and skipped":                {optional, Answer{Decline: &why, Skip: true}, "cannot be combined"},
		"a script's, declined":                {scripts, Answer{Decline: &why}, "would take the reason for the answer"},
		"a permission, declined":              {permission, Answer{Decline: &why}, ""},
		"a budget, declined":                  {budget, Answer{Decline: &why}, "it answer q-aaaaaa raise|stop"},
		"declined unseen, and not named":      {ofRun, Answer{Decline: &why, Named: NamedByNone}, "needs the id"},
		"own words unseen, and not named":     {ofRun, Answer{Typed: &why, Named: NamedByNone}, "free text needs the id"},
		"own words on a terminal":             {ofRun, Answer{Typed: &why, Named: NamedByNone, Screen: true}, ""},
		"own words for the run that is named": {ofRun, Answer{Typed: &why, Named: NamedByRun}, ""},
	} {
		_, err := Judge("it", c.q, c.a, questions.Place{})
		var refused *Refusal
		if c.says == "" && err != nil || c.says != "" &&
			(!errors.As(err, &refused) || refused.ExitsWith() != exit.Usage || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
