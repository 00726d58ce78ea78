package web

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"claude-supervise/supervisor/view"
)

// A look takes long where thousands wait, and may have begun before the answer.
func TestAnAnswerIsToldBeforeTheLookThatFindsItAndOnlyOnce(t *testing.T) {
	began := time.Now()
	open, other := question("q-000000"), question("q-000001")
	answered, delivered := open, open
	answered.State, delivered.State = "answered", "delivered"
	look := func(at time.Time, open, closed []view.QuestionView) view.Overview {
		return view.Overview{At: at, Questions: open, Closed: closed}
	}
	for name, test := range map[string]struct {
		looks []view.Overview // after the answer
		told  []string        // by them: states
		left  int             // open questions
	}{
		"found by the next look": {[]view.Overview{
			look(began.Add(time.Hour), []view.QuestionView{other}, []view.QuestionView{answered})}, nil, 1},
		"not yet found by a look that began before": {[]view.Overview{
			look(began, []view.QuestionView{open, other}, nil),
			look(began, []view.QuestionView{open, other}, nil),
			look(began.Add(time.Hour), []view.QuestionView{other}, []view.QuestionView{answered})}, nil, 1},
		"found by a look that began before": {[]view.Overview{
			look(began, []view.QuestionView{other}, []view.QuestionView{answered}),
			look(began.Add(time.Hour), []view.QuestionView{other}, nil)}, nil, 1},
		"delivered since": {[]view.Overview{
			look(began.Add(time.Hour), []view.QuestionView{other}, []view.QuestionView{delivered})},
			[]string{"delivered"}, 1},
		"open all the same": {[]view.Overview{
			look(began.Add(time.Hour), []view.QuestionView{open, other}, nil)}, []string{"open"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d := newServer(newState(0)).desk
			first := []view.QuestionView{open, other}
			d.take(look(began, first, nil))
			reader, _, _, _, _, err := d.join("")
			if err != nil {
				t.Fatal(err)
			}
			d.closed(answered)
			d.closed(answered) // by a second request
			if first[0].State != "open" || len(first) != 2 {
				t.Error("the list that others hold has changed")
			}
			for _, o := range test.looks {
				d.take(o)
			}
			d.leave(reader)
			told := []string{}
			for c := range reader.changes {
				var q view.QuestionView
				if err := json.Unmarshal(c.api, &q); err != nil {
					t.Fatal(err)
				}
				told = append(told, string(q.State))
			}
			if want := append([]string{"answered"}, test.told...); !slices.Equal(told, want) {
				t.Errorf("the reader is told %q, want %q", told, want)
			}
			if now, _ := d.overview(t.Context()); len(now.Questions) != test.left {
				t.Errorf("%d questions are open, want %d", len(now.Questions), test.left)
			}
			if len(d.ahead) > 0 {
				t.Errorf("it waits for a look that was: %v", d.ahead)
			}
		})
	}
}
