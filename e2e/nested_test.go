package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// nestedCalls is the scenario of an agent whose script starts runs.
const nestedCalls = "testdata/nested/calls.yaml"

var nestedScenarios = []killScenario{
	{name: "a run inside an agent", scenario: "testdata/kill/nested.yaml", flags: []string{"--delegate", "auto"}},
}

// calls begins a run whose agent runs a script that starts runs of its own.
func (w *world) calls(script string, flags ...string) *supervised {
	w.t.Helper()
	s := load(w.t, nestedCalls)
	if w.API == nil {
		path, err := filepath.Abs(nestedCalls)
		noError(w.t, err)
		w.agent = []string{"--demo", path}
	}
	w.writes("call.sh", script)
	if !slices.Contains(flags, "--delegate") {
		flags = append(flags, "--delegate", "auto")
	}
	return w.start(w.runArgs(s, flags...)...)
}

// writes puts a file into the folder to work in.
func (w *world) writes(name, text string) {
	w.t.Helper()
	noError(w.t, os.WriteFile(filepath.Join(w.Cwd, name), []byte(text), 0o600))
}

// reads returns a file of the folder to work in.
func (w *world) reads(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Cwd, name))
	noError(w.t, err)
	return string(text)
}

// nested is the end of a line of a script: what a nested run prints goes to files, and so does its exit code.
func nested(name string) string {
	return fmt.Sprintf(" > %[1]s.out 2> %[1]s.err; echo $? > %[1]s.code\n", name)
}

// came tells how a nested run came out.
func (w *world) came(name string) (code int, stdout, stderr string) {
	w.t.Helper()
	code, err := strconv.Atoi(strings.TrimSpace(w.reads(name + ".code")))
	noError(w.t, err)
	return code, w.reads(name + ".out"), w.reads(name + ".err")
}

// cameTo wants a nested run to have come out so: what it says contains the texts, on stdout or stderr.
func (w *world) cameTo(name string, want int, texts ...string) {
	w.t.Helper()
	code, stdout, stderr := w.came(name)
	if code != want {
		w.t.Errorf("%s exits %d, not %d:\n%s%s", name, code, want, stdout, stderr)
	}
	for _, text := range texts {
		if !strings.Contains(stdout+stderr, text) {
			w.t.Errorf("%s says nothing of %q:\n%s%s", name, text, stdout, stderr)
		}
	}
}

// says reads events up to one in which an agent says this.
func (s *supervised) says(text string) {
	s.t.Helper()
	for s.until("text").Text != text {
	}
}

// endsWith reads a run to its end, and gives the summary.
func (s *supervised) endsWith(want int) (summary string) {
	s.t.Helper()
	if code := s.wait(); code != want {
		s.t.Fatalf("the run exits %d, not %d\n%s", code, want, s.stderr)
	}
	return s.seen[len(s.seen)-1].Summary
}

// One agent that may have one process at a time starts all that a nested run can be: each is a child that takes the
// slot while the agent waits for it.
func TestRunsInsideAnAgentAreChildrenOfIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writes("task.yaml", "prompt: Count by a task file.\ncontext: the folder\nname: counter\n")
	w.writes("deeper.sh", "claude-supervise run 'Count in the depth.'"+nested("deepest"))
	w.writes("script.sh", "for i in 1 2 3; do claude-supervise run \"Count part $i.\" > part$i & done; wait\n")
	noError(t, os.Mkdir(filepath.Join(w.Cwd, "sub"), 0o700))
	run := w.calls("claude-supervise run 'Count the files.'"+nested("plain")+
		"claude-supervise run -f task.yaml --hold 1m --allow 'Bash(rm:*)' -- --verbose"+nested("file")+
		"claude-supervise run Deeper"+nested("deeper")+
		"sh ./script.sh\n"+
		"claude-supervise run --json 'Count as JSON.'"+nested("json")+
		"(cd sub && exec claude-supervise run 'Count in a folder.')"+nested("sub")+
		"claude-supervise run --detach 'Count aside.'"+nested("aside")+
		"env -i HOME=$HOME PATH=$PATH XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR CLAUDE_SUPERVISE_RUN=r-00000000 "+
		"CLAUDE_SUPERVISE_AGENT=a-forged claude-supervise run 'Count by a forged name.'"+nested("forged")+
		// What is refused.
		"claude-supervise run 'Do what call.sh says.'"+nested("own")+
		"claude-supervise run --exec 'echo {}' 'Count otherwise.'"+nested("exec")+
		"claude-supervise run --demo ask"+nested("demo")+
		"claude-supervise run --cwd / 'Count it all.'"+nested("cwd")+
		"{ echo Count; head -c 1000000 /dev/zero | tr '\\0' x; } | claude-supervise run -"+nested("large")+
		"claude-supervise run"+nested("nothing")+
		"for i in $(seq 20); do claude-supervise run \"Count $i.\" || break; done"+nested("loop"),
		"--max-parallel", "1", "--max-agents", "14")
	summary := run.endsWith(3) // what a nested run leaves undone counts

	for _, name := range []string{"plain", "file", "sub", "forged"} {
		w.cameTo(name, 0, "counted\n", "succeeded")
	}
	w.cameTo("file", 0, "Of no effect inside agent a-", "--allow, --hold, what follows --")
	w.cameTo("deeper", 3, "deep", "partial")
	w.cameTo("deepest", 0, "counted")
	w.cameTo("json", 0, `"type":"text"`, `"type":"run_done"`, `"summary":"counted"`, `"exit_code":0`)
	w.cameTo("aside", 0, "a-")
	for i := range 3 {
		if got := w.reads(fmt.Sprintf("part%d", i+1)); got != "counted\n" {
			t.Errorf("a part of the script prints %q", got)
		}
	}
	w.cameTo("own", 1, "This is the task of yourself already")
	w.cameTo("exec", 2, "--exec runs no other program inside agent a-")
	w.cameTo("demo", 2, "--demo plays no other scenario inside agent a-")
	w.cameTo("cwd", 2, "--cwd names a folder inside that of agent a-")
	w.cameTo("large", 1, "the task is longer than 256 KiB")
	w.cameTo("nothing", 2)
	w.cameTo("loop", 0, "--max-agents: A run may have 14 agents, and this one has")

	r := w.ps() // one run, with one supervisor
	if len(r.Agents) != 14 || len(r.OpenQuestions) > 0 {
		t.Errorf("the run has %d agents and asks %v", len(r.Agents), r.OpenQuestions)
	}
	for agent, why := range map[string]string{"a-other": "which is not one of run " + r.ID, r.Agents[1].ID: "has ended"} {
		w.Env = append(w.Env, "CLAUDE_SUPERVISE_RUN="+r.ID, "CLAUDE_SUPERVISE_AGENT="+agent)
		if code, _, stderr := w.run("run", "Count."); code != 1 || !strings.Contains(stderr, why) ||
			!strings.Contains(stderr, "nothing was started") {
			t.Errorf("inside %s of an ended run it exits %d: %s", agent, code, stderr)
		}
	}
	if summary != "told by a prompt" { // of the one that was detached, and of nothing else
		t.Errorf("the agent was %s", summary)
	}
}

func TestWhoAsksInsideANestedRunIsAnsweredAtTheRoot(t *testing.T) {
	t.Parallel()
	eachAgent(t, map[string]func(*world) *world{
		"stand-in": func(w *world) *world { return w },
		"real CLI": func(w *world) *world { return w.real(load(w.t, nestedCalls), nil) },
	}, func(t *testing.T, in func(*world) *world) {
		w := in(newWorld(t))
		run := w.calls("claude-supervise run 'Count the files.'"+nested("plain")+"claude-supervise run 'Ask for the colour.'"+
			nested("ask"),
			"--hold", "forever", "--on-question", "ask")
		q := run.until("question").Question
		waitUntil(t, "the nested run says what is asked", func() bool { // one that looks later has the answer, too
			return strings.Contains(w.reads("ask.err"), q.ID)
		})
		w.must("answer", q.ID, "blue")
		if summary := run.endsWith(0); summary != "told where it was started" {
			t.Errorf("the agent was %s", summary)
		}
		w.cameTo("plain", 0, "counted\n", "succeeded")
		w.cameTo("ask", 0, "it is blue", "["+q.ID+"] a person is asked: Which colour?")
	})
}

func TestAPersonDecidesWhetherANestedRunStarts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.calls("claude-supervise run 'Count the files.'"+nested("one")+"claude-supervise run 'Count the folders.'"+
		nested("two"),
		"--delegate", "ask", "--hold", "forever", "--on-question", "ask")
	w.must("answer", run.until("question").Question.ID, "approve", "Count the Go files.")
	w.must("answer", run.until("question").Question.ID, "deny", "not the folders", "count them by hand")
	if summary := run.endsWith(0); summary != "told where it was started" {
		t.Errorf("the agent was %s", summary)
	}
	w.cameTo("one", 0, "counted")
	w.cameTo("two", 1, "nothing was started: denied by ", "not the folders", "count them by hand")
}

// Without its client an agent is told by a prompt: the client goes before its caller waits no longer, and may be
// killed.
func TestTheEndOfANestedRunIsToldWithoutItsClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.calls("CLAUDECODE=1 BASH_DEFAULT_TIMEOUT_MS=900 claude-supervise run 'Wait for it.'" + nested("limit") +
		"id=$(sed -n 's/^agent \\(a-[0-9A-Za-z]*\\) continues.*/\\1/p' limit.err)\n" +
		"claude-supervise wait $id --timeout 0" + nested("wait") +
		"claude-supervise run 'Wait for it.' > again.out 2> again.err & client=$!\n" + // no twin
		"while ! grep -q 'is at work on this already' again.err; do sleep 0.02; done\n" +
		"kill -9 $client\n")
	run.says("I wait.")
	w.writes("go", "")
	if summary := run.endsWith(0); summary != "told by a prompt" {
		t.Errorf("the agent was %s", summary)
	}
	w.cameTo("limit", 75,
		"; you are told when it ends: continue with other work or end your turn; look with: claude-supervise wait a-")
	if lines := strings.Count(w.reads("limit.err"), "you are told"); lines != 1 {
		t.Errorf("it says so in %d lines", lines)
	}
	w.cameTo("wait", 124)
	if r := w.ps(); len(r.Agents) != 2 {
		t.Errorf("the run has %d agents", len(r.Agents))
	}
}

// The client that outlives the supervisor stands in a session of its own: else it goes with the agent.
func TestANestedRunOutlivesItsSupervisor(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(*world, *supervised){
		"that is killed": func(w *world, s *supervised) {
			s.kill9()
			waitFor(t, filepath.Join(w.Cwd, "over"))
			w.cameTo("client", 75, "nobody supervises run r-", "continues once a person types: claude-supervise resume r-")
		},
		"that is interrupted": func(_ *world, s *supervised) { s.interrupt(); s.wait() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.writes("client.sh", "claude-supervise run 'Wait for it.'"+nested("client")+"echo > over\n")
			run := w.calls("setsid -w sh ./client.sh\n")
			run.waitsFor("Bash: echo begun")
			leave(w, run)
			r := w.theRun()
			w.writes("go", "")
			again := w.start("resume", r.ID)
			if summary := again.endsWith(0); summary != "told by a prompt" && summary != "told where it was started" {
				t.Errorf("the agent was %s", summary)
			}
			if got := w.ps(); len(got.Agents) != 2 || got.Agents[1].Status != "succeeded" {
				t.Errorf("the agents are %+v", got.Agents)
			}
		})
	}
}

func TestNestedRunsOfAnyCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writes("agent.sh", `case $CLAUDE_SUPERVISE_PROMPT$1 in *Part*) echo part; echo WORKFLOW_COMPLETE;; *)
claude-supervise run 'Part of it.' > nested.out 2> nested.err; echo $? > nested.code
echo WORKFLOW_COMPLETE;; esac
`)
	code, stdout, stderr := w.run("run", "--delegate", "auto", "--max-parallel", "1", "--exec",
		"/bin/sh agent.sh {}", "Do it all.")
	if code != 0 {
		t.Fatalf("the run exits %d: %s%s", code, stdout, stderr)
	}
	w.cameTo("nested", 0, "part", "succeeded")
	if r := w.ps(); len(r.Agents) != 2 {
		t.Errorf("the run has %d agents", len(r.Agents))
	}
}

// What tells a supervisor in the background that it is one, an agent can say as well: its run is a child of it all the
// same.
func TestARunInsideAnAgentIsNoneInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.writes("agent.sh", `case $1 in *Part*) echo WORKFLOW_COMPLETE;; *)
export CLAUDE_SUPERVISE_BACKGROUND=r-ownrun00
claude-supervise run --exec '/bin/sh agent.sh {}' 'Part of it.' > nested.out 2> nested.err; echo $? > nested.code
echo WORKFLOW_COMPLETE;; esac
`)
	code, stdout, stderr := w.run("run", "--delegate", "deny", "--exec", "/bin/sh agent.sh {}", "Do it all.")
	if code != 0 {
		t.Fatalf("the run exits %d: %s%s", code, stdout, stderr)
	}
	w.cameTo("nested", 1, "nothing was started: denied by --delegate deny")
}

// A folder below that of the agent may be a link to another by the time at which the run in it begins.
func TestANestedRunIsNotLedOutOfTheFolderByALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out := t.TempDir()
	w.writes("agent.sh", `case $1 in *Part*) touch here; echo WORKFLOW_COMPLETE;; *)
mkdir -p sub
[ -L sub ] || claude-supervise run --detach --cwd sub 'Part of it.' > nested.out 2> nested.err
rmdir sub && ln -s `+out+` sub
echo WORKFLOW_COMPLETE;; esac
`)
	script := filepath.Join(w.Cwd, "agent.sh")
	_, _, stderr := w.run("run", "--delegate", "auto", "--max-parallel", "1", "--exec", "/bin/sh "+script+" {}",
		"Do it all.")
	if !strings.Contains(stderr, "which is outside of the run") {
		t.Errorf("it says nothing of it: %s", stderr)
	}
	if found, err := os.ReadDir(out); err != nil || len(found) > 0 {
		t.Errorf("it worked outside: %v, %v", found, err)
	}
}

// Whatever an agent makes of its environment, a run that it starts is a child in its tree, or none: never a run of its
// own beside it.
func TestARunInsideAnAgentCannotLeaveItsTreeByItsEnvironment(t *testing.T) {
	t.Parallel()
	eachAgent(t, map[string]func(*world) *world{
		"stand-in": func(w *world) *world { return w },
		"real CLI": func(w *world) *world { return w.real(load(w.t, nestedCalls), nil) },
	}, func(t *testing.T, in func(*world) *world) {
		w, other := in(newWorld(t)), t.TempDir()
		bare := "env -i PATH=\"$PATH\" HOME=" + other + " claude-supervise run --detach 'Count the last.'"
		run := w.calls("XDG_STATE_HOME=" + other + " claude-supervise run 'Count the files.'" + nested("state") +
			"HOME=" + other + " claude-supervise run 'Count the folders.'" + nested("home") +
			"env -u CLAUDE_SUPERVISE_RUN -u CLAUDE_SUPERVISE_AGENT -u CLAUDE_SUPERVISE_STATE XDG_STATE_HOME=" + other +
			" claude-supervise run 'Count the links.'" + nested("unmarked") +
			bare + nested("bare") +
			"setsid sh -c '(" + strings.ReplaceAll(bare, "'", "\"") +
			" > orphan.out 2> orphan.err; echo $? > orphan.code.new; mv orphan.code.new orphan.code) &'\n" +
			"while [ ! -e orphan.code ]; do sleep 0.1; done\n")
		run.endsWith(0)
		w.cameTo("state", 0)
		w.cameTo("home", 0)
		w.cameTo("unmarked", 0)
		w.cameTo("bare", 0)
		if code, _, stderr := w.came("orphan"); code == 0 && !strings.Contains(stderr, "a-") {
			t.Errorf("a run whose parents are gone started something: %s", stderr)
		}
		if found, err := filepath.Glob(filepath.Join(other, "*claude-supervise*")); err != nil || len(found) > 0 {
			t.Errorf("it has kept a run of its own in %v (%v)", found, err)
		}
		if found, err := filepath.Glob(filepath.Join(other, ".local/state/claude-supervise")); err != nil || len(found) > 0 {
			t.Errorf("it has kept a run of its own in %v (%v)", found, err)
		}
		w.ps() // one run, with all of them
	})
}
