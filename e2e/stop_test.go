package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/examples"
)

// The stops of the protocols document, as it prints them.
var (
	missingInfo = stops("stop_reason: blocker", "blocker_type: missing_info",
		"details: The API key of the staging system is not known",
		"completed_work: the client is written", "blocked_work: the test against staging")
	missingDependency = stops("stop_reason: blocker", "blocker_type: external_dependency",
		"details: |", "  Security analysis requires running npm audit, but node_modules is missing",
		"completed_work: |", "  ✓ Scanned for hardcoded secrets (0 found)",
		"blocked_work: |", "  ✗ Dependency vulnerability scan (requires npm audit)",
		"state_snapshot: |", "  Files analyzed: 47/120", "  Reports generated: AUTH_ANALYSIS.md, SQL_REVIEW.md",
		"  Current directory: $PWD/src",
		"resume_requirements: |", "  Run: npm install (in parent session)",
		`  Then resume with: "Dependencies installed, continue with npm audit scan"`)
	analysisError = stops("stop_reason: error", "blocker_type: error",
		"details: |", "  Unexpected error during analysis:", "  TypeError: Cannot read property 'length' of undefined",
		"error_recovery: |", "  Potential fixes:", "  1. Skip problematic file and continue",
		"  2. Fix error in analysis script", "  3. Restart analysis from checkpoint")
	resourceLimit = stops("stop_reason: blocker", "blocker_type: resource_limit",
		"details: Analysis of 10,000+ files will exceed reasonable task duration",
		"resume_requirements: |", "  Option 1: Reduce scope (specify file patterns to exclude)",
		"  Option 2: Delegate to multiple agents (see DELEGATE_WORK protocol)")
)

// doesItsPart is what an agent does to which a part is handed on.
const doesItsPart = `case "$1" in *"Your parent: agent"*) report done; exit;; esac
`

func TestEachAnswerToAStopIsReadByTheAgentInTheDocumentsWords(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stop, typed string
		prompt      []string
	}{
		"missing info, in own words": {missingInfo, "it is in the vault under staging/api", []string{
			"## BLOCKER RESOLVED\n\nIssue: The API key of the staging system is not known\nResolution: it is in the vault " +
				"under staging/api\n",
			"## RESUME INSTRUCTIONS\n", "the test against staging",
		}},
		"a dependency, resolved": {missingDependency, "resolved: ran npm install", []string{
			"## BLOCKER RESOLVED\n\nIssue: Security analysis requires running npm audit, but node_modules is " +
				"missing\nResolution: ran npm install\n",
			"## STATE RESTORATION\nFiles analyzed: 47/120\n", "NOT there", "- SQL_REVIEW.md", "/src\n",
			"Completed:\n✓ Scanned for hardcoded secrets (0 found)", "✗ Dependency vulnerability scan (requires npm audit)",
			"Next step: Dependencies installed, continue with npm audit scan\n",
		}},
		"a dependency, skipped": {missingDependency, "skip", []string{"## BLOCKER RESOLVED", "SKIPPED_ITEMS.md"}},
		"an error, fixed": {analysisError, "resolved: added a check", []string{
			"## ERROR FIXED\n", "Applied fix: added a check", "Resume from the checkpoint and retry what caused the error.",
		}},
		"an error, by the agent's own option": {analysisError, "1 the vendored folder",
			[]string{"## ERROR RECOVERY\n", "Skip problematic file and continue: the vendored folder\n", "SKIPPED_FILES.md"}},
		"an error, skipped": {analysisError, "skip: analysis.js:142",
			[]string{"## ERROR RECOVERY\n", "analysis.js:142", "SKIPPED_FILES.md"}},
		"an error, tried again": {analysisError, "retry",
			[]string{"## ERROR RECOVERY\n", "Retry from the checkpoint"}},
		"a limit, by the agent's own option": {resourceLimit, "1: vendor/",
			[]string{"## BLOCKER RESOLVED", "Reduce scope (specify file patterns to exclude): vendor/\n"}},
		"a limit, with the parts handed on as the agent proposes": {resourceLimit, "2",
			[]string{"## BLOCKER RESOLVED\n", "Delegate to multiple agents", "an agent of its own: one delegate_work"}},
		"a limit, with the part handed on": {resourceLimit, "delegate",
			[]string{"## PARTIAL RESUME\n", "Skip what is blocked: agent a-", "Continue with the rest."}},
		"a limit, with less to do": {resourceLimit, "reduce: only src/",
			[]string{"## BLOCKER RESOLVED", "Reduce the scope: only src/"}},
		"a stop that says nothing but that": {stops("stop_reason: blocker"),
			"resolved", []string{"## BLOCKER RESOLVED\n", "The person says that it is resolved."}},
		"a dependency, in several lines' room": {missingDependency, "resolved: one; two", []string{"Resolution: one; two\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).script(doesItsPart + asksIn(c.stop))
			w.put("AUTH_ANALYSIS.md", "found\n")
			w.answers(w.starts(), c.typed)
			prompt := w.got("prompt.2")
			lacksNone(t, "the prompt", prompt, c.prompt...)
			if strings.Contains(prompt, "- AUTH_ANALYSIS.md") {
				t.Errorf("what is there is said to be gone:\n%s", prompt)
			}
		})
	}
}

// What a proposal leaves to be said is asked next, by whatever way the proposal was chosen.
func TestWhatAProposalLeavesOpenIsAskedNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(doesItsPart + asksIn(resourceLimit))
	run := w.starts()
	w.must("answer", run.until("question").Question.ID, "1")
	q := run.until("question").Question
	if q.Kind != "clarification" || q.Question != "Specify file patterns to exclude." {
		t.Errorf("asked: %+v", q)
	}
	w.put(filepath.Join(w.Home, ".claude/answers", q.ID+".txt"), "vendor/ and dist/\n")
	w.ends(run, 0)
	lacksNone(t, "the prompt", w.got("prompt.2"), "(specify file patterns to exclude): vendor/ and dist/\n")
}

func TestAnAgentThatIsGivenUpFailsAndIsNotStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(analysisError))
	run := w.starts()
	w.must("answer", run.until("question").Question.ID, "give up")
	w.ends(run, 1)
	if p := w.ps(); p.Agents[0].Launches != 1 || !strings.Contains(p.Reason, "given up") {
		t.Errorf("after %d launches: %s", p.Agents[0].Launches, p.Reason)
	}
}

// A stop that says that the work is complete is no report. One is asked for, once.
const completes = `
name: completes
about: a stop of completion, and then a report or none
prompt: Do it.
turns:
  - when: "## YOUR TASK"
    replies:
      - text: |-
          [STOP_WORK]
          agent_id: {{agent}}
          timestamp: 2026-01-11T09:15:00Z
          stop_reason: completion
          details: all is done
          [/STOP_WORK]
  - when: "## COMPLETION REPORT WANTED"
    replies:
      - text: |-
          SAYS
expect: {status: STATUS, exit_code: CODE}
`

func TestAStopOfCompletionWithoutAReportIsAskedForOneOnce(t *testing.T) {
	t.Parallel()
	report := "[COMPLETION_REPORT]\n          agent_id: {{agent}}\n          timestamp: 2026-01-11T12:00:00Z\n          " +
		"status: success\n          summary: done\n          [/COMPLETION_REPORT]"
	for name, with := range map[string]*strings.Replacer{
		"reported":   strings.NewReplacer("SAYS", report, "STATUS", "succeeded", "CODE", "0"),
		"unreported": strings.NewReplacer("SAYS", "As I said.", "STATUS", "unreported", "CODE", "6"),
	} {
		t.Run(name, func(t *testing.T) {
			agentsOn(t, with.Replace(completes), func(t *testing.T, w *world, s examples.Scenario) {
				run := w.start(w.runArgs(s)...)
				finishes(t, w, s, run)
				if run.count("question") != 0 {
					t.Error("a person was asked about it")
				}
				w.deliveredOnce("## COMPLETION REPORT WANTED")
			})
		})
	}
}

// toRun is the answer by which a command is to run first. It tells where it runs, and as whose child.
const toRun = "run: echo in $(pwd) for $CLAUDE_SUPERVISE_AGENT >> ran; echo to stdout; echo to stderr >&2; exit 3"

// asksToRun is how the person is asked about that command, wherever they are.
func (w *world) asksToRun() string {
	return unwrapped("Run now, as you, in " + w.Cwd + ": " + strings.TrimPrefix(toRun, "run: ") + "?")
}

// unwrapped is a text without its blanks and line ends, and without what stands for characters in JSON.
func unwrapped(text string) string {
	text = strings.NewReplacer("↳", "", `\u003e`, ">", `\u0026`, "&").Replace(text)
	return strings.Join(strings.Fields(text), "")
}

// wantsCommand begins a run that stops, and is answered by a command: its question is whether that may run.
func (w *world) wantsCommand() (run *supervised, question string) {
	w.t.Helper()
	w.script(asksIn(missingDependency))
	run = w.starts(w.notifies()...)
	w.must("answer", run.until("question").Question.ID, toRun)
	q := run.until("question").Question
	for place, text := range w.lists(q) {
		lacksNone(w.t, place, unwrapped(text), w.asksToRun())
	}
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil {
		w.t.Fatal("the command has run unasked")
	}
	return run, q.ID
}

func TestACommandOfAPersonsRunsOnlyAfterAYesOnATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, question := w.wantsCommand()
	// No other way answers it.
	for _, value := range []string{"run it", "1"} {
		if code, _, stderr := w.run("answer", question, value); code != 2 || !strings.Contains(stderr, "on a terminal") {
			t.Errorf("without a terminal: exit %d: %s", code, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(w.Home, ".claude/questions/pending", question+".json")); err == nil {
		t.Error("it is asked by file, too")
	}
	w.put(filepath.Join(w.Home, ".claude/answers", question+".txt"), "run it\n")
	waitFor(t, filepath.Join(w.Home, ".claude/answers", question+".rejected"))
	typing := w.sit(nil, "answer", question)
	shown := typing.sees("> $")
	lacksNone(t, "the terminal", unwrapped(shown), w.asksToRun())
	typing.types("run it\r")
	if code := typing.ends(); code != 0 {
		t.Fatalf("on a terminal: exit %d\n%s", code, typing.seen)
	}
	w.ends(run, 0)
	for place, text := range w.keeps() {
		lacksNone(t, place, unwrapped(text), w.asksToRun())
	}
	if got, want := w.got("ran"), "in "+w.Cwd+" for "+w.ps().Agents[0].ID+"\n"; got != want {
		t.Errorf("it ran %q, want %q", got, want)
	}
	lacksNone(t, "the prompt", w.got("prompt.2"),
		"The person had `"+strings.TrimPrefix(toRun, "run: ")+"` run: exit 3. It printed:\n", "    to stdout\n",
		"    to stderr")
}

// The agent reads what a terminal would have shown of a command in the end, and what became of what it left running.
func TestWhatCameOfACommandIsToldInPlainText(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(missingDependency))
	run := w.starts()
	w.must("answer", run.until("question").Question.ID,
		`run: printf '\033[32m10 %%\r100 %%\r\ndone\033[0m\n'; nohup sleep 86398 > gone 2>&1 & cat; until grep -aq ^sleep `+
			`/proc/$!/cmdline; do sleep 0.01; done`)
	w.sit(nil, "answer", run.until("question").Question.ID, "run it").ends()
	w.ends(run, 0)
	lacksNone(t, "the prompt", w.got("prompt.2"),
		"run: exit 0; what it left running was ended (1 process, ", "sleep 86398). It printed:\n    100 %\n    done\n")
}

func TestACommandThatIsNotLetRunIsToldOfAsSuch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run, question := w.wantsCommand()
	typing := w.sit(nil, "answer", question, "do not run it")
	typing.exits(0)
	w.ends(run, 0)
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil {
		t.Error("it has run")
	}
	lacksNone(t, "the prompt", w.got("prompt.2"), "The person decided not to run `")
}

// Where the person watches the run, both are asked there, one after the other.
func TestOnTheRunsOwnTerminalTheCommandIsAskedAboutNext(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(missingDependency))
	s := w.sit(nil, append([]string{"run", "--check", "off"}, w.agent...)...)
	s.sees(`1\) run: npm install`)
	s.sees("> ")
	s.types("run: echo yes > ran\r")
	s.sees("Run now, as you")
	s.sees(`q-[a-z0-9]+> `) // the command itself holds a "> "
	s.types("run\r")
	s.exits(0)
	w.written("ran", "yes\n")
	lacksNone(t, "the prompt", w.got("prompt.2"), "The person had `echo yes > ran` run: exit 0.")
}

// What an agent asks to have run is shown before it runs; what hides in it is not offered at all.
func TestACommandThatHidesSomethingIsNotOffered(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(
		asksIn(
			`printf '[STOP_WORK]\nagent_id: %s\nstop_reason: blocker\ndetails: x\nresume_requirements: Run: ` +
				`make\342\200\256sped\n[/STOP_WORK]\n' "$me"`))
	run := w.starts()
	q := run.until("question").Question
	if shown := w.must("questions", "--json"); strings.Contains(shown, `"label":"run`) ||
		!strings.Contains(shown, `"label":"resolved"`) {
		t.Errorf("it is offered: %s", shown)
	}
	w.must("answer", q.ID, "resolved")
	w.ends(run, 0)
}

// sayOnATerminal answers a question of a run that nobody supervises on a terminal, and does not let the run go on yet.
func (w *world) sayOnATerminal(question, value string) {
	w.t.Helper()
	s := w.sit(nil, "answer", question, value)
	s.sees(`Resume it in the background\? \[y/N\] `)
	s.types("n\r")
	s.exits(0)
}

// With nobody to supervise the run, the command is asked about as soon as it goes on, and the run is parked again.
func TestACommandOfAParkedRunIsAskedAboutWhenItGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(missingDependency))
	run, stop := w.parks()
	w.must("answer", stop, toRun)
	if code := w.start("resume", run).wait(); code != 75 {
		t.Fatalf("exit %d", code)
	}
	asks := w.questions()
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil || len(asks) != 1 || asks[0].ID == stop {
		t.Fatalf("it asks %+v", asks)
	}
	w.ends(w.start("resume", run), 75)
	w.sayOnATerminal(asks[0].ID, "run it")
	w.ends(w.start("resume", run), 0)
	w.written("ran", "in "+w.Cwd+" for "+w.ps().Agents[0].ID+"\n")
	lacksNone(t, "the prompt", w.got("prompt.2"), "run: exit 3. It printed:")
}

// An answer that was given in advance lets no command run, and asks for none.
func TestACommandThatIsAnsweredInAdvanceIsAskedAboutAllTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(missingDependency))
	run, question := w.parks("--answer", "npm audit="+toRun, "--answer", "command=run it", "--answer",
		"Run now=run it")
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil {
		t.Fatal("it has run unasked")
	}
	lacksNone(t, "the question", w.questions()[0].Question, "npm audit")
	w.must("answer", question, "resolved")
	w.ends(w.start("resume", run), 0)
	if _, err := os.Stat(filepath.Join(w.Cwd, "ran")); err == nil {
		t.Fatal("it has run unasked")
	}
}
