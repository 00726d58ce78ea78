package standin

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/examples"
)

const billed = `
  - when: "## YOUR TASK"
    replies:
      - {tools: [{name: Bash, input: {command: "echo once >> made", description: make it}}], usage: {input: 100000}}
      - {text: made, usage: {output: 10000, cache_read: 1000000}}
  - when: "## NEXT"
    replies: [{text: next, usage: {cache_write: 100000}}]
`

func TestWhatRepliesCostAddsUpInAProcess(t *testing.T) {
	t.Chdir(t.TempDir())
	c := start(t.Context(), t, load(t, billed), "--dangerously-skip-permissions")
	c.say("## YOUR TASK")
	first := c.until("result")
	c.say("## NEXT")
	second := c.until("result")
	c.send(map[string]any{"type": "control_request", "request_id": "u", "request": map[string]any{"subtype": "get_usage"}})
	usage := c.until("control_response")
	if code := c.end(); code != 0 {
		t.Errorf("it exits %d: %s", code, c.stderr.String())
	}
	at := func(v any, keys ...string) any {
		for _, k := range keys {
			m, _ := v.(map[string]any)
			v = m[k]
		}
		return v
	}
	for name, c := range map[string]struct{ got, want any }{
		"the cost of the first turn":      {first["total_cost_usd"], 0.8},
		"its tokens":                      {at(first, "usage", "cache_read_input_tokens"), 1e6},
		"what came since the last result": {at(second, "model_usage_since_last_result", "scripted", "costUSD"), 0.5},
		"the cost of both":                {second["total_cost_usd"], 1.3},
		"the same, when asked":            {at(usage, "response", "response", "session", "total_cost_usd"), 1.3},
		"by model": {at(usage, "response", "response", "session", "model_usage",
			"scripted", "outputTokens"), 1e4},
	} {
		if c.got != c.want {
			t.Errorf("%s is %v, not %v", name, c.got, c.want)
		}
	}
}

// What each bound does to the turn that reaches it and to the next one, and whether the calls of its last reply are
// made.
func TestABoundEndsTheTurnThatReachesIt(t *testing.T) {
	for name, c := range map[string]struct {
		flag         string
		first, after string
		made         bool
		code         int
	}{
		"a budget":                        {"--max-budget-usd=0.4", "error_max_budget_usd", "error_max_budget_usd", false, 1},
		"a budget that the last reply is": {"--max-budget-usd=0.8", "error_max_budget_usd", "error_max_budget_usd", true, 1},
		"a budget that is not reached":    {"--max-budget-usd=9", "success", "success", true, 0},
		"a number of replies":             {"--max-turns=1", "error_max_turns", "success", true, 0},
		"as many as there are":            {"--max-turns=2", "success", "success", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			agent := start(t.Context(), t, load(t, billed), "--dangerously-skip-permissions", c.flag)
			agent.say("## YOUR TASK")
			first := agent.until("result")
			agent.say("## NEXT")
			after := agent.until("result")
			if first["subtype"] != c.first || after["subtype"] != c.after {
				t.Errorf("the turns end as %v and %v", first["subtype"], after["subtype"])
			}
			if _, err := os.Stat("made"); (err == nil) != c.made {
				t.Errorf("the call was made: %v", err == nil)
			}
			if code := agent.end(); code != c.code {
				t.Errorf("it exits %d", code)
			}
		})
	}
}

func TestAUsageLimitPassesWithTimeAndInALaterProcess(t *testing.T) {
	s := load(t, `
  - when: "## YOUR TASK"
    replies: [{text: begun}, {api_error: {status: 429, message: "resets {{reset}}", lasts: 1m}}, {text: past it}]
`)
	start := time.Date(2026, 11, 21, 2, 58, 29, 1, time.UTC)
	says := func(a *agent, after time.Duration) string {
		a.main.messages = []examples.Message{user("## YOUR TASK"), {Role: examples.Assistant, Texts: []string{"begun"}}}
		r := a.main.next(start.Add(after))
		if r.APIError != nil {
			return r.APIError.Message
		}
		return r.Text
	}
	first := newAgent(s, options{}, "/", nil, nil)
	for _, c := range []struct {
		after time.Duration
		want  string
	}{
		{0, "resets 2026-11-21T02:59:30Z"}, {60 * time.Second, "resets 2026-11-21T02:59:30Z"}, {61 * time.Second, "past it"},
		{62 * time.Second, "past it"},
	} {
		if got := says(first, c.after); got != c.want {
			t.Errorf("after %v it is %q, not %q", c.after, got, c.want)
		}
	}
	later := newAgent(s, options{}, "/", nil, nil)
	later.limitedSince = start // as the transcript tells
	if early, late := says(later, time.Second), says(later, 61*time.Second); early != "resets 2026-11-21T02:59:30Z" ||
		late != "past it" {
		t.Errorf("a later process says %q, then %q", early, late)
	}
}

const other = "0c8a6d2e-64de-468d-9956-d109efa79608"

func TestAForkGoesOnFromWhatTheOtherHasSoFarAndLeavesItAlone(t *testing.T) {
	t.Chdir(t.TempDir())
	s := load(t, `
  - when: "## YOUR TASK"
    replies: [{text: "one", usage: {input: 100000}}, {text: two}, {text: three}]
`)
	c := start(t.Context(), t, s, "--session-id", session)
	c.say("## YOUR TASK")
	c.until("result")
	kept := transcriptOf(t, session)

	// while the other still lives
	fork := start(t.Context(), t, s, "--resume", session, "--fork-session", "--session-id", other)
	fork.say("continue")
	if r := fork.until("result"); r["result"] != "two" || r["session_id"] != other {
		t.Errorf("the fork says %v as %v", r["result"], r["session_id"])
	}
	if code := fork.end(); code != 0 {
		t.Errorf("the fork exits %d: %s", code, fork.stderr.String())
	}
	if now := transcriptOf(t, session); now != kept {
		t.Errorf("what the other keeps has changed:\n%s", now)
	}
	c.say("continue")
	if r := c.until("result"); r["result"] != "two" || r["session_id"] != session {
		t.Errorf("the other continues with %v as %v", r["result"], r["session_id"])
	}
	if code := c.end(); code != 0 {
		t.Errorf("the other exits %d: %s", code, c.stderr.String())
	}
	resumed := start(t.Context(), t, s, "--resume", other)
	resumed.say("continue")
	if r := resumed.until("result"); r["result"] != "three" {
		t.Errorf("resumed the fork says %v", r["result"])
	}
	resumed.end()
	for line := range strings.Lines(transcriptOf(t, other)) {
		var entry struct{ SessionID string }
		if err := json.Unmarshal([]byte(line), &entry); err != nil || entry.SessionID != other {
			t.Errorf("the fork keeps the line %s (%v)", line, err)
		}
	}
}

func TestAForkThatCannotBeIsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	s := load(t, `
  - when: "## YOUR TASK"
    replies: [{text: hi}]
`)
	for _, id := range []string{session, other} {
		c := start(t.Context(), t, s, "--session-id", id)
		c.say("## YOUR TASK")
		c.until("result")
		c.end()
	}
	const third, unknown = "3c8a6d2e-64de-468d-9956-d109efa79608", "4c8a6d2e-64de-468d-9956-d109efa79608"
	for name, c := range map[string]struct{ from, as, want string }{
		"from what is not there": {unknown, third, "No conversation found with session ID: " + unknown},
		"as another one":         {session, other, "Session ID " + other + " is already in use."},
	} {
		t.Run(name, func(t *testing.T) {
			fork := start(t.Context(), t, s, "--resume", c.from, "--fork-session", "--session-id", c.as)
			if code := fork.end(); code != exitFailed || !strings.Contains(fork.stderr.String(), c.want) {
				t.Errorf("it exits %d: %s", code, fork.stderr.String())
			}
		})
	}
}

func transcriptOf(t *testing.T, session string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(home(t), ".claude", "projects", "*", session+".jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("there are the transcripts %q (%v)", found, err)
	}
	data, err := os.ReadFile(found[0])
	noError(t, err)
	return string(data)
}
