package questions

import (
	"testing"

	"claude-supervise/checkpoints"
)

func TestAnAnswerIsWhatTheScriptListsUnlessItsFileTakesOwnWords(t *testing.T) {
	file := func(w checkpoints.Wording) *Question {
		w.Options = []checkpoints.Option{{Label: "oauth"}, {Label: "jwt"}}
		return &Question{Wording: w, Origin: checkpoints.Origin{File: &checkpoints.FileAsked{ID: "w_q1"}}}
	}
	ours, free := file(checkpoints.Wording{}), file(checkpoints.Wording{})
	ours.File, free.Options = nil, nil
	nobodys, blank := *ours, file(checkpoints.Wording{})
	nobodys.Kind, blank.Options = AskFile, []checkpoints.Option{{Label: "\u200b "}}
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
			if err := Check(c.q, c.answer, ""); (err == nil) != c.want {
				t.Error(err)
			}
		})
	}
}
