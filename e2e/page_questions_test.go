package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Each kind of question on its card.

func TestAPermissionIsGivenInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks("--demo", "permission-edit", "--cwd", ".")
	c := b.card(id)
	diff := fmt.Sprintf("[...document.querySelectorAll('%s .evidence .removed, %s .evidence .added')].map(e => e.textContent.trim())",
		c.at, c.at)
	if got := eval[[]string](b, diff); !slices.Equal(got, []string{"-version=1.2", "+version=1.3"}) {
		t.Errorf("the change is shown as %q", got)
	}
	// Four buttons and a field, and nothing that is chosen before.
	form := fmt.Sprintf("[...document.querySelectorAll('%s form :is(button, input, textarea, summary)')].map("+
		"e => e.querySelector('.label')?.textContent || e.name)", c.at)
	if got := eval[[]string](b, form); !slices.Equal(got, []string{"words", "Allow", "Allow from now on", "Deny", "Deny and stop"}) {
		t.Errorf("the form has %q", got)
	}
	c.write("words", "Bash(ls)")
	c.click(c.at + ` button[value="1"]`)
	if why := c.refused(); !strings.Contains(why, "does not permit what is asked") {
		t.Errorf("another rule is refused with %q", why)
	}
	b.check("permission")
	// By keyboard: Enter in the field permits nothing, on a button it does.
	c.write("words", "")
	b.to(c.at + " textarea")
	b.do(chromedp.KeyEvent(kb.Enter))
	if open := eval[bool](b, "document.querySelector('"+c.at+":not(.closed):not([inert])') !== null"); !open {
		t.Error("Enter in the field has answered")
	}
	b.to(c.at + ` button[value="0"]`)
	b.do(chromedp.KeyEvent(kb.Enter))
	c.showsAnswer("allow")
	w.must("wait", run)
	if text, err := os.ReadFile(filepath.Join(w.Cwd, "version.txt")); err != nil || !strings.Contains(string(text), "1.3") {
		t.Errorf("the file says %s (%v)", text, err)
	}
}

func TestDelegationsAreDecidedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks("--demo", "delegate-asked", "--cwd", ".")
	c := b.card(id)
	b.check("delegation")
	c.write("words", "Write the first chapter of the manual.")
	c.give("approve", "approve Write the first chapter of the manual.")
	c = b.card(w.asksNow(run))
	c.choose("deny")
	c.press("answer")
	if why := c.refused(); why == "" {
		t.Error("a denial needs no reason")
	}
	c.write("words", "nobody looks at them")
	c.write("instead", "say in words what they would show")
	b.check("delegation-refused")
	c.give("", "deny nobody looks at them instead: say in words what they would show")
	w.must("wait", run)
	b.check("delegation-answered")
	if text, err := os.ReadFile(filepath.Join(w.Cwd, "manual.txt")); err != nil || !strings.Contains(string(text), "Chapter 1") {
		t.Errorf("the manual is %s (%v)", text, err)
	}
}

func TestABudgetIsRaisedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks("--delegate", "deny", "--max-cost-usd", "0.8", "--demo", w.scenario(dear))
	c := b.card(id)
	c.choose("raise")
	c.isNone("0.9", "is used already")
	b.check("budget")
	c.write("words", "5")
	c.give("", "raise 5")
	w.must("wait", run)
}

// survey asks everything that a form can be: several choices, a rule, one that is not required, and previews.
var survey = `
name: survey
about: questions of each form
prompt: Paint the house.
turns:
  - when: "## YOUR TASK"
    replies:
      - ` + clarifies(`
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
    text: Who pays?`) + `
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
	b, w, _ := openPage(t)
	run, _ := w.asks("--demo", w.scenario(survey))
	of := map[string]cardIn{}
	for _, q := range w.questions() {
		of[q.Question] = b.card(q.ID)
	}
	if first := eval[string](b, "document.querySelector('#cards h3').textContent"); first != "How many coats?" {
		t.Errorf("the first is %q, and not the urgent one", first)
	}
	coats := of["How many coats?"]
	coats.isNone("two", "whole number")
	b.check("several")
	coats.write("words", "2")
	coats.give("", "2")
	colours := of["Which colours?"]
	colours.press("answer")
	if why := colours.refused(); why == "" {
		t.Error("nothing is chosen")
	}
	colours.choose("red")
	colours.give("blue", "red, blue")
	next := func(below cardIn) { t.Helper(); b.until("document.activeElement.id === 'question-" + below.id + "'") }
	name, pays := of["What is the house called?"], of["Who pays?"]
	next(name)
	name.press("skip")
	if outcome, _ := name.closed(); !strings.HasPrefix(outcome, "Skipped by") {
		t.Errorf("skipped, it says %q", outcome)
	}
	next(pays)
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

// On a phone one question is open, and the others are a line each; after an answer the next one below is open.
func TestOneQuestionIsOpenOnAPhoneInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	run, _ := w.asks("--demo", w.scenario(survey))
	for _, q := range w.questions() {
		b.card(q.ID)
	}
	open := func(want string) {
		t.Helper()
		b.until(fmt.Sprintf("[...document.querySelectorAll('#cards > .card:not(.closed)')].filter(c => "+
			"c.querySelector('form.answer').checkVisibility()).map(c => c.querySelector('h3').textContent).join() === %q", want))
		lines := eval[[]float64](b, "[...document.querySelectorAll('#cards > .card:not(.closed) > .line')].filter("+
			"l => l.checkVisibility()).map(l => l.getBoundingClientRect().height)")
		left := eval[int](b, "document.querySelectorAll('#cards > .card:not(.closed)').length")
		if len(lines) != left-1 || slices.ContainsFunc(lines, func(high float64) bool { return high < 44 || high > 70 }) {
			t.Errorf("of %d questions %d are a line, with heights of %v", left, len(lines), lines)
		}
	}
	open("How many coats?")
	b.check("phone")
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	b.click(`//button[contains(@class, "line")][starts-with(., "Which colours?")]`)
	open("Which colours?")
	c := b.card(eval[string](b, "document.activeElement.dataset.id"))
	c.tap("red")
	c.showsAnswer("red")
	open("What is the house called?")
	for _, q := range w.questions() {
		w.must("answer", q.ID, "1")
	}
	w.must("wait", run)
	b.until("document.querySelectorAll('#cards > .card:not(.closed)').length === 0")
}

// What was being typed when others answered is offered as a message, over another page and a reload.
func TestWhatWasTypedIsOfferedAsAMessageInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	run, _ := w.asks("--demo", w.scenario(survey))
	of := map[string]cardIn{}
	for _, q := range w.questions() {
		of[q.Question] = b.card(q.ID)
	}
	coats, name, pays := of["How many coats?"], of["What is the house called?"], of["Who pays?"]
	typed := func(selector, want string) {
		t.Helper()
		b.until(fmt.Sprintf("document.querySelector('%s')?.checkVisibility() && document.querySelector('%s').value === %q",
			selector, selector, want))
	}
	name.write("words", "The old mill")
	coats.write("words", "3")
	goes := func(path, there string) { b.do(chromedp.Navigate(p.address+path), chromedp.WaitReady(there)) }
	goes("/runs/"+run, "#cards:not(.queue)")
	goes("/", "#cards.queue")
	typed("#words-"+name.id, "The old mill")
	w.must("answer", name.id, "Rose Hall")
	typed("#unsent-"+name.id, "The old mill")
	b.check("unsent")
	goes("/", "#cards.queue")
	typed("#unsent-"+name.id, "The old mill")
	b.click(name.at + " .unsent button:not([type])")
	b.until("document.querySelector('#told').textContent && document.querySelector('" + name.at + " .unsent').hidden")
	if told := eval[string](b, "document.querySelector('#told').textContent"); strings.Contains(told, "not sent") {
		t.Errorf("the message: %s", told)
	}

	goes("/runs", "main") // where nothing is told of questions
	w.must("answer", coats.id, "2")
	goes("/", "#cards.queue")
	typed("#unsent-"+coats.id, "3")
	b.click(coats.at + " .unsent button[type=button]")
	b.until("document.querySelector('" + coats.at + " .unsent').hidden")
	pays.write("words", "the owner")
	pays.press("answer")
	pays.showsAnswer("the owner")
	goes("/", "#cards.queue")
	b.until("!Object.keys(sessionStorage).length || document.querySelector('.unsent:not([hidden])')")
	if left := eval[[]string](b, "Object.keys(sessionStorage)"); len(left) > 0 {
		t.Errorf("what was sent or discarded is still kept: %q of %+v", left, of)
	}
}

func TestWhatWasAnsweredBeforeIsSaidAgainInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks("--demo", "ask")
	w.must("answer", id, "2")
	w.must("wait", run)
	run, id = w.asks("--demo", "ask")
	c := b.card(id)
	b.until("document.querySelector('" + c.at + " .before button')")
	b.check("before")
	if said := eval[string](b, "document.querySelector('"+c.at+" .before').textContent"); !strings.Contains(said, "as you said on") {
		t.Errorf("it is shown as %q", said)
	}
	b.click(c.at + " .before button")
	c.showsAnswer("Sessions")
	w.must("wait", run)
}

// What was chosen and not sent is there after a reload, and forgotten once it is sent.
func TestWhatWasChosenIsThereAfterAReloadInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	w.asks("--demo", w.scenario(survey))
	_, login := w.asks()
	questions := w.questions()
	colours := questions[slices.IndexFunc(questions, func(q questionView) bool { return q.Question == "Which colours?" })].ID
	b.card(login).choose("Sessions")
	c := b.card(colours)
	c.choose("red")
	c.choose("blue")
	b.do(chromedp.Navigate(p.address+"/"), chromedp.WaitReady("#cards.queue"))
	b.until("document.querySelector('#question-" + login + " :checked')?.value === '1'")
	b.until("[...document.querySelectorAll('" + c.at + " :checked')].map(e => e.value).join() === '0,2'")
	b.card(colours).give("", "red, blue")
	b.do(chromedp.Navigate(p.address+"/"), chromedp.WaitReady("#cards.queue"))
	if left := eval[[]string](b, "Object.keys(sessionStorage)"); len(left) != 1 || !strings.Contains(left[0], login) {
		t.Errorf("after the answer what is kept is %q", left)
	}
	w.must("answer", login, "JWT")
	b.until("!Object.keys(sessionStorage).length || document.querySelector('.unsent:not([hidden])')")
	if left := eval[[]string](b, "Object.keys(sessionStorage)"); len(left) > 0 {
		t.Errorf("a choice is kept though others have answered, or offered as a message: %q", left)
	}
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
          - `+clarifies(`
  - question_id: Q1
    text: "FILE is there: what becomes of it?"
    options: [overwrite it, rename it]`)+`
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
	b, w, _ := openPage(t)
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
