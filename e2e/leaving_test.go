package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	cli "claude-supervise/procs/claude"
)

// refusals are how the CLI says that a person has refused a call, has interrupted it, or has not answered its question.
var refusals = []string{"The user doesn't want to", "The user did not answer", "[Request interrupted by user"}

// Each way to leave an agent that asks is one in which the person has refused nothing: neither the conversation nor a
// request to the model says so, and no server is told that they have cancelled.
func TestWhoeverLeavesAnAgentThatAsksRefusesNothing(t *testing.T) {
	t.Parallel()
	again := func(w *world, s examples.Scenario, run *supervised) *supervised {
		id := w.ps().ID
		w.answersAll(s)
		return w.start("resume", id)
	}
	signalled := func(sig syscall.Signal) func(*world, examples.Scenario, *supervised) *supervised {
		return func(w *world, s examples.Scenario, run *supervised) *supervised {
			run.until("question")
			_ = run.cmd.Process.Signal(sig)
			run.wait()
			return again(w, s, run)
		}
	}
	ways := map[string]struct {
		flags []string
		leave func(*world, examples.Scenario, *supervised) *supervised
	}{
		"stop": {nil, func(w *world, _ examples.Scenario, run *supervised) *supervised {
			asked := run.until("question")
			w.must("stop", asked.Run)
			run.wait()
			return w.start("run", "--check", "off", "--continue", asked.Agent, "## NEXT")
		}},
		"park": {[]string{"--hold", "0", "--on-question", "ask"},
			func(w *world, s examples.Scenario, run *supervised) *supervised {
				run.until("parked")
				w.answersAll(s)
				return run
			}},
		"exit 75": {[]string{"--hold", "0", "--on-question", "park"},
			func(w *world, s examples.Scenario, run *supervised) *supervised {
				if code := run.wait(); code != 75 {
					w.t.Errorf("exit %d", code)
				}
				return again(w, s, run)
			}},
		"Ctrl-C":  {nil, signalled(syscall.SIGINT)},
		"SIGTERM": {nil, signalled(syscall.SIGTERM)},
		"kill -9": {nil, signalled(syscall.SIGKILL)},
	}
	cases := map[string]func(*testing.T){}
	for _, name := range []string{"ask-user-question", "tool-ask", "permission", "elicitation"} {
		for way, of := range ways {
			if name == "elicitation" && (way == "park" || way == "exit 75") {
				continue // it is held
			}
			cases[name+"/"+way] = func(t *testing.T) {
				s := load(t, name)
				s.ClaudeFlags = slices.Clone(s.ClaudeFlags)
				for i, flag := range s.ClaudeFlags {
					s.ClaudeFlags[i] = strings.Replace(flag, `*'\"cancel\"'*) exit 1;;`,
						`*'\"cancel\"'*) echo > cancelled; exit 1;;`, 1)
				}
				s.Turns = append(s.Turns, replies("## NEXT", examples.Reply{Text: "Next."}, examples.Reply{Text: "Next."}))
				w := newWorld(t).real(s, nil)
				run := w.start(w.runArgs(s, append([]string{"--hold", "forever"}, of.flags...)...)...)
				code := of.leave(w, s, run).wait()
				if want := map[bool]int{true: 6}[way == "stop"]; code != want {
					t.Errorf("exit %d, want %d", code, want)
				}
				if way == "kill -9" && s.Name != "permission" && s.Name != "elicitation" {
					// Our end of its input closes with us, and claude may write a refusal before the hang-up ends it.
					if !w.API.Received("and nobody has refused it") {
						t.Error("the agent was not told that its call was interrupted, and not refused")
					}
					return
				}
				for _, refusal := range refusals {
					for _, line := range w.conversation() {
						if strings.Contains(line, `"tool_result"`) && strings.Contains(line, refusal) {
							t.Errorf("the conversation says %q: %s", refusal, line)
						}
					}
					if w.API.Received(refusal) {
						t.Errorf("the model has read %q", refusal)
					}
				}
				// Killed, we cannot keep claude from telling the server that at the end of its input.
				if way != "kill -9" && w.made("cancelled") {
					t.Error("the server was told that the person has cancelled")
				}
			}
		}
	}
	for _, name := range sample.Part(t.Name(), slices.Sorted(maps.Keys(cases)), 16) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases[name](t)
		})
	}
}

// worksWithout is an agent that makes a call which is allowed, and ends its turns without a report. The supervisor
// stands still from its first request to the model on.
func (w *world) worksWithout(program string) (run *supervised) {
	w.t.Helper()
	started := make(chan *supervised, 1)
	var stop sync.Once // whose request comes beside the first waits for it
	s := examples.Scenario{Name: "still", Prompt: "## WORK", Turns: []examples.Turn{
		replies("## WORK", examples.Reply{Tools: []examples.ToolCall{bashCall("touch made")}},
			examples.Reply{Text: "It is made."}, examples.Reply{Text: "It is made."}, examples.Reply{Text: "It is made."})}}
	w.release(program, s, func(messagesapi.Request) {
		stop.Do(func() {
			run := <-started
			run.standsStill()
			started <- run
		})
	})
	run = w.start(w.runArgs(s, "--allow", "Bash", "--check", "off", "--retries", "0")...)
	started <- run
	waitUntil(w.t, "the model is asked", func() bool { return len(w.API.Requests()) > 0 })
	started <- <-started // once it stands still
	return run
}

// shortOfTime is a claude that waits for the answers of hooks for 2 seconds, not for 23 days.
func (w *world) shortOfTime(program string) string {
	path := filepath.Join(w.Home, "claude-short-of-time")
	w.put(path, `#!/bin/sh
sed -u 's/"timeout":2000000/"timeout":2/g' | `+program+` "$@"
`)
	noError(w.t, os.Chmod(path, 0o700))
	return path
}

// A supervisor that stands still for longer than claude waits for its hooks lets nothing pass: the call that waits for
// it is not made, and the turn that ends meanwhile is no success.
func TestASupervisorThatStandsStillLetsNothingPass(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	run := w.worksWithout(w.shortOfTime(claude.Program(t)))
	waitUntil(t, "claude goes on without an answer", func() bool { return len(w.API.Requests()) >= 2 })
	if w.made("made") {
		t.Errorf("the call is made; the model has read %+v", w.API.Requests())
	}
	time.Sleep(3 * time.Second) // the turn ends by the time-out of its Stop hook
	noError(t, run.cmd.Process.Signal(syscall.SIGCONT))
	run.exits(6)
	if w.made("made") {
		t.Error("the call is made once it goes on")
	}
}

// A call that waits for our hook is not made when the supervisor is killed: our end of the terminal goes with it. By
// pipes alone, claude 2.1.100 and 2.1.200 make it.
func TestACallWhoseSupervisorIsKilledIsNotMade(t *testing.T) {
	t.Parallel()
	program, release := claude.Program(t), measuredLike(t, releaseOf(t))
	t.Run("bare", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		w.release(program, examples.Scenario{Name: "bare", Turns: []examples.Turn{
			replies("## WORK", examples.Reply{Tools: []examples.ToolCall{bashCall("touch made")}},
				examples.Reply{Text: "Made."})}}, nil)
		cmd := exec.Command(program, "-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose",
			"--permission-prompt-tool=stdio", "--allowedTools=Bash")
		cmd.Dir, cmd.Env = w.Cwd, w.Env
		in, _ := cmd.StdinPipe()
		out, _ := cmd.StdoutPipe()
		noError(t, cmd.Start())
		to := json.NewEncoder(in)
		_ = to.Encode(map[string]any{"type": "control_request", "request_id": "i", "request": map[string]any{
			"subtype": "initialize", "hooks": cli.Hooks()}})
		_ = to.Encode(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "## WORK"}})
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("no hook was asked: %v", err)
			}
			if strings.Contains(line, `"hook_callback"`) {
				break
			}
		}
		_, _ = in.Close(), out.(io.Closer).Close()                                 // as the end of the driver does
		stays := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() }) // newer ones may stay
		defer stays.Stop()
		_ = cmd.Wait()
		if want := release == "2.1.100" || release == "2.1.200"; w.made("made") != want {
			t.Errorf("%s makes it: %v", release, w.made("made"))
		}
	})
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t)
		run := w.worksWithout(program)
		id := w.ps().ID
		waitUntil(t, "the conversation has the call", func() bool {
			return strings.Contains(strings.Join(w.conversation(), ""), "touch made")
		})
		time.Sleep(time.Second) // its hook is asked
		run.kill9()
		waitUntil(t, "all of it has ended", func() bool { return len(machine.Marked(id)) == 0 })
		if w.made("made") {
			t.Error("the call is made")
		}
	})
}
