package commands

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/internal/asking"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func TestTheQuestionThatIsMeantIsFound(t *testing.T) {
	one := view.QuestionView{ID: "q-one", Run: "r-aaaaaaaa", RunName: "nightly", Agent: "a-one",
		AnswerCommand: "fleet answer q-one VALUE"}
	two := view.QuestionView{ID: "q-two", Run: "r-aaaaaaaa", RunName: "nightly", Agent: "a-two"}
	asked := view.QuestionView{ID: "q-child", Kind: questions.AskDelegation,
		Options: []questions.Option{{Label: questions.Approve}, {Label: questions.Deny}}}
	for name, c := range map[string]struct {
		open          []view.QuestionView
		args          []string
		id, typed, no string
		named         service.Named
	}{
		"by its id":            {[]view.QuestionView{one, two}, []string{"q-two", "both", "of", "them"}, "q-two", "both of them", "", service.NamedByID},
		"by its agent":         {[]view.QuestionView{one, two}, []string{"a-one", "2"}, "q-one", "2", "", service.NamedByRun},
		"by its run":           {[]view.QuestionView{one}, []string{"r-aaaaaaaa", "2"}, "q-one", "2", "", service.NamedByRun},
		"by its run's name":    {[]view.QuestionView{one}, []string{"nightly", "2"}, "q-one", "2", "", service.NamedByRun},
		"as the only one":      {[]view.QuestionView{one}, []string{"JWT", "first"}, "q-one", "JWT first", "", service.NamedByNone},
		"a run that asks more": {[]view.QuestionView{one, two}, []string{"nightly", "2"}, "", "", "stands for 2", 0},
		"one of several":       {[]view.QuestionView{one, two}, []string{"JWT"}, "", "", "2 questions are open (q-one, q-two): say which, as in `fleet answer q-one VALUE`; `claude-supervise fleet questions`", 0},
		"one that is closed":   {[]view.QuestionView{one}, []string{"q-old", "JWT"}, "", "", "no open question", 0},
		"a run that asks none": {[]view.QuestionView{one}, []string{"r-bbbbbbbb", "2"}, "", "", "no open question", 0},
		"where none is open":   {nil, []string{"JWT"}, "", "", "no open question", 0},
		"none, where none is":  {nil, nil, "", "", "", service.NamedByNone},
		"a denial in two arguments": {[]view.QuestionView{asked}, []string{"q-child", "deny", "too early", "list it"}, "q-child",
			"deny too early instead: list it", "", service.NamedByID},
	} {
		q, typed, named, err := meant(c.open, c.args)
		if (err != nil) != (c.no != "") || err != nil && !strings.Contains(err.Error(), c.no) {
			t.Errorf("%s: %v", name, err)
		}
		if q == nil {
			q = new(view.QuestionView)
		}
		if err == nil && (q.ID != c.id || typed != c.typed || named != c.named) {
			t.Errorf("%s: %s %q %v", name, q.ID, typed, named)
		}
	}
	for arg, want := range map[string]asking.Wanted{"q-two": {Only: "q-two"}, "a-one": {Of: "a-one"},
		"nightly": {Of: "r-aaaaaaaa"}, "r-aaaaaaaa": {Of: "r-aaaaaaaa"}} {
		if w, asks := wanted([]view.QuestionView{one, two}, []string{arg}); !asks || w != want {
			t.Errorf("%s asks %+v, %v", arg, w, asks)
		}
	}
	if _, asks := wanted([]view.QuestionView{one}, []string{"JWT"}); asks {
		t.Error("an answer is asked for")
	}
}

// A busy server lists nothing: the answer that was given a moment ago may be kept, so nobody says that nothing is.
func TestWhereNobodyCanLookNobodySaysThatNothingWasKept(t *testing.T) {
	away := serviceerror.NewDeadlineExceeded("too late")
	c := connected{Fleet: fleet.Fleet{Client: listing{err: away}}}
	err := c.perhapsTaken(t.Context(), []string{"q-one"}, errors.New("not open; nothing was kept"))
	if !errors.Is(err, fleet.ErrAway) || strings.Contains(err.Error(), "nothing was kept") {
		t.Errorf("it is told: %v", err)
	}
}

// listing is a server that only fails to list.
type listing struct {
	sdk.Client
	err error
}

func (l listing) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (
	*workflowservice.ListWorkflowExecutionsResponse, error) {
	return nil, l.err
}
