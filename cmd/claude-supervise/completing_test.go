package main

import (
	"fmt"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/checkpoints"
	"claude-supervise/cmd/internal/completion"
	"claude-supervise/cmd/internal/completion/completiontest"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// Names of runs, labels of options and tasks are written by repositories and agents; no shell obeys them.
func TestWhatAgentsWriteIsNotCompletedAsCode(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	dirs, err := checkpoints.DefaultDirs()
	if err != nil {
		t.Fatal(err)
	}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	options := []checkpoints.Option{{Label: "OAuth2", Description: "as a service"}, {Label: "OAuth"}}
	for _, label := range completiontest.Hostile {
		options = append(options, checkpoints.Option{Label: label, Description: label})
	}
	at := checkpoints.Now()
	for i, name := range completiontest.Hostile {
		run, agent := fmt.Sprintf("r-%08d", i), fmt.Sprintf("a-%08d", i)
		change := checkpoints.Change{
			Run: &supervisor.Run{ID: run, Name: name, Cwd: "/" + name, Root: agent, Status: checkpoints.Parked,
				StartedAt: at, Since: at, Left: "parked"},
			Agents: []*supervisor.Agent{{ID: agent, Run: run, Status: checkpoints.Parked, Since: at, Task: name}},
			Questions: []*supervisor.Question{{ID: fmt.Sprintf("q-%06d", i), Run: run, Agent: agent,
				Kind: questions.AskClarification, State: supervisor.Open, AskedAt: at,
				Wording: checkpoints.Wording{Text: name, Options: options}}},
		}
		if i%3 == 0 {
			change.Run.Status, change.Run.EndedAt = checkpoints.Succeeded, &at
			change.Agents[0].Status, change.Agents[0].EndedAt = checkpoints.Succeeded, &at
			change.Questions[0].State = checkpoints.QuestionWithdrawn
		}
		if err := store.Commit(t.Context(), change); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	commands := func() *cobra.Command {
		root := newRoot()
		fleet, _, err := root.Find([]string{"fleet"})
		if err != nil {
			t.Fatal(err)
		}
		root.RemoveCommand(fleet) // its words are another program's
		return root
	}
	words := completiontest.All(t, commands, []string{"q-000001"})
	for _, wanted := range []string{"r-00000000", "r-00000001", "a-00000001", "q-000001", "OAuth", "OAuth2", "17"} {
		if !slices.Contains(words, wanted) {
			t.Errorf("%s is not completed", wanted)
		}
	}
	for _, label := range completiontest.Hostile {
		if completion.Plain(label) {
			t.Errorf("%q is not hostile", label)
		}
	}
}
