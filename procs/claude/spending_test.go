package claude

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/procs/internal/childtest"
	"claude-supervise/procs/stream"
)

// recorded returns what one process said in a recorded conversation, and what it had spent beyond its last result.
func recorded(t *testing.T, name string, s procs.Spec) (said []procs.Message, cut spending) {
	t.Helper()
	lines, ok := captures(t)[filepath.Join("testdata/captures", name+".ndjson")]
	if !ok {
		t.Fatalf("there is no capture %s", name)
	}
	d := decoder{ledger: launch(s).ledger()}
	for _, line := range lines {
		messages, _ := d.decode([]byte(line))
		said = append(said, messages...)
	}
	return said, d.ledger.turn
}

func results(said []procs.Message) (sum spending) {
	for _, m := range said {
		if r, ok := m.(procs.Result); ok {
			sum = sum.plus(spending{r.CostUSD, r.InputTokens, r.OutputTokens, r.CacheRead, r.CacheCreation})
		}
	}
	return sum
}

// In each recorded conversation the first process makes five requests in its first turn, three of them a subagent's,
// and one in a second turn, in which it is ended by SIGTERM. The next makes one in a turn that it ends, and one in a
// turn that is cut by SIGKILL. The last makes one. Each request costs the same; 2.1.7 has side requests besides.
func TestWhatAConversationSpendsAddsUpOverItsProcesses(t *testing.T) {
	for _, c := range []struct {
		release         string
		price           float64
		sideIn, sideOut int64
		asked           bool
	}{
		{release: "2.1.7", price: 0.01215, sideIn: 7, sideOut: 3},
		{release: "2.1.100", price: 0.01215},
		{release: "2.1.200", price: 0.02025, asked: true},
		{release: "2.1.329", price: 0.0156, asked: true},
	} {
		t.Run(c.release, func(t *testing.T) {
			spent := func(got spending, requests int64, what string) {
				t.Helper()
				side := spending{}
				if c.sideIn > 0 {
					side = spending{cost: 0.0001, input: 4 * c.sideIn, output: 4 * c.sideOut} // at most
				}
				if cost := c.price * float64(requests); got.cost < cost-1e-9 || got.cost > cost+side.cost+1e-9 {
					t.Errorf("%s: cost %v for %d requests", what, got.cost, requests)
				}
				if in, out := 4200*requests, 500*requests; got.input < in || got.input > in+side.input ||
					got.output < out || got.output > out+side.output {
					t.Errorf("%s: tokens %d, %d for %d requests", what, got.input, got.output, requests)
				}
			}
			said, cut := recorded(t, c.release+"_spending", procs.Spec{})
			first := results(said)
			spent(first, 5, "the first turn")
			if first.cacheRead != 5*3000 || first.cacheCreation != 5*200 {
				t.Errorf("caches: %+v", first)
			}
			if c.asked {
				spent(cut, 1, "the turn that was asked about and ended")
			} else if cut.cost != 0 || cut.input != 4200 || cut.output < 1 {
				t.Errorf("a turn that cannot be asked about: %+v", cut)
			}

			said, cut = recorded(t, c.release+"_spending_after_term", procs.Spec{Resume: true, SpentUSD: first.cost + cut.cost})
			second := results(said)
			spent(second, 1, "after SIGTERM")
			if cut.cost != 0 || cut.input != 4200 {
				t.Errorf("a turn that was killed: %+v", cut)
			}

			said, cut = recorded(t, c.release+"_spending_after_kill", procs.Spec{Resume: true, SpentUSD: first.cost + second.cost})
			spent(results(said), 1, "after SIGKILL")
			if cut != (spending{}) {
				t.Errorf("after the last turn: %+v", cut)
			}

			if ReleaseOf(c.release).TotalsGoOn {
				said, _ = recorded(t, c.release+"_spending_after_term", procs.Spec{Resume: true, SpentUSD: first.cost})
				if got := results(said).cost; math.Abs(got-2*c.price) > 1e-9 {
					t.Errorf("with a turn before that nobody listened to: %v", got)
				}
			}
		})
	}
}

// Each request that is shown is told once, and the requests of the main conversation and of its subagents make up the
// result but for what is known of the output when a reply begins, and for a subagent's last words where these are not
// shown.
func TestEachRequestIsToldOnce(t *testing.T) {
	for _, release := range []string{"2.1.7", "2.1.100", "2.1.200", "2.1.329"} {
		t.Run(release, func(t *testing.T) {
			said, _ := recorded(t, release+"_spending", procs.Spec{})
			var sum spending
			told := map[string]bool{}
			for _, m := range said {
				if _, ended := m.(procs.Result); ended {
					break
				}
				u, ok := m.(procs.Usage)
				if !ok {
					continue
				}
				if told[u.MessageID] || u.Model == "" {
					t.Errorf("%+v", u)
				}
				told[u.MessageID] = true
				sum = sum.plus(spentBy(stream.Usage{Input: u.InputTokens, CacheCreation: u.CacheCreation,
					CacheRead: u.CacheRead, Output: u.OutputTokens}))
			}
			want := int64(4)
			if ReleaseOf(release).SubagentText {
				want = 5
			}
			if sum.input != want*4200 || sum.output < want {
				t.Errorf("%d requests told, with %d and %d tokens", len(told), sum.input, sum.output)
			}
		})
	}
}

func TestTheConversationsThatARequestIsRememberedOfAreBounded(t *testing.T) {
	var d decoder
	for i := range 3 * maxConversations {
		d.decode(fmt.Appendf(nil,
			`{"type":"assistant","parent_tool_use_id":"t%d","message":{"id":"m","usage":{"input_tokens":1}}}`, i))
	}
	if len(d.ledger.request) > maxConversations || d.ledger.turn.input != 3*maxConversations {
		t.Errorf("%d remembered, %+v", len(d.ledger.request), d.ledger.turn)
	}
}

func init() {
	// spender spends something in a turn that it does not end. By its name it says how much when it is asked, says that it
	// does not know, or says nothing.
	spender := func(reply map[string]any) func(*childtest.Child) {
		return func(c *childtest.Child) {
			for v := c.Read(); v != nil; v = c.Read() {
				switch v["type"] {
				case "user":
					c.Write(map[string]any{"type": "system", "subtype": "init", "claude_code_version": "2.1.329"})
					c.Write(map[string]any{"type": "assistant", "message": map[string]any{
						"id": "msg_1", "content": []any{map[string]any{"type": "text", "text": "I work."}},
						"usage": map[string]any{"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 1},
					}})
				case "control_request":
					if v["request"].(map[string]any)["subtype"] == "get_usage" && reply != nil {
						reply["request_id"] = v["request_id"]
						c.Write(map[string]any{"type": "control_response", "response": reply})
					}
				}
			}
		}
	}
	parts["spender that says it"] = spender(
		map[string]any{"subtype": "success", "response": map[string]any{"session": map[string]any{
			"total_cost_usd": 0.5,
			"model_usage":    map[string]any{"opus": map[string]any{"inputTokens": 300, "outputTokens": 40, "costUSD": 0.5}},
		}}})
	parts["spender that refuses"] = spender(map[string]any{"subtype": "error", "error": "unsupported"})
	parts["spender that is silent"] = spender(nil)
}

func TestAProcessIsAskedWhatItHasSpentBeforeItIsParked(t *testing.T) {
	byLines := procs.Exit{InputTokens: 120, OutputTokens: 1}
	for part, want := range map[string]procs.Exit{
		"spender that says it":   {CostUSD: 0.5, InputTokens: 300, OutputTokens: 40},
		"spender that refuses":   byLines,
		"spender that is silent": byLines,
	} {
		for how, want := range map[procs.Ending]procs.Exit{procs.Park: want, procs.Kill: byLines} {
			t.Run(fmt.Sprint(part, how), func(t *testing.T) {
				r := start(t, spec(t, part))
				noError(t, r.Send("u", "work"))
				next[procs.Init](r)
				next[procs.Usage](r)
				next[procs.Text](r)
				r.End(context.Background(), how)
				got := next[procs.Exit](r)
				if got.CostUSD != want.CostUSD || got.InputTokens != want.InputTokens || got.OutputTokens != want.OutputTokens {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

func TestALaunchIsBoundByWhatItMaySpend(t *testing.T) {
	for _, c := range []struct {
		spec procs.Spec
		want string
	}{
		{procs.Spec{}, ""},
		{procs.Spec{BudgetUSD: 12.345}, "--max-budget-usd=12.345"},
		{procs.Spec{BudgetUSD: 1e-7}, "--max-budget-usd=0.0000001"},
		{procs.Spec{MaxTurns: 7, AgentType: "-x"}, "--agent=-x --max-turns=7"},
	} {
		if got := strings.Join(launch(c.spec).bounds(), " "); got != c.want {
			t.Errorf("%+v: %s", c.spec, got)
		}
	}
}
