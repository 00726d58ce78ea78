package records

import (
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/table"
)

// A question file says nothing of who has put it there: the processes that may have do.
func TestTheAskerOfAQuestionFileIsTheOneAgentThatCanHavePutItThere(t *testing.T) {
	const root, other = "a-root", "a-other"
	live := func(agent string) []*checkpoints.Launch {
		return []*checkpoints.Launch{{Agent: agent, N: 1, Phase: checkpoints.LaunchTurn}}
	}
	s := Records{
		Run:      &checkpoints.Run{ID: "r-this"},
		Agents:   table.Of(map[string]*checkpoints.Agent{root: {ID: root}, "a-2": {ID: "a-2"}, "a-3": {ID: "a-3"}}),
		Launches: table.Of(map[string][]*checkpoints.Launch{root: live(root), "a-2": live("a-2")}),
		Questions: table.Of(map[string]*checkpoints.Question{"q-1": {ID: "q-1", Agent: "a-2", State: checkpoints.QuestionOpen,
			Origin: checkpoints.Origin{File: &checkpoints.FileAsked{ID: "w_q1", Polls: true}}}}),
	}
	for name, c := range map[string]struct {
		found []Asker
		want  string
	}{
		"nobody":                             {},
		"one":                                {[]Asker{{Run: "r-this", Agent: root}}, root},
		"one, by two processes":              {[]Asker{{Run: "r-this", Agent: root}, {Run: "r-this", Agent: root, Asks: true}}, root},
		"one whose process is gone":          {[]Asker{{Run: "r-this", Agent: "a-3"}}, ""},
		"one that waits already":             {[]Asker{{Run: "r-this", Agent: "a-2", Asks: true}}, ""},
		"one beside one that waits":          {[]Asker{{Run: "r-this", Agent: "a-2"}, {Run: "r-this", Agent: root}}, root},
		"one of another run":                 {[]Asker{{Run: "r-other", Agent: other, Asks: true}}, ""},
		"two of two runs":                    {[]Asker{{Run: "r-this", Agent: root}, {Run: "r-other", Agent: other}}, ""},
		"the other run's waits already":      {[]Asker{{Run: "r-this", Agent: root}, {Run: "r-other", Agent: other, Waits: true}}, root},
		"the one that holds the question":    {[]Asker{{Run: "r-this", Agent: root, Asks: true}, {Run: "r-other", Agent: other}}, root},
		"both hold the question":             {[]Asker{{Run: "r-this", Agent: root, Asks: true}, {Run: "r-other", Agent: other, Asks: true}}, ""},
		"a person's script holds it":         {[]Asker{{Run: "r-this", Agent: root}, {Asks: true}}, ""},
		"a person looks at it":               {[]Asker{{Run: "r-this", Agent: root}, {}}, root},
		"a person's editor holds it as well": {[]Asker{{Run: "r-this", Agent: root, Asks: true}, {Asks: true}}, root},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.AskerOf(c.found); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}
