package host

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
	"claude-supervise/supervisor/text"
)

// Our own checkpoint tells what the document's does, from whatever the agent has said of its work.
func TestOurCheckpointIsAsFullAsTheDocuments(t *testing.T) {
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	stop := text.JSON(signals.Signal{Kind: signals.Stop, Fields: []signals.Field{
		{Name: "details", Value: "the registry is down"},
		{Name: "completed_work", Value: "- the parser\n- the printer"}, {Name: "blocked_work", Value: "- the release"},
		{Name: "state_snapshot", Value: "phase: 3\nbranch: port\nfiles:\n  - a.go"},
	}})
	w := work{files: []string{"/work/a.go"}}
	answered := &supervisor.Question{ID: "q-1", Kind: questions.AskBlocker, State: checkpoints.QuestionAnswered,
		Origin: checkpoints.Origin{Signal: stop}}
	answered.Answer, answered.AnsweredAt = "resolved: it is up again", &at
	asked := []*supervisor.Question{answered}
	a := &supervisor.Agent{Run: "r-1"}
	a.SessionID, a.Progress = "s-1", &checkpoints.Progress{Percent: "60"}
	c := w.checkpoint(a, "/work", asked, "told")
	if !slices.Equal(c.CompletedSteps, []string{"the parser", "the printer"}) ||
		!slices.Equal(c.PendingSteps, []string{"the release"}) || c.CurrentStep != "the registry is down" ||
		c.Files["a.go"] != "/work/a.go" || c.UserAnswer == nil || *c.UserAnswer != "resolved: it is up again" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"phase": "3", "branch": `"port"`, "files": `["a.go"]`, "percent": `"60"`,
		"session_id": `"s-1"`} {
		if got := string(c.StateVariables[name]); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	queue := []*supervisor.Question{{ID: "q-5", Group: "q-5", Own: "a"}, {ID: "q-6", Group: "q-5", Own: "b"}}
	for _, q := range queue {
		q.Kind, q.State, q.AnsweredAt = questions.AskClarification, checkpoints.QuestionAnswered, &at
	}
	queue[0].Answer, queue[1].Skipped = "yes", true
	if c := w.checkpoint(a, "/work", append(asked[:1:1], queue...), "told"); c.UserAnswer != nil ||
		string(c.Other["user_answer"]) != `{"a": "yes", "b": null}` {
		t.Errorf("of several questions the answer is %s", c.Other["user_answer"])
	}
	asked = append(asked, &supervisor.Question{ID: "q-2", Kind: questions.AskClarification, State: supervisor.Open})
	if c := w.checkpoint(a, "/work", asked, "told"); c.UserAnswer != nil {
		t.Errorf("a question is open, and it is answered %q", *c.UserAnswer)
	}
}

func TestStepsAreThoseThatTheAgentHasTold(t *testing.T) {
	path := surveyLog(t,
		assistant("null",
			`{"type":"tool_use","name":"mcp__supervise__report_progress","input":{"percent":10,"step":"read the code"}}`),
		assistant("null",
			`{"type":"tool_use","name":"mcp__supervise__report_progress","input":{"percent":20,"step":"read the code"}}`),
		assistant("null",
			`{"type":"tool_use","name":"mcp__supervise__report_progress","input":{"percent":50,"step":"write the port"}}`))
	c := worked(t, path).checkpoint(&supervisor.Agent{Run: "r-1"}, "/work", nil, "told")
	if !slices.Equal(c.CompletedSteps, []string{"read the code"}) || !slices.Equal(c.PendingSteps,
		[]string{"write the port"}) ||
		c.CurrentStep != "write the port" {
		t.Errorf("%+v", c)
	}
}

// A relaunch finds in the checkpoint what the person has answered.
func TestTheAnswerStandsInTheCheckpointOfTheNextLaunch(t *testing.T) {
	m := Machine{Dirs: checkpoints.Dirs{State: t.TempDir()}}
	path := m.Dirs.CheckpointFile("r-1", "a-1")
	if err := files.MakePrivate(m.Dirs.State + "/runs"); err != nil {
		t.Fatal(err)
	}
	if err := files.MakePrivate(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	q := &supervisor.Question{ID: "q-1", Agent: "a-1", Kind: questions.AskClarification, State: supervisor.Open}
	if err := (work{}).checkpoint(&supervisor.Agent{Run: "r-1"}, "/work", []*supervisor.Question{q}, "told").
		Publish(path); err != nil {
		t.Fatal(err)
	}
	q.State, q.Answer, q.AnsweredAt = checkpoints.QuestionAnswered, "oauth", &at
	s := supervisor.State{Records: records.Records{Run: &supervisor.Run{ID: "r-1"},
		Agents: table.Of(map[string]*supervisor.Agent{"a-1": {ID: "a-1"}}), Questions: table.Of(map[string]*supervisor.Question{"q-1": q})}}
	m.setAnswer(s, "a-1")
	c, err := checkpoints.ReadCheckpoint(path)
	if err != nil || c.UserAnswer == nil || *c.UserAnswer != "oauth" {
		t.Fatalf("%+v (%v)", c, err)
	}
	if _, err := json.Marshal(c.StateVariables); err != nil {
		t.Error(err)
	}
}
