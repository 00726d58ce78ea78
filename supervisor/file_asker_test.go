package supervisor

import (
	"testing"

	"claude-supervise/supervisor/table"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// A question file says nothing of who has put it there: the processes that may have do.
func TestTheAskerOfAQuestionFileIsTheOneAgentThatCanHavePutItThere(t *testing.T) {
	const other = "a-other"
	live := func(agent string) []*Launch {
		return []*Launch{{Agent: agent, N: 1, Phase: checkpoints.LaunchTurn}}
	}
	s := State{Run: &Run{ID: "r-this"}, Agents: table.Of(map[string]*Agent{Root: {ID: Root}, "a-2": {ID: "a-2"}, "a-3": {ID: "a-3"}}),
		Launches: table.Of(map[string][]*Launch{Root: live(Root), "a-2": live("a-2")}),
		Questions: table.Of(map[string]*Question{"q-1": {ID: "q-1", Agent: "a-2", State: Open,
			Origin: checkpoints.Origin{File: &checkpoints.FileAsked{ID: "w_q1", Polls: true}}}})}
	for name, c := range map[string]struct {
		found []Asker
		want  string
	}{
		"nobody":                             {},
		"one":                                {[]Asker{{Run: "r-this", Agent: Root}}, Root},
		"one, by two processes":              {[]Asker{{Run: "r-this", Agent: Root}, {Run: "r-this", Agent: Root, Asks: true}}, Root},
		"one whose process is gone":          {[]Asker{{Run: "r-this", Agent: "a-3"}}, ""},
		"one that waits already":             {[]Asker{{Run: "r-this", Agent: "a-2", Asks: true}}, ""},
		"one beside one that waits":          {[]Asker{{Run: "r-this", Agent: "a-2"}, {Run: "r-this", Agent: Root}}, Root},
		"one of another run":                 {[]Asker{{Run: "r-other", Agent: other, Asks: true}}, ""},
		"two of two runs":                    {[]Asker{{Run: "r-this", Agent: Root}, {Run: "r-other", Agent: other}}, ""},
		"the other run's waits already":      {[]Asker{{Run: "r-this", Agent: Root}, {Run: "r-other", Agent: other, Waits: true}}, Root},
		"the one that holds the question":    {[]Asker{{Run: "r-this", Agent: Root, Asks: true}, {Run: "r-other", Agent: other}}, Root},
		"both hold the question":             {[]Asker{{Run: "r-this", Agent: Root, Asks: true}, {Run: "r-other", Agent: other, Asks: true}}, ""},
		"a person's script holds it":         {[]Asker{{Run: "r-this", Agent: Root}, {Asks: true}}, ""},
		"a person looks at it":               {[]Asker{{Run: "r-this", Agent: Root}, {}}, Root},
		"a person's editor holds it as well": {[]Asker{{Run: "r-this", Agent: Root, Asks: true}, {Asks: true}}, Root},
	} {
		t.Run(name, func(t *testing.T) {
			if got := s.AskerOf(c.found); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnAnswerIsWhatTheScriptListsUnlessItsFileTakesOwnWords(t *testing.T) {
	file := func(w checkpoints.Wording) *Question {
		w.Options = []checkpoints.Option{{Label: "oauth"}, {Label: "jwt"}}
		return &Question{Wording: w, Origin: checkpoints.Origin{File: &checkpoints.FileAsked{ID: "w_q1"}}}
	}
	ours, free := file(checkpoints.Wording{}), file(checkpoints.Wording{})
	ours.File, free.Options = nil, nil
	nobodys, blank := *ours, file(checkpoints.Wording{})
	nobodys.Kind, blank.Options = questions.AskFile, []checkpoints.Option{{Label: "\u200b "}}
	for name, c := range map[string]struct {
		q      *Question
		answer string
		want   bool
	}{
		"an option":                   {file(checkpoints.Wording{}), "jwt", true},
		"two of several":              {file(checkpoints.Wording{MultiSelect: true}), "jwt, oauth", true},
		"none of the options":         {file(checkpoints.Wording{}), "passkeys", false},
		"own words taken":             {file(checkpoints.Wording{OwnWords: true}), "passkeys", true},
		"a rule of its own":           {file(checkpoints.Wording{Validate: "regex:^p"}), "passkeys", true},
		"no options":                  {free, "passkeys", true},
		"a question of our own":       {ours, "passkeys", true},
		"of a script of nobody's run": {&nobodys, "passkeys", false},
		"options that nobody sees":    {blank, "passkeys", true},
	} {
		t.Run(name, func(t *testing.T) {
			if err := questions.Check(c.q, c.answer, ""); (err == nil) != c.want {
				t.Error(err)
			}
		})
	}
}
