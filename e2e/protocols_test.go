package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"claude-supervise/examples"
)

// The Protocol Testing Checklist of the communication protocols, test by test: the task that it names is given to an
// agent, the signal that it expects is read from the agent's stream by lint, and what is to be verified is.
//
// Where a person answers the agent is parked first, so that the answer resumes it, as the checklist wants.
func TestTheProtocolTestingChecklist(t *testing.T) {
	t.Parallel()
	for name, check := range map[string]func(*checklist){
		"clarification": (*checklist).clarification, "stop": (*checklist).stop,
		"delegation": (*checklist).delegation, "completion": (*checklist).completion,
	} {
		path, err := filepath.Abs(filepath.Join("testdata", "protocols", name+".yaml"))
		noError(t, err)
		t.Run(name, func(t *testing.T) {
			agents(t, path, func(t *testing.T, w *world, s examples.Scenario) {
				check(&checklist{world: w, t: t, scenario: s})
			})
		})
	}
}

// A checklist is one of its tests under way.
type checklist struct {
	*world
	t        *testing.T
	scenario examples.Scenario
}

// Test 1: an intentionally ambiguous prompt.
func (c *checklist) clarification() {
	run := c.parked()
	questions := parse[[]openQuestion](c.t, c.must("questions", "--json"))
	if len(questions) != 2 {
		c.t.Fatalf("%d questions are open", len(questions))
	}
	for _, q := range questions { // clear and actionable
		if q.Question == "" || q.Context == "" || q.Kind != "clarification" || q.AnswerCommand == "" {
			c.t.Errorf("the question is %+v", q)
		}
	}
	signal := c.signal(run, "clarification_needed")
	if len(signal.Questions) != 2 || signal.Fields["can_resume_with"] != "the aim and the folders" {
		c.t.Errorf("the signal is %+v", signal)
	}
	c.must("answer", questions[0].ID, "security")
	c.must("answer", questions[1].ID, "src/")
	c.resumed(run)
}

// Test 2: a known blocker. The test's npm does nothing but look for node_modules, and make it.
func (c *checklist) stop() {
	bin := c.t.TempDir()
	const npm = `#!/bin/sh
case $1 in
audit) [ -d node_modules ] && echo "found 0 vulnerabilities" || { echo "npm error audit: node_modules is missing" >&2; exit 1; };;
install) mkdir node_modules;;
esac
`
	noError(c.t, os.WriteFile(filepath.Join(bin, "npm"), []byte(npm), 0o700))
	c.Env = append(c.Env, "PATH="+bin+":"+filepath.Dir(program)+":/usr/local/bin:/usr/bin:/bin")
	run := c.parked()
	blocker := parse[[]openQuestion](c.t, c.must("questions", "--json"))[0]
	if blocker.Kind != "blocker" || blocker.Header != "external_dependency" ||
		blocker.Question != "npm audit cannot run, node_modules is missing" {
		c.t.Errorf("the blocker is %+v", blocker)
	}
	if signal := c.signal(run, "stop_work"); signal.Fields["blocker_type"] != "external_dependency" {
		c.t.Errorf("the signal is %+v", signal)
	}
	c.session("npm install", false, nil)
	c.must("answer", blocker.ID, "resolved: Ran npm install successfully")
	c.resumed(run)
}

// Test 3: a task that should delegate. The agent goes on beside the one that is launched for it, as it has claimed that
// it can.
func (c *checklist) delegation() {
	code, _, stderr := c.run(c.runArgs(c.scenario)...)
	c.ended(code, stderr)
	signal := c.signal(c.ps().Agents[0].ID, "delegate_work") // the root's own stream
	if signal.Fields["independence"] != "can_proceed_parallel" || signal.Fields["priority"] != "P1" {
		c.t.Errorf("the signal is %+v", signal)
	}
	agents := c.ps().Agents
	if len(agents) != 2 {
		c.t.Fatalf("the agents are %+v", agents)
	}
	for _, a := range agents {
		if a.Status != "succeeded" || a.Launches != 1 {
			c.t.Errorf("%+v", a)
		}
	}
}

// Test 4: a well-defined task, whose deliverables and success criteria its task file names.
func (c *checklist) completion() {
	task, err := filepath.Abs(filepath.Join("testdata", "protocols", "completion-task.yaml"))
	noError(c.t, err)
	for name, text := range map[string]string{"a.go": "package a // TODO: handle the error\n",
		"b.go": "package b // TODO: name this\n"} {
		noError(c.t, os.WriteFile(filepath.Join(c.Cwd, name), []byte(text), 0o600))
	}
	if c.agent[0] == "--demo" {
		c.agent = append(c.agent, "-f", task)
	} else {
		c.agent = []string{"-f", task}
	}
	code, _, stderr := c.run(c.runArgs(c.scenario)...)
	c.ended(code, stderr)
	run := c.ps()
	if signal := c.signal(run.ID, "completion_report"); signal.Fields["status"] != "success" {
		c.t.Errorf("the signal is %+v", signal)
	}
	shown := parse[struct {
		SuccessCriteria map[string][]struct{ Criterion, Achieved string } `json:"success_criteria"`
	}](c.t, c.must("show", run.ID, "--json"))
	met := shown.SuccessCriteria[run.Agents[0].ID]
	if len(met) != 2 || met[0].Achieved != "✓ every TODO comment is listed → 2 of 2" ||
		met[1].Achieved != "✓ each entry names its file → yes" {
		c.t.Errorf("the success criteria are met so: %+v", met)
	}
}

// parked starts the task, which parks at its question, and gives the run.
func (c *checklist) parked() string {
	c.t.Helper()
	if code, _, stderr := c.run(c.runArgs(c.scenario, "--hold", "0", "--on-question", "park")...); code != 75 {
		c.t.Fatalf("it exits %d:\n%s", code, stderr)
	}
	return c.ps().ID
}

// resumed goes on with a run to its expected end.
func (c *checklist) resumed(run string) {
	c.t.Helper()
	code, _, stderr := c.run("resume", run)
	c.ended(code, stderr)
	if launches := c.ps().Agents[0].Launches; launches != 2 {
		c.t.Errorf("it took %d launches", launches)
	}
}

// ended holds a run's end against what its scenario expects.
func (c *checklist) ended(code int, stderr string) {
	c.t.Helper()
	if run := c.ps(); code != c.scenario.Expect.ExitCode || run.Status != c.scenario.Expect.Status {
		c.t.Errorf("exit %d, %s; want %+v\n%s", code, run.Status, c.scenario.Expect, stderr)
	}
	for name, want := range c.scenario.Expect.Files {
		if got, err := os.ReadFile(filepath.Join(c.Cwd, name)); err != nil || string(got) != want {
			c.t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
		}
	}
}

// An openQuestion is a question as `questions --json` shows it.
type openQuestion struct {
	ID, Kind, Header, Question, Context string
	AnswerCommand                       string `json:"answer_command"`
}

// A lintedSignal is a signal as `lint --json` shows it.
type lintedSignal struct {
	Kind      string
	Fields    map[string]string
	Questions []struct{ Text string }
}

// signal returns the one signal of a kind in what the run's agent said, with which nothing may be wrong.
func (c *checklist) signal(run, kind string) lintedSignal {
	c.t.Helper()
	agent := c.ps().Agents[0].ID
	cmd := c.Command("lint", "-", "--json", "--agent", agent)
	cmd.Stdin = bytes.NewBufferString(c.must("logs", run, "--raw"))
	out, err := cmd.Output()
	if err != nil {
		c.t.Errorf("lint: %v\n%s", err, out)
	}
	var found []lintedSignal
	for _, s := range parse[struct{ Signals []lintedSignal }](c.t, string(out)).Signals {
		if s.Kind == kind {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		c.t.Fatalf("%d signals are %s:\n%s", len(found), kind, out)
	}
	return found[0]
}
