package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	procs "claude-supervise/procs/claude"
)

// placed is a scenario whose agent asks by both tools, the second time beside a command, and works on.
const placed = `name: placed
about: asks by both tools, and works on
prompt: Paint it.
expect: {status: succeeded}
turns:
  - when: "## YOUR TASK"
    replies:
      - tools: [{name: AskUserQuestion, input: {questions: [{question: "Which ground?", header: Ground, multiSelect: false,
          options: [{label: White, description: plain}, {label: Black, description: dark, preview: "##"}]}]}}]
      - tools:
          - {name: Bash, input: {command: "echo beside >> effects", description: note}}
          - {name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: "Which accent?"}]}}
      - tools: [{name: Bash, input: {command: "echo after >> effects", description: note}}]
      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: painted}}]
      - text: done
`

// bodies are the requests of a world's agent, as they came.
type bodies struct {
	mu  sync.Mutex
	all [][]byte
}

func (b *bodies) take(r messagesapi.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, r.Body)
}

// plain returns the messages of request n without what differs between any two runs, and without cache_control.
func (b *bodies) plain(t *testing.T, w *world, n int) string {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if n >= len(b.all) {
		t.Fatalf("there were %d requests", len(b.all))
	}
	var body struct {
		System, Tools, Messages json.RawMessage
	}
	noError(t, json.Unmarshal(b.all[n], &body))
	text := fmt.Sprintf("%s\n%s\n%s", body.System, body.Tools, body.Messages)
	text = regexp.MustCompile(`,"cache_control":\{[^}]*\}`).ReplaceAllString(text, "")
	for name, value := range map[string]string{"CWD": w.Cwd, "HOME": w.Home} {
		text = strings.ReplaceAll(text, value, name)
		text = strings.ReplaceAll(text, strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(value), name)
	}
	known := map[string]string{}
	return regexp.MustCompile(`toolu_\w+|\ba-\w{12}\b|\br-\w{8}\b|[0-9a-f]{8}-[0-9a-f-]{27}`).ReplaceAllStringFunc(text,
		func(id string) string {
			if known[id] == "" {
				known[id] = fmt.Sprintf("id%d", len(known))
			}
			return known[id]
		})
}

// answersBoth answers what a run asks, each question once it waits as it is to.
func (w *world) answersBoth(run *supervised, until string) {
	w.t.Helper()
	for _, answer := range []string{"Black: but \"matt\"", "Red"} {
		q := run.until("question").Question
		if until != "question" {
			run.until(until)
		}
		w.must("answer", q.ID, answer)
	}
}

// plays plays the scenario with its questions held or parked, and returns the number of requests.
func (b *bodies) plays(w *world, hold string) (requests int) {
	w.t.Helper()
	s := load(w.t, w.scenario(placed))
	w.real(s, b.take)
	run := w.start(w.runArgs(s, "--hold", hold, "--on-question", "ask", "--allow", "Bash")...)
	w.answersBoth(run, map[string]string{"forever": "question", "0": "parked"}[hold])
	run.exits(0)
	if effects := w.reads("effects"); effects != "beside\nafter\n" {
		w.t.Errorf("the effects are %q", effects)
	}
	return len(b.all)
}

// placing returns what the release under test can. One that cannot answer in place is skipped: it restates, which every
// scenario that is parked proves.
func placing(t *testing.T) procs.Release {
	t.Helper()
	r := procs.ReleaseOf(procs.InstalledRelease(claude.Program(t)))
	if !r.AnswersInPlace {
		t.Skip("this release drops an open call when it resumes") // in CI, too
	}
	return r
}

// An agent that was parked reads what one reads whose process waited: its own call with the answer as its result, after
// the same bytes. Nothing is said twice, and what it had done stays done once. Where its conversation cannot be
// continued at the call, an answer is restated, behind the same prefix.
func TestAnAnswerAfterAParkIsTheResultOfItsCall(t *testing.T) {
	t.Parallel()
	release := placing(t)
	var requests [2]bodies
	worlds := [2]*world{newWorld(t), newWorld(t)}
	for i, hold := range []string{"forever", "0"} {
		worlds[i].Env = append(worlds[i].Env, "ENABLE_PROMPT_CACHING_1H=1")
		if n := requests[i].plays(worlds[i], hold); n != 5 {
			t.Errorf("%d requests with hold %s", n, hold)
		}
	}
	if first := requests[0].all[0]; release.Measured && !bytes.Contains(first, []byte("Preview feature:")) {
		t.Error("it is not told when to show previews")
	}
	for n := range 5 {
		for _, of := range []*bodies{&requests[0], &requests[1]} {
			if kept := bytes.Count(of.all[n], []byte(`"ttl":"1h"`)); kept != 3 && release.Measured {
				t.Errorf("in request %d %d parts are cached for an hour", n, kept)
			}
		}
		held, inPlace := requests[0].plain(t, worlds[0], n), requests[1].plain(t, worlds[1], n)
		t.Logf("request %d: %d bytes held, %d in place, of which the first %d are the same", n, len(held), len(inPlace),
			samePrefix(held, inPlace))
		if held != inPlace && !release.Measured { // 2.1.270 repeats a reminder of its own behind the result
			if at := strings.Index(held, "with these answers in mind."); samePrefix(held, inPlace) < at {
				t.Errorf("request %d differs before the result", n)
			}
		} else if held != inPlace {
			at := max(0, samePrefix(held, inPlace)-200)
			t.Errorf("request %d differs:\n%.600s\n---\n%.600s", n, held[at:], inPlace[at:])
		}
	}
	for i, w := range worlds {
		shown := w.must("show", w.ps().ID, "--json")
		if n := strings.Count(shown, "told as the result of its call"); n != 2*i {
			t.Errorf("show says so %d times:\n%s", n, shown)
		}
	}
	costsOfARestatedAnswer(t, worlds[0], &requests[0])
}

// costsOfARestatedAnswer checks what one costs beside those to a process that was held: the model reads its call as one
// without a result, and a prompt behind it. The prefix before the call is the same, so most of it stays cached.
func costsOfARestatedAnswer(t *testing.T, w *world, held *bodies) {
	t.Helper()
	var restated bodies
	again := newWorld(t)
	again.Env = append(again.Env, "ENABLE_PROMPT_CACHING_1H=1")
	s := load(t, again.scenario(placed+restatedTurns))
	again.real(s, restated.take)
	run := again.start(again.runArgs(s, "--hold", "0", "--on-question", "ask", "--allow", "Bash")...)
	for _, answer := range []string{"Black: but \"matt\"", "Red"} {
		q := run.until("question").Question
		run.until("parked")
		for _, path := range again.transcripts() { // so it does not have the call that asked
			text, err := os.ReadFile(path)
			noError(t, err)
			noError(t, os.WriteFile(path, bytes.ReplaceAll(text, []byte("toolu_"), []byte("toolu_0")), 0o600))
		}
		again.must("answer", q.ID, answer)
	}
	run.exits(0)
	if effects := again.reads("effects"); effects != "beside\nafter\n" {
		t.Errorf("the effects are %q", effects)
	}
	if shown := again.must("show", again.ps().ID, "--json"); strings.Contains(shown, "told as the result of its call") {
		t.Errorf("it was not restated:\n%s", shown)
	}
	for n := range len(held.all) {
		before, after := held.plain(t, w, n), restated.plain(t, again, n)
		same := samePrefix(before, after)
		t.Logf("request %d: %d bytes held, %d restated, of which the first %d are the same", n, len(before), len(after), same)
		if asked := strings.Index(before, `"type":"tool_use"`); n > 0 && (same < asked || same >= len(before)) {
			t.Errorf("request %d is the same until %d of %d, and its first call is at %d", n, same, len(before), asked)
		}
	}
}

// restatedTurns is what the model of placed does once its answers come by prompts.
const restatedTurns = `  - when: "Q1: Which ground?"
    replies:
      - tools:
          - {name: Bash, input: {command: "echo beside >> effects", description: note}}
          - {name: mcp__supervise__ask_user, input: {questions: [{id: A1, text: "Which accent?"}]}}
` + worksOn + `  - when: "Q1: Which accent?"
    replies:
` + worksOn

// worksOn is what it does with the second answer, whichever way it comes.
const worksOn = `      - tools: [{name: Bash, input: {command: "echo after >> effects", description: note}}]
      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: painted}}]
      - text: done
`

// samePrefix is how many bytes two texts begin with alike.
func samePrefix(a, b string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// A process that is killed in the turn that its results began is given them once more, in the same bytes, while the
// model has said nothing after them; after that it is told to go on, and what it had done is not undone.
func TestResultsAreReadOnceWheneverTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	placing(t)
	var seen bodies
	w := newWorld(t)
	s := load(t, w.scenario(placed+"  - when: \"## GO ON\"\n    replies:\n"+
		"      - tools: [{name: mcp__supervise__report_completion, input: {status: success, summary: painted}}]\n"+
		"      - text: done\n"))
	kills := map[int]bool{1: true, 4: true} // the first that has a result; the one after the last command
	w.real(s, func(r messagesapi.Request) {
		seen.take(r)
		if n := len(seen.all) - 1; kills[n] {
			time.Sleep(500 * time.Millisecond) // claude writes its transcript up to 100 ms late
			_ = syscall.Kill(w.ps().Agents[0].PID, syscall.SIGKILL)
		}
	})
	run := w.start(w.runArgs(s, "--hold", "0", "--on-question", "ask", "--allow", "Bash")...)
	w.answersBoth(run, "parked")
	run.exits(0)
	if effects := w.reads("effects"); effects != "beside\nafter\n" {
		t.Errorf("the effects are %q", effects)
	}
	if first, again := seen.plain(t, w, 1), seen.plain(t, w, 2); first != again {
		at := max(0, samePrefix(first, again)-200)
		t.Errorf("given again it differs:\n%.600s\n---\n%.600s", first[at:], again[at:])
	}
	last := seen.plain(t, w, len(seen.all)-1)
	for what, times := range map[string]int{`\"Which ground?\"=\"Black\" selected preview:\n## notes: but \"matt\"`: 1, "## GO ON": 1,
		"## CLARIFICATION RESPONSE": 0, `"text":"Red"`: 1} {
		if n := strings.Count(last, what); n != times {
			t.Errorf("%s is %d times in the last request, want %d", what, n, times)
		}
	}
}
