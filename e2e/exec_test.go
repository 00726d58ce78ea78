package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/e2e/machine"
)

// A shell script is the agent here (--exec). In each launch it leaves what it was given in the folder of the run, in
// files named after the launch: its prompt and the three variables. me and n are its agent's id and its launch.
const scripted = `set -eu
me=$CLAUDE_SUPERVISE_AGENT n=$CLAUDE_SUPERVISE_LAUNCH
if [ $# -gt 0 ]; then printf %s "$1"; else cat; fi > prompt.$n
printf %s "$CLAUDE_SUPERVISE_CHECKPOINT" > checkpoint.$n
printf %s "$CLAUDE_SUPERVISE_ANSWER" > answer.$n
printf %s "$CLAUDE_SUPERVISE_ANSWERS" > answers.$n
report() { printf '[COMPLETION_REPORT]\nagent_id: %s\nstatus: success\nsummary: %s\n[/COMPLETION_REPORT]\n' "$me" "$1"; }
`

// script makes a shell script the agent, with its prompt as the argument.
func (w *world) script(text string) *world {
	w.agent = []string{"--exec", w.shell("agent.sh", text) + " {}", "Do the task."}
	return w
}

// shell writes a script, and gives the command that runs it.
func (w *world) shell(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), name)
	w.put(path, scripted+text)
	return "sh " + path
}

// asksIn is a script that asks by what its first launch does, and reports in the next.
func asksIn(ask string) string { return "if [ $n = 1 ]; then\n" + ask + "\nelse report done; fi\n" }

// put writes a file, of this world's folder if its path is relative.
func (w *world) put(path, text string) {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	noError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	noError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// got returns what a file of this world's folder holds.
func (w *world) got(path string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.Cwd, path)
	}
	text, err := os.ReadFile(path)
	noError(w.t, err)
	return string(text)
}

// lacksNone checks that a text has all of these parts. Of a long one it shows the end.
func lacksNone(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %q:\n%s", what, part, text[max(0, len(text)-2000):])
		}
	}
}

// starts begins a run of this world's agent that stays until it is answered.
func (w *world) starts(flags ...string) *supervised {
	w.t.Helper()
	return w.start(append(append([]string{"run", "--on-question", "ask", "--check", "off"}, flags...), w.agent...)...)
}

// answers waits for so many questions as there are answers, gives these in their order, and waits for the end.
func (w *world) answers(run *supervised, typed ...string) {
	w.t.Helper()
	var asked []*questionView
	for range typed {
		asked = append(asked, run.until("question").Question)
	}
	for i, q := range asked {
		w.must("answer", q.ID, typed[i])
	}
	w.ends(run, 0)
}

// ends waits for a run's end with an exit code, after which nothing of it lives.
func (w *world) ends(run *supervised, code int) {
	w.t.Helper()
	if got := run.wait(); got != code {
		w.t.Fatalf("exit %d, want %d: %s\n%s", got, code, w.ps().Reason, run.stderr)
	}
	if left := machine.Marked(w.ps().ID); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
}

func TestACommandHasItsPromptAsOneArgumentOrOnStandardInput(t *testing.T) {
	t.Parallel()
	const task = "Say \"it's\" $(touch oops) `touch oops` to * ; {} \\ and\nin two lines"
	for name, args := range map[string]string{"an argument": " {}", "standard input": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.agent = []string{"--exec", w.shell("agent.sh", `report "$# $(wc -c < prompt.1)"`) + args, task}
			w.ends(w.starts(), 0)
			prompt := w.got("prompt.1")
			lacksNone(t, "the prompt", prompt, "EXECUTION CONTEXT", "## YOUR TASK\n\n"+task)
			if _, err := os.Stat(filepath.Join(w.Cwd, "oops")); err == nil {
				t.Error("a shell has read the prompt")
			}
		})
	}
}

// How a command ends decides, if it does not say how the work went.
func TestHowACommandEndsIsHowItsWorkWent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script string
		code   int
		reason string
	}{
		"a report":                 {"report done", 0, "reported success"},
		"the hybrid document's":    {"echo working; echo WORKFLOW_COMPLETE", 0, "reported success"},
		"no report":                {"echo working", 6, "ended without a report"},
		"nothing at all":           {"exit 0", 6, "ended without a report"},
		"complete, and no report":  {stops("stop_reason: completion", "details: all is done"), 6, "ended without a report"},
		"a failure":                {"echo 'no such host' >&2; exit 3", 1, "exit 3: no such host"},
		"a report and a failure":   {"report done; exit 4", 1, "exit 4"},
		"a signal":                 {"kill -KILL $$", 1, "it was ended by SIGKILL"},
		"a report of failure":      {"report done | sed s/success/failed/", 1, "reported failure: done"},
		"a report in part":         {"report done | sed s/success/partial_success/", 3, "reported partial success: done"},
		"with what it left behind": {"sleep 600 & report done", 0, "reported success"},
		"talk about signals": {"echo 'then I print WORKFLOW_COMPLETE'; echo '> WORKFLOW_COMPLETE'",
			6, "ended without a report"},
		"another agent's report":     {"me=a-somebodyelse; report done", 6, "ended without a report"},
		"a report with a wrong word": {"report done | sed s/success/great/", 3, "reported partial success: done"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).script(c.script)
			w.ends(w.starts(), c.code)
			if p := w.ps(); !strings.Contains(p.Reason, c.reason) || p.ExitCode == nil || *p.ExitCode != c.code ||
				p.Agents[0].Launches != 1 {
				t.Errorf("ps says %s: %s, %+v", p.Status, p.Reason, p.Agents)
			}
		})
	}
}

// stops is the part of a script that stops with these fields.
func stops(fields ...string) string {
	return "cat <<E\n[STOP_WORK]\nagent_id: $me\ntimestamp: 2026-01-11T09:15:00Z\n" + strings.Join(fields, "\n") +
		"\n[/STOP_WORK]\nE"
}

// The system takes a variable of 128 KiB at most: longer answers stand in the prompt alone, on standard input.
func TestAnswersThatNoVariableHoldsStandInThePrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = []string{"--exec", w.shell("agent.sh", asksIn(`cat <<E
[CLARIFICATION_NEEDED]
agent_id: $me
timestamp: 2026-01-11T08:45:00Z
questions:
  - {question_id: Q1, text: What does the text say?, context: All of it.}
  - {question_id: Q2, text: And the other?, context: All of it.}
  - {question_id: Q3, text: And the last?, context: All of it.}
[/CLARIFICATION_NEEDED]
E`)), "Do the task."}
	long := strings.Repeat("a long answer ", 5000)
	w.answers(w.starts(), long+"1", long+"2", long+"3")
	lacksNone(t, "the prompt", w.got("prompt.2"), "A1: "+long+"1\n", "A2: "+long+"2\n", "A3: "+long+"3\n")
	if got := w.got("answer.2") + w.got("answers.2"); got != "" {
		t.Errorf("the variables hold %.100q", got)
	}
}

// What does not fit into an argument is not lost: another command reads it from its standard input.
func TestAPromptThatNoArgumentHoldsIsReadByACommandThatTakesItOnStandardInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.shell("agent.sh", asksIn(asksTheColour+"\n"+strings.ReplaceAll(asksTheColour, "colour", "frame")))
	w.agent = []string{"--exec", agent + " {}", "Do the task."}
	run := w.starts()
	long := strings.Repeat("a long answer ", 5000)
	for i, q := range []*questionView{run.until("question").Question, run.until("question").Question} {
		w.must("answer", q.ID, long+[]string{"1", "2"}[i])
	}
	w.ends(run, 69)
	lacksNone(t, "stderr", run.stderr.String(), "the prompt is too long to be an argument", "leave {} out",
		"claude-supervise resume")
	w.ends(w.start("resume", w.ps().ID, "--exec", agent), 0)
	found, err := filepath.Glob(filepath.Join(w.Cwd, "prompt.*"))
	if err != nil || len(found) != 2 {
		t.Fatalf("prompts: %q (%v)", found, err)
	}
	lacksNone(t, "the prompt", w.got(found[1]), "A1: "+long+"1\n", "A1: "+long+"2\n")
}

// Whether it is answered before its end or after makes no difference, even to one that ends badly.
func TestACommandThatAskedAndEndedBadlyIsStartedAgainWithItsAnswer(t *testing.T) {
	t.Parallel()
	for when, early := range map[string]bool{"before its end": true, "after it": false} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).script(asksIn(asksTheColour + "\nmkfifo go; read line < go; exit 3"))
			run := w.starts()
			q := run.until("question").Question
			if early {
				w.must("answer", q.ID, "red")
			}
			waitFor(t, filepath.Join(w.Cwd, "go"))
			w.put("go", "\n")
			if !early {
				run.until("parked")
				w.must("answer", q.ID, "red")
			}
			w.ends(run, 0)
			if got := w.got("answer.2"); got != "red" {
				t.Errorf("it is given %q", got)
			}
		})
	}
}

// What is asked again after its answer is a new question.
func TestACommandMayAskAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script("if [ $n -lt 4 ]; then\n" + asksTheColour + "\nelse report \"$CLAUDE_SUPERVISE_ANSWER\"; fi")
	run := w.starts()
	for _, colour := range []string{"red", "red", "blue"} {
		w.must("answer", run.until("question").Question.ID, colour)
	}
	w.ends(run, 0)
	lacksNone(t, "show", w.must("show", w.ps().ID), "blue")
	for n, colour := range map[string]string{"2": "red", "3": "red", "4": "blue"} {
		if got := w.got("answer." + n); got != colour {
			t.Errorf("launch %s is given %q", n, got)
		}
	}
}

// A terminal gets none of what an agent prints that is more than text.
func TestWhatACommandPrintsIsMadeFitForATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(
		`printf '\033[2J\033]0;title\007\033[?1049hone\r\ntwo \377\376 \342\200\256three\b\b\n\033]52;c;aGk=\033\\'
head -c 1000000 /dev/zero | tr '\0' x
echo; report done`)
	s := w.sit(nil, append([]string{"run", "--check", "off"}, w.agent...)...)
	s.exits(0)
}

const asksTheColour = `cat <<E
I have looked at all.
[CLARIFICATION_NEEDED]
agent_id: $me
timestamp: 2026-01-11T08:45:00Z
questions:
  - question_id: colour
    text: Which colour?
    context: Both fit.
    options: [red, blue]
[/CLARIFICATION_NEEDED]
E`

// parks begins a run of this world's agent, which asks and is parked, and gives the run's id and its question's.
func (w *world) parks(flags ...string) (run, question string) {
	w.t.Helper()
	code, stdout, stderr := w.run(append(append([]string{"run", "--on-question", "park", "--check", "off"}, flags...),
		w.agent...)...)
	if code != 75 {
		w.t.Fatalf("exit %d: %s\n%s%s", code, w.ps().Reason, stdout, stderr)
	}
	return w.ps().ID, w.questions()[0].ID
}

func TestASupervisorThatIsKilledWhileACommandAsksIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script(asksIn(asksTheColour + "\nsleep 600"))
	run := w.starts()
	q := run.until("question").Question
	run.kill9()
	w.must("answer", q.ID, "red")
	w.ends(w.start("resume", q.Run), 0)
	if got := w.got("answer.2"); got != "red" {
		t.Errorf("the answer is %q", got)
	}
	if _, err := os.Stat(filepath.Join(w.Cwd, "prompt.3")); err == nil {
		t.Error("it was launched three times")
	}
}

// What a command printed before the supervisor died is in its log alone: it is not run again as if it had done nothing.
func TestACommandThatIsCutOffIsToldWhatItHadDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script("if [ $n = 1 ]; then echo half of it is written; sleep 600; else report done; fi")
	run := w.starts()
	for e := run.until("text"); !strings.Contains(e.Text, "half of it"); e = run.until("text") {
	}
	run.kill9()
	w.ends(w.start("resume", w.ps().ID), 0)
	lacksNone(t, "the prompt", w.got("prompt.2"), "Do the task.", "## STATE RESTORATION", "half of it is written")
}

func TestACommandIsStoppedWithAllThatItStarted(t *testing.T) {
	t.Parallel()
	w := newWorld(t).script("trap '' TERM; (trap '' TERM HUP; sleep 600) & echo at work; sleep 600")
	run := w.starts()
	run.until("text")
	w.must("stop", w.ps().ID)
	w.ends(run, 5)
}

func TestARunOfACommandGoesOnElsewhereByACommandThatIsGivenThere(t *testing.T) {
	t.Parallel()
	here := newWorld(t).script("mkdir -p out; echo half > out/half; STATE=$TMPDIR/state.json\necho '" + skillState +
		"' > $STATE\n" + asksIn(pausesAt)) // elsewhere there is another folder for what passes
	git(t, here.Cwd, "init", "--quiet")
	run, question := here.parks()
	here.must("pack", run)
	there := here.elsewhere()
	there.must("unpack", filepath.Join(here.Cwd, run+".tar.gz"))
	there.must("answer", question, "lenient")
	if code, _, stderr := there.run("resume", run); code == 0 || !strings.Contains(stderr, "--exec") {
		t.Errorf("without its command: exit %d\n%s", code, stderr)
	}
	resumed := there.start("resume", run, "--exec",
		there.shell("other.sh", `report "$(cat out/half), $CLAUDE_SUPERVISE_ANSWER, $(cat "$CLAUDE_SUPERVISE_CHECKPOINT")"`))
	there.ends(resumed, 0)
	lacksNone(t, "show", there.must("show", run), "half, lenient", "2 of 3 patterns read")
}
