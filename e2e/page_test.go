package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The page in a real browser, with runs of the stand-in behind it. All of these have InABrowser in their names: make
// page runs them.

// asks starts a run that asks, and gives its id and its first question's.
func (w *world) asks(args ...string) (run, question string) {
	w.t.Helper()
	if len(args) == 0 {
		args = []string{"--demo", "ask"}
	}
	run = strings.TrimSpace(w.must(append(append([]string{"run"}, args...), "--detach")...))
	return run, w.asksNow(run)
}

// asksNow waits until a run asks, and gives its first question's id.
func (w *world) asksNow(run string) string {
	w.t.Helper()
	w.must("wait", "--question", run)
	for _, q := range w.questions() {
		if q.Run == run {
			return q.ID
		}
	}
	w.t.Fatal("it asks nothing")
	return ""
}

func TestThePageInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	b.do(chromedp.Navigate(p.address + "/"))
	if !eval[bool](b, "document.body.innerText.includes('needs the token')") {
		t.Error("who has no token is not told of it")
	}
	b.check("login")
	b.do(chromedp.Navigate(p.address+"/?token=wrong"), chromedp.WaitReady("#token"), fill("#token", p.token))
	b.click("button")
	b.do(chromedp.WaitReady("#cards"))
	b.opens(p)
	b.check("nothing")

	// It asks, the card appears; it is answered by mouse.
	run, id := w.asks()
	b.until("document.title === '(1) claude-supervise'")
	c := b.card(id)
	b.check("asked")
	c.choose("Sessions")
	c.press("answer")
	if outcome, reply := c.closed(); reply != "Sessions" || !strings.Contains(outcome, "by the page") {
		t.Errorf("the mouse has answered %q: %s", reply, outcome)
	}
	b.until("document.title === 'claude-supervise'")
	w.must("wait", run)
	b.check("answered")

	// By keyboard alone; what does not fit is said beside the field.
	run, id = w.asks()
	c = b.card(id)
	b.to(c.at + " textarea[name=words]")
	b.do(chromedp.KeyEvent("7"))
	b.to(c.at + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	if why := c.refused(); !strings.Contains(why, "none of the options") {
		t.Errorf("what does not fit is refused with %q", why)
	}
	b.check("refused")
	b.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s textarea[name=words]').select()", c.at), nil),
		chromedp.KeyEvent("a magic link"))
	b.to(c.at + " textarea[name=words]")
	b.to(c.at + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	if _, reply := c.closed(); reply != "a magic link" {
		t.Errorf("the keyboard has answered %q", reply)
	}
	w.must("wait", run)

	// By thumb at 360 px.
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	run, id = w.asks()
	c = b.card(id)
	for _, e := range []string{".option", "button", "summary", "a"} {
		if small := eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll('%s %s')].filter(e => e.offsetParent && "+
			"e.getBoundingClientRect().height < %d).map(e => e.outerHTML)", c.at, e, map[bool]int{true: 24, false: 44}[e == "a"])); len(small) > 0 {
			t.Errorf("too small for a thumb: %s", small)
		}
	}
	c.choose("JWT")
	c.press("answer")
	c.closed()
	w.must("wait", run)
	b.do(chromedp.EmulateViewport(1440, 800))

	// Two browsers answer at once: both see whose answer stands.
	other := b.tab()
	other.do(chromedp.Navigate(p.address + "/"))
	run, id = w.asks()
	both := []cardIn{b.card(id), other.card(id)}
	for i, each := range both {
		each.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s input[value=\"%d\"]').checked = true", each.at, i), nil))
	}
	for _, each := range slices.Backward(both) {
		each.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s button[value=answer]')?.click()", each.at), nil))
	}
	var seen []string
	for _, each := range both {
		_, reply := each.closed()
		seen = append(seen, reply)
	}
	if seen[0] != seen[1] || seen[0] == "" {
		t.Errorf("one sees %q, the other %q", seen[0], seen[1])
	}
	w.must("wait", run)
	b.do(page.BringToFront()) // nothing is drawn behind another

	// The server is killed, and comes back: the page goes on, with its draft.
	_, id = w.asks()
	c = b.card(id)
	c.write("words", "a draft")
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
	c.press("answer")
	b.until("document.querySelector('#told.wrong')?.textContent.includes('not sent')")
	b.check("server-gone")
	p = w.serve("--listen", strings.TrimPrefix(p.address, "http://"))
	_, later := w.asks()
	b.until(fmt.Sprintf("document.querySelector('#question-%s')", later))
	if draft := eval[string](b, fmt.Sprintf("document.querySelector('#words-%s').value", id)); draft != "a draft" {
		t.Errorf("the draft is %q", draft)
	}

	// Without script all is done by forms, as well.
	b.withoutScript(p, "/")
	c = cardIn{b, id, "#question-" + id}
	c.choose("JWT")
	c.press("answer")
	b.do(chromedp.WaitVisible(c.at+".closed", chromedp.ByQuery))
	b.check("answered-without-script")
	b.click("#question-" + later + " button[value=answer]")
	b.do(chromedp.WaitVisible("#question-"+later+" [role=alert]", chromedp.ByQuery))
	b.check("refused-without-script")

	// The other pages.
	agent := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].Agents[0].ID
	for name, path := range map[string]string{"past": "/runs", "run": "/runs/" + run, "agent": "/agents/" + agent,
		"question": "/questions/" + later, "missing": "/questions/q-none"} {
		b.do(network.SetBlockedURLs([]string{}), chromedp.Navigate(p.address+path), chromedp.WaitReady("main"))
		b.check(name)
	}
}

// withoutScript opens a page whose script does not come.
func (b *browser) withoutScript(p *servedPage, path string) {
	b.t.Helper()
	b.do(network.Enable(), network.SetBlockedURLs([]string{"*page.js"}), chromedp.Navigate(p.address+path),
		chromedp.WaitReady("main"))
}

func TestAPermissionIsGivenInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run, id := w.asks("--demo", "permission-edit", "--cwd", ".")
	c := b.card(id)
	diff := fmt.Sprintf("[...document.querySelectorAll('%s .evidence .removed, %s .evidence .added')].map(e => e.textContent.trim())",
		c.at, c.at)
	if got := eval[[]string](b, diff); !slices.Equal(got, []string{"-version=1.2", "+version=1.3"}) {
		t.Errorf("the change is shown as %q", got)
	}
	c.press("answer")
	if why := c.refused(); !strings.Contains(why, "choose one") {
		t.Errorf("nothing was chosen, and it says %q", why)
	}
	b.check("permission")
	// By keyboard: nothing was chosen before, and Space chooses.
	b.to(c.at + ` input[name="option"]`)
	b.do(chromedp.KeyEvent(" "))
	b.to(c.at + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	if _, reply := c.closed(); reply != "allow" {
		t.Errorf("it is answered %q", reply)
	}
	w.must("wait", run)
	if text, err := os.ReadFile(filepath.Join(w.cwd, "version.txt")); err != nil || !strings.Contains(string(text), "1.3") {
		t.Errorf("the file says %s (%v)", text, err)
	}
}

func TestTheReportOfARunIsLiveInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run, id := w.asks("--demo", "permission-edit", "--cwd", ".")
	b.card(id)
	b.click(`//a[starts-with(., "Report")]`)
	b.do(chromedp.WaitReady("#report #" + id))
	b.check("report-asks")
	b.to("#" + id + " summary")
	b.do(chromedp.KeyEvent(kb.Enter))

	w.must("answer", id, "allow")
	w.must("wait", run)
	b.until(fmt.Sprintf("document.querySelector('#%s .answer').textContent === 'allow'", id))
	b.until("document.querySelector('#report strong').textContent === 'succeeded'")
	if !eval[bool](b, fmt.Sprintf("document.activeElement.matches('#%[1]s summary') && document.querySelector('#%[1]s details').open", id)) {
		t.Error("what was unfolded, and had the focus, is not as it was")
	}
	b.check("report")
}

func TestDelegationsAreDecidedInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run, id := w.asks("--demo", "delegate-asked", "--cwd", ".")
	c := b.card(id)
	b.check("delegation")
	c.choose("approve")
	c.write("words", "Write the first chapter of the manual.")
	c.press("answer")
	if _, reply := c.closed(); reply != "approve Write the first chapter of the manual." {
		t.Errorf("the first is answered %q", reply)
	}
	c = b.card(w.asksNow(run))
	c.choose("deny")
	c.press("answer")
	if why := c.refused(); why == "" {
		t.Error("a denial needs no reason")
	}
	c.write("words", "nobody looks at them")
	c.write("instead", "say in words what they would show")
	b.check("delegation-refused")
	c.press("answer")
	if _, reply := c.closed(); reply != "deny nobody looks at them instead: say in words what they would show" {
		t.Errorf("the second is answered %q", reply)
	}
	w.must("wait", run)
	b.check("delegation-answered")
	if text, err := os.ReadFile(filepath.Join(w.cwd, "manual.txt")); err != nil || !strings.Contains(string(text), "Chapter 1") {
		t.Errorf("the manual is %s (%v)", text, err)
	}
}

func TestABudgetIsRaisedInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run, id := w.asks("--delegate", "deny", "--max-cost-usd", "0.8", "--demo", w.scenario(dear))
	c := b.card(id)
	c.choose("raise")
	c.write("words", "0.9")
	c.press("answer")
	if why := c.refused(); !strings.Contains(why, "is used already") {
		t.Errorf("a bound that is used already is refused with %q", why)
	}
	b.check("budget")
	c.write("words", "5")
	c.press("answer")
	if _, reply := c.closed(); reply != "raise 5" {
		t.Errorf("it is answered %q", reply)
	}
	w.must("wait", run)
}

// survey asks everything that a form can be: several choices, a rule, one that is not required, and previews.
const survey = `
name: survey
about: questions of each form
prompt: Paint the house.
turns:
  - when: "## YOUR TASK"
    replies:
      - text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          blocked_at: painting
          reason: the house is yours
          questions:
            - question_id: Q1
              header: Colours
              text: Which colours?
              multi_select: true
              options: [red, green, blue]
            - question_id: Q2
              text: How many coats?
              validate: integer
              urgent: true
            - question_id: Q3
              text: What is the house called?
              context: I can find a name myself.
              required: false
            - question_id: Q4
              text: Who pays?
          can_resume_with: the answers
          current_state: nothing is painted
          [/CLARIFICATION_NEEDED]
  - when: "## CLARIFICATION RESPONSE"
    replies:
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          summary: "{{A1}} {{A2}}"
          [/COMPLETION_REPORT]
expect:
  status: succeeded
`

func TestEachFormOfAQuestionInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run, _ := w.asks("--demo", w.scenario(survey))
	of := map[string]cardIn{}
	for _, q := range w.questions() {
		of[q.Question] = b.card(q.ID)
	}
	if first := eval[string](b, "document.querySelector('#cards h3').textContent"); first != "How many coats?" {
		t.Errorf("the first is %q, and not the urgent one", first)
	}
	coats := of["How many coats?"]
	coats.write("words", "two")
	coats.press("answer")
	if why := coats.refused(); !strings.Contains(why, "whole number") {
		t.Errorf("no number is refused with %q", why)
	}
	b.check("several")
	coats.write("words", "2")
	coats.press("answer")
	coats.closed()
	colours := of["Which colours?"]
	colours.press("answer")
	if why := colours.refused(); why == "" {
		t.Error("nothing is chosen")
	}
	colours.choose("red")
	colours.choose("blue")
	colours.press("answer")
	if _, reply := colours.closed(); reply != "red, blue" {
		t.Errorf("the colours are %q", reply)
	}
	name := of["What is the house called?"]
	name.press("skip")
	if outcome, _ := name.closed(); !strings.HasPrefix(outcome, "Skipped by") {
		t.Errorf("skipped, it says %q", outcome)
	}
	pays := of["Who pays?"]
	b.click(pays.at + " summary")
	pays.write("why", "nobody yet")
	b.check("decline")
	pays.press("decline")
	if outcome, reply := pays.closed(); !strings.HasPrefix(outcome, "Declined by") || reply != "nobody yet" {
		t.Errorf("declined, it says %q, %q", outcome, reply)
	}
	w.must("wait", run)
	b.check("several-answered")
}

// together is three agents that ask the same of different things.
func together() string {
	text := "name: together\nabout: agents that ask the same\nprompt: Convert all.\nturns:\n" +
		"  - when: \"## YOUR TASK\"\n    replies: [{text: played by nobody}]\nchildren:\n"
	for _, file := range []string{"a.txt", "b.txt", "c.txt"} {
		text += strings.ReplaceAll(`  - task: Convert FILE
    turns:
      - when: "## YOUR TASK"
        replies:
          - text: |-
              [CLARIFICATION_NEEDED]
              agent_id: {{agent}}
              timestamp: 2026-01-11T08:45:00Z
              blocked_at: reading FILE
              reason: it cannot be taken back
              questions:
                - question_id: Q1
                  text: "FILE is there: what becomes of it?"
                  options: [overwrite it, rename it]
              can_resume_with: the choice
              current_state: nothing is written
              [/CLARIFICATION_NEEDED]
      - when: "## CLARIFICATION RESPONSE"
        replies:
          - text: |-
              [COMPLETION_REPORT]
              agent_id: {{agent}}
              timestamp: 2026-01-11T12:00:00Z
              status: success
              summary: "{{A1}}"
              [/COMPLETION_REPORT]
`, "FILE", file)
	}
	return text + "expect:\n  status: succeeded\n"
}

func TestAllThatAreAlikeAreAnsweredAtOnceInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	run := strings.TrimSpace(w.must("run", "--each", `printf '%s\n' a.txt b.txt c.txt`, "Convert {item}", "--demo",
		w.scenario(together()), "--detach"))
	b.until("document.querySelectorAll('#cards > .card:not([inert])').length === 3")
	b.check("alike")
	c := b.card(eval[string](b, "document.querySelector('#cards > .card').dataset.id"))
	c.choose("rename it")
	c.choose("Also for all")
	c.press("answer")
	b.until("document.querySelectorAll('#cards > .card.closed').length === 3")
	replies := eval[[]string](b, "[...document.querySelectorAll('#cards .reply')].map(e => e.textContent)")
	if !slices.Equal(replies, []string{"rename it", "rename it", "rename it"}) {
		t.Errorf("they are answered %q", replies)
	}
	w.must("wait", run)
}

func TestRunsAreStartedResumedToldAndStoppedInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	agent := filepath.Join(w.home, "claude")
	if err := os.WriteFile(agent, []byte("#!/bin/sh\nexec "+program+" stand-in ask \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "CLAUDE_SUPERVISE_CLAUDE="+agent)
	p := w.serve("--listen", "127.0.0.1:0", "--folder", w.cwd)
	b.opens(p)

	b.click(`//a[.="Start a run"]`)
	b.do(chromedp.WaitReady("#prompt"))
	b.check("start")
	b.do(fill("#below", "none"), fill("#prompt", load(t, "ask").Prompt))
	b.click(`//button[.="Start"]`)
	b.do(chromedp.WaitVisible("[role=alert]"))
	b.check("start-refused")
	if prompt := eval[string](b, "document.querySelector('#prompt').value"); !strings.HasPrefix(prompt, "Add a login") {
		t.Errorf("the prompt that was written is %q now", prompt)
	}
	if wrong := eval[string](b, "[...document.querySelectorAll('[aria-invalid]')].map(e => e.id).join()"); wrong != "below" {
		t.Errorf("marked as wrong is %q", wrong)
	}
	b.do(fill("#below", ""), fill("#name", "login"))
	b.click(`//button[.="Start"]`)
	b.do(chromedp.WaitReady("#runs .run"))
	run := strings.TrimPrefix(eval[string](b, "location.pathname"), "/runs/")
	c := b.card(w.asksNow(run)) // by itself, on the page of the run
	b.check("run-asks")

	// Its supervisor is killed: the run is left, and goes on by a button. Its agent can be told something.
	b.to("form[action$=stop] button") // and has it when the card is drawn anew
	pid := w.ps().SupervisorPID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.until("document.querySelector('.status.orphaned')")
	if !eval[bool](b, "document.activeElement.matches('form[action$=stop] button')") {
		t.Error("the button that had the focus has it no more")
	}
	b.check("orphaned")
	b.click(`//button[starts-with(., "Resume")]`)
	b.until("document.querySelector('#told').textContent.includes('goes on in the background')")
	b.until("!document.querySelector('.status.orphaned') && !document.querySelector('form[action$=resume]')")
	b.click("#runs .tree a")
	b.do(chromedp.WaitReady("#message"), fill("#message", "Mind the tests."))
	b.click(`//button[.="Send"]`)
	b.until("document.querySelector('#told').textContent && document.querySelector('#message').value === ''")
	if eval[bool](b, "document.querySelector('#told').matches('.wrong')") {
		t.Errorf("the message is refused: %s", eval[string](b, "document.querySelector('#told').textContent"))
	}
	b.check("agent-waits")

	// Stopping is asked again: by a window, and without script by a page.
	asked := b.says(false)
	b.click(`//button[starts-with(., "Stop")]`)
	if text := <-asked; !strings.Contains(text, "Its process is ended") {
		t.Errorf("it is asked again by %q", text)
	}
	if status := w.ps().Status; status == "stopped" {
		t.Error("it was not to be stopped, and is")
	}
	b.withoutScript(p, "/runs/"+run)
	b.click(`//button[starts-with(., "Stop")]`)
	b.do(chromedp.WaitVisible("button.danger"))
	b.check("sure")
	b.click(`//a[.="Leave it be"]`)
	b.do(chromedp.WaitReady(c.at))
	b.click(`//button[starts-with(., "Stop")]`)
	b.do(chromedp.WaitVisible("button.danger"))
	b.click("button.danger")
	b.do(chromedp.WaitVisible(`//h1[.="Done"]`))
	b.check("done")
	if status := w.ps().Status; status != "stopped" {
		t.Errorf("it is %s", status)
	}

	// With script, yes in the window stops it.
	run, _ = w.asks()
	b.do(network.SetBlockedURLs([]string{}), chromedp.Navigate(p.address+"/runs/"+run), chromedp.WaitReady("#runs .run"))
	b.says(true)
	b.click(`//button[starts-with(., "Stop")]`)
	b.until("document.querySelector('.run.ended .status.stopped')")
	b.check("stopped")

	// An answer that has not reached its agent is changed.
	run, id := w.asks()
	runs := w.runs()
	at := slices.IndexFunc(runs, func(v runView) bool { return v.ID == run })
	if err := syscall.Kill(runs[at].SupervisorPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.Navigate(p.address+"/runs/"+run), chromedp.WaitReady("#runs .run"))
	c = b.card(id)
	c.choose("JWT")
	c.press("answer")
	c.closed()
	b.click(c.at + " summary")
	b.check("change")
	c.write("words", "a magic link")
	c.press("answer")
	b.until(fmt.Sprintf("document.querySelector('%s .reply')?.textContent === 'a magic link'", c.at))
}
