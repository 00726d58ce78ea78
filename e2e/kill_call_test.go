package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/view"
)

// These scenarios are of what goes to and fro inside a session: calls of the supervisor's own tools, of the main
// conversation and of subagents, messages of the person, and rules.
var callScenarios = []killScenario{
	{name: "a subagent's question", scenario: "subagent-asks",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, once: toSubagent},
	{name: "a subagent's question parked after its hold", scenario: "subagent-asks",
		flags: []string{"--hold", "100ms", "--on-question", "ask"}, answers: onceParked, once: toSubagent, at: whileReviving},
	{name: "two subagents' questions at once", scenario: "two-subagents-ask",
		flags: []string{"--hold", "200ms", "--on-question", "ask"}, answers: onceParked, after: bothAsk,
		at: []string{"after save called", "before end", "after save surveyed"}, once: []string{"(the ground) had asked"}},
	{name: "a question of a subagent in the background", scenario: "background-subagent-asks",
		flags: []string{"--hold", "0", "--on-question", "park"}, answers: onceLeft, once: toSubagent,
		at: []string{"after save called"}},
	{name: "a subagent's report", scenario: "subagent-reports", at: whileReporting,
		ends: (*world).partListed},
	{name: "a subagent's pause", scenario: "subagent-pauses",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, once: forSubagent, at: whilePausing, real: true},
	{name: "a question in a call that is parked", scenario: "tool-ask",
		flags: []string{"--hold", "100ms", "--on-question", "ask"}, answers: onceParked, at: whileInPlace,
		once: []string{byPrompt[0], `Which ground colour?\"=\"Black`}},
	{name: "a question that does not stop the work", scenario: "assume",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, at: whileAssuming, once: byPrompt, real: true},
	{name: "a question that does not stop the work, answered once that is done", scenario: "assume",
		flags: []string{"--hold", "100ms", "--on-question", "ask"}, answers: onceParked, at: whileAssuming, once: byPrompt},
	{name: "a call that claude has refused", scenario: "refused",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, at: whileRefused, real: true,
		asksMore: true, ends: (*world).letThroughAsAllowed},
	{name: "a call that claude has refused, answered once the agent is parked", scenario: "refused",
		flags: []string{"--hold", "100ms", "--on-question", "ask"}, answers: onceParked, at: whileRefused,
		asksMore: true, ends: (*world).letThroughAsAllowed},
	{name: "a plan", scenario: "plan", flags: []string{"--hold", "forever", "--on-question", "ask"}, at: whileInPlace,
		asksMore: true, real: true},
	{name: "a plan, answered once the agent is parked", scenario: "plan",
		flags: []string{"--hold", "100ms", "--on-question", "ask"}, answers: onceParked, at: whileInPlace, asksMore: true},
	{name: "calls that are replied to", scenario: "tools", flags: []string{"--hold", "forever", "--on-question", "ask"},
		once: []string{byPrompt[0], `"A1: ledger`}},
	{name: "a form of an MCP server", scenario: "elicitation", flags: []string{"--hold", "forever", "--on-question", "ask"},
		at: fromServer},
	{name: "a form of an MCP server parked after its hold", scenario: "elicitation",
		flags: []string{"--hold", "100ms", "--on-question", "park"}, answers: onceLeft, at: fromServer},
	{name: "a message", scenario: "testdata/kill/waits.yaml", says: true, ends: (*world).messageRead},
	{name: "a rule that is given and taken back", scenario: "testdata/kill/rule.yaml",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, revokes: true, ends: (*world).ruleTakenBack},
}

// toSubagent is how the answer to a subagent's question is said: as the result of its call, else to the main
// conversation.
var toSubagent = []string{byPrompt[0], `[{"text":"JWT","type":"text"}]`}

// forSubagent is how the answer to a subagent's pause is said: by a prompt to the main conversation.
var forSubagent = []string{"## FOR YOUR SUBAGENT"}

// whileReporting and whilePausing are the points at which what a subagent says at its end is on its way.
var (
	whileReporting = []string{"before save heard", "after save heard", "before check", "after check", "after save checked"}
	whilePausing   = []string{"before save heard", "after save heard", "before notify", "after save noted", "after deliver"}
)

// fromServer are the points at which an answer is on its way to an MCP server.
var fromServer = []string{"after save asked", "after save noted", "before deliver", "after deliver"}

// whileInPlace are the points at which an answer is on its way to the call that asked, in the next process.
var whileInPlace = []string{"before launch", "after launch", "after save started", "after deliver", "after save sent",
	"after save received", "after confirm"}

// whileAssuming are the points at which a question that does not stop the work is on its way to the person, and its
// answer to the agent.
var whileAssuming = []string{"before save called", "after save called", "before reply", "after reply", "before notify",
	"after save noted", "before prepare", "after prepare", "after save prepared", "before deliver", "after deliver",
	"after save sent", "after save received", "after confirm", "after save surveyed"}

// whileRefused are the points at which a refused call is on its way to the person, what they allow to the agent, and the
// call that is made again through the hook before it.
var whileRefused = []string{"before save call_refused", "after save call_refused", "before notify", "after save noted",
	"before deliver", "after deliver", "after save sent", "before save asked", "after save asked", "after save received",
	"after confirm", "after save surveyed"}

// letThroughAsAllowed checks that a refused call was made no more often than it was allowed.
func (w *world) letThroughAsAllowed(int) {
	w.t.Helper()
	allowed, made := 0, 0
	for _, q := range parse[struct{ Questions []questionView }](w.t, w.must("show", w.ps().ID, "--json")).Questions {
		if q.Kind != "refusal" {
			w.t.Errorf("a %s is asked about", q.Kind)
		}
		allowed++
	}
	for _, line := range w.conversation() {
		if strings.Contains(line, `"is_error":false`) && strings.Contains(line, `"notes`) {
			made++
		}
	}
	if made == 0 || made > allowed {
		w.t.Errorf("the call is allowed %d times, and made %d times", allowed, made)
	}
}

// bothAsk is when two subagents wait.
var bothAsk = &pass{1, "before save called", 2}

// whileReviving are the points at which a subagent is on its way back to work.
var whileReviving = []string{"after save hold_ended", "after end", "after survey", "after save background"}

// message is what the person says.
const message = "Mind the gap"

// says says something to an agent at work, until that is not killed, and then lets the work go on. What the killed one
// said may have been heard, so each is another.
func (w *world) says(run string) {
	w.t.Helper()
	for n := range 3 {
		code, stdout, stderr := w.run("attach", run, fmt.Sprintf("%s %d.", message, n))
		if code == -1 {
			continue
		}
		if code != 0 && !strings.Contains(stderr, "already ended") {
			w.t.Errorf("attach exits %d: %s%s", code, stdout, stderr)
		}
		break
	}
	w.letsGo()
}

// messageRead checks that the model has read what was said, and nothing twice. Told to a work that had to be begun anew
// it may have been said in each.
func (w *world) messageRead(kills int) {
	w.t.Helper()
	total := 0
	for n := range 3 {
		times := 0
		for _, line := range w.conversation() {
			if strings.Contains(line, fmt.Sprintf("%s %d.", message, n)) {
				times++
			}
		}
		if times > 1+kills {
			w.t.Errorf("message %d is %d times in the conversation", n, times)
		}
		total += times
	}
	if total == 0 {
		w.t.Error("nothing of what was said is in the conversation")
	}
}

// revokes takes back the rules of a run, until that is not killed, and then lets the work go on.
func (w *world) revokes(run string) {
	w.t.Helper()
	for range 3 {
		rules := w.rules(run)
		if len(rules) == 0 {
			break
		}
		if code, stdout, stderr := w.run("permissions", run, "--revoke", rules[0].Rule); code > 0 {
			w.t.Errorf("permissions exits %d: %s%s", code, stdout, stderr)
		}
	}
	w.letsGo()
}

// letsGo lets work go on that waits for the person.
func (w *world) letsGo() {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.Cwd, "go"), nil, 0o600); err != nil {
		w.t.Error(err)
	}
}

type ruleView struct{ Rule string }

// rules returns what a run lets pass.
func (w *world) rules(run string) []ruleView {
	w.t.Helper()
	return parse[struct{ Rules []ruleView }](w.t, w.must("permissions", run, "--json")).Rules
}

// partListed checks that the subagent's report is news of its part and no report of the agent's own. A part that is
// begun anew is reported again, and what was refused because the supervisor died was reported as if it were made.
func (w *world) partListed(kills int) {
	w.t.Helper()
	shown := parse[view.Details](w.t, w.must("show", w.ps().ID, "--json"))
	if len(shown.Reports) > 0 {
		w.t.Errorf("a report of the agent's own is kept: %+v", shown.Reports)
	}
	for id, a := range shown.Agents {
		parts := a.SubagentReports
		if len(parts) < 1 || len(parts) > 1+kills {
			w.t.Fatalf("the reports of the subagents of %v are kept as %+v", id, parts)
		}
		if last := parts[len(parts)-1]; !last.Checked || len(last.Missing) > 0 {
			w.t.Errorf("what a subagent of %v has made is not found: %+v", id, last)
		}
	}
}

// ruleTakenBack checks that the rule is in force no more.
func (w *world) ruleTakenBack(int) {
	w.t.Helper()
	if rules := w.rules(w.ps().ID); len(rules) > 0 {
		w.t.Errorf("the rules %v are still in force", rules)
	}
}
