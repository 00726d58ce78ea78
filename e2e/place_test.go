package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"claude-supervise/e2e/messagesapi"
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
          options: [{label: White, description: plain}, {label: Black, description: dark}]}]}}]
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
	for _, answer := range []string{"Black", "Red"} {
		q := run.until("question").Question
		if until != "question" {
			run.until(until)
		}
		w.must("answer", q.ID, answer)
	}
}

// An agent that was parked reads what one reads whose process waited: its own call with the answer as its result, after
// the same bytes. Nothing is said twice, and what it had done stays done once.
func TestAnAnswerAfterAParkIsTheResultOfItsCall(t *testing.T) {
	t.Parallel()
	var requests [2]bodies
	var worlds [2]*world
	for i, hold := range []string{"forever", "0"} {
		w := newWorld(t)
		s := load(t, w.scenario(placed))
		w.real(s, requests[i].take)
		run := w.start(w.runArgs(s, "--hold", hold, "--on-question", "ask", "--allow", "Bash")...)
		w.answersBoth(run, map[string]string{"forever": "question", "0": "parked"}[hold])
		run.exits(0)
		worlds[i] = w
	}
	for n := range 5 {
		held, inPlace := requests[0].plain(t, worlds[0], n), requests[1].plain(t, worlds[1], n)
		if held != inPlace {
			at := 0
			for at < min(len(held), len(inPlace)) && held[at] == inPlace[at] {
				at++
			}
			t.Errorf("request %d differs after %d bytes:\n%.600s\n---\n%.600s", n, at, held[max(0, at-200):], inPlace[max(0, at-200):])
		}
	}
	for i := range requests {
		if n := len(requests[i].all); n != 5 {
			t.Errorf("%d requests", n)
		}
		if effects := worlds[i].reads("effects"); effects != "beside\nafter\n" {
			t.Errorf("the effects are %q", effects)
		}
	}
}
