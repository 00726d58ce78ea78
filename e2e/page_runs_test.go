package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Runs on the page: their start, their report, what goes on, and their end.

func TestTheReportOfARunIsLiveInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
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

func TestARunIsStartedInABrowser(t *testing.T) {
	t.Parallel()
	w := newWorld(t).asksAsClaude()
	b := newBrowser(t)
	b.opens(w.serve("--listen", "127.0.0.1:0", "--folder", w.Cwd))
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
	if wrong := eval[string](b, "[...document.querySelectorAll('[aria-invalid]')].map(e => e.id + ' ' + e.nextElementSibling.role).join()"); wrong != "below alert" {
		t.Errorf("marked as wrong, with the reason beside it, is %q", wrong)
	}
	b.do(fill("#below", ""), fill("#name", "login"))
	b.click(`//button[.="Start"]`)
	b.do(chromedp.WaitReady("#runs .run"))
	run := strings.TrimPrefix(eval[string](b, "location.pathname"), "/runs/")
	b.card(w.asksNow(run)) // by itself, on the page of the run
	b.check("run-asks")
}

// A run is called by its name, or by its task, wherever it is; its id is on its own page, and on the links to it.
func TestRunsAreCalledByNameOrTaskInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	run, id := w.asks()
	b.card(id)
	task, _, _ := strings.Cut(load(t, "ask").Prompt, "\n")
	called := eval[string](b, "document.querySelector('#run-"+run+" h3').textContent")
	if start, cut := strings.CutSuffix(called, "…"); !strings.HasPrefix(task, start) || !cut && called != task {
		t.Errorf("it is called %q, and its task is %q", called, task)
	}
	byID := func(where string) {
		t.Helper()
		if text := eval[string](b, "document.title + document.querySelector('main').innerText"); strings.Contains(text, run) ||
			strings.Contains(text, id) || !strings.Contains(text, called) {
			t.Errorf("%s is called by its id:\n%s", where, text)
		}
	}
	byID("the first page")
	b.click(fmt.Sprintf("%s .meta a[title=%s]", b.card(id).at, run))
	b.do(chromedp.WaitReady("#runs #run-" + run))
	if head := eval[string](b, "document.querySelector('h1').textContent + document.querySelector('h1 + .meta').textContent"); head !=
		called+"run "+run {
		t.Errorf("its page is headed %q", head)
	}
	w.must("answer", id, "JWT")
	w.must("wait", run)
	b.do(chromedp.Navigate(p.address+"/runs"), chromedp.WaitReady("#runs .run"))
	byID("a past run")
}

// A wide window has the questions on the left, and the runs, the log or the change on the right; drafts stay meanwhile.
func TestAWideWindowHasTwoColumnsInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks("--demo", "permission-edit", "--cwd", ".")
	c := b.card(id)
	beside := func() bool {
		return eval[bool](b, "document.querySelector('#cards').getBoundingClientRect().right < "+
			"document.querySelector('#view-runs').getBoundingClientRect().left")
	}
	for _, width := range []int64{1099, 1100, 1440} { // ends wide
		b.do(chromedp.EmulateViewport(width, 800))
		if two := width >= 1100; beside() != two {
			t.Errorf("at %d px two columns are %t", width, !two)
		}
	}
	c.write("words", "a draft")
	b.until("document.querySelector('#run-" + run + ".looked-at')")
	b.click("#tab-change")
	b.until("document.querySelectorAll('#view-change .added').length === 1")
	headings := "[...document.querySelectorAll('#view-change h2')].map(e => e.textContent).join(', ')"
	b.until(headings + " === 'What it asks to change, What the run has changed'")
	if made := eval[string](b, "document.querySelector('#view-change .made').textContent"); !strings.Contains(made, "Nothing was changed") {
		t.Errorf("before it is permitted the run has changed %q", made)
	}
	b.check("beside-change")
	b.do(chromedp.Focus("#tab-change", chromedp.ByQuery), chromedp.KeyEvent(kb.ArrowLeft))
	b.until("document.querySelector('#view-log .log p')")
	b.check("beside-log")
	if draft := eval[string](b, "document.querySelector('#words-"+id+"').value"); draft != "a draft" {
		t.Errorf("the draft is %q", draft)
	}
	before := eval[int](b, "document.querySelectorAll('#view-log .log p').length")
	w.must("answer", id, "allow")
	b.until(fmt.Sprintf("document.querySelectorAll('#view-log .log p').length > %d", before))
	w.must("wait", run)
	b.click("#tab-runs")
	b.do(chromedp.Focus("#run-"+run, chromedp.ByQuery), chromedp.KeyEvent("d"))
	b.until(headings + " === 'What the run has changed' && document.querySelector('#view-change .added')?.textContent === '+version=1.3\\n'")
	b.do(chromedp.KeyEvent("t"))
	b.until("document.querySelector('#tab-runs[aria-selected=true]')")
	b.do(chromedp.EmulateViewport(768, 800), chromedp.KeyEvent("d"), chromedp.WaitReady(`//h1[starts-with(., "Changes of ")]`))
	b.check("changes")
}

// Whoever comes back to the page is told what has happened meanwhile, once.
func TestWhoComesBackIsToldWhatHasHappenedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	_, id := w.asks()
	b.card(id)
	b.do(chromedp.Navigate(p.address+"/"), chromedp.WaitReady("#cards"), chromedp.Evaluate("new Promise(is => "+
		"new PerformanceObserver(l => { if (l.getEntries().some(e => e.name.endsWith('/look'))) is(1); })"+
		".observe({type: 'resource', buffered: true})).then(() => 1)", nil, awaited))
	looked := filepath.Join(w.Dirs.State, "looked")
	before := time.Now().Add(-time.Hour)
	noError(t, os.Chtimes(looked, before, before))
	b.do(chromedp.Navigate(p.address + "/"))
	b.until(`/^Since .*\d\d:\d\d: 1 waits$/.test(document.querySelector("#away:not([hidden])")?.textContent)`)
	b.check("away")
}

// A past run has what it has reported, and is found by words and by its end.
func TestPastRunsAreFoundInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	for _, demo := range []string{"work", "failed-report"} {
		w.run("run", "--demo", demo, "--name", "the "+demo)
	}
	b.do(chromedp.Navigate(p.address + "/"))
	b.click(`//a[.="Past runs"]`)
	b.do(chromedp.WaitReady("#find"))
	shown := func(want ...string) {
		t.Helper()
		if got := eval[[]string](b, "[...document.querySelectorAll('#runs h3')].map(e => e.textContent)"); !slices.Equal(got, want) {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
	shown("the failed-report", "the work")
	if summaries := eval[[]string](b, "[...document.querySelectorAll('#runs .summary')].map(e => e.textContent.trim())"); len(
		summaries) != 2 || slices.Contains(summaries, "") {
		t.Errorf("the summaries are %q", summaries)
	}
	b.check("past-runs")
	find := func(words, end string) {
		t.Helper()
		b.do(fill("#find", words), chromedp.SetValue("#end", end, chromedp.ByQuery))
		_, err := chromedp.RunResponse(b.ctx, chromedp.Click(`//button[.="Find"]`, chromedp.BySearch)) // until the next page is there
		noError(t, err)
	}
	find("WORK", "")
	shown("the work")
	find("the", "failed")
	shown("the failed-report")
	find("work", "failed")
	shown()
	b.check("past-none")
	if kept := eval[string](b, "document.querySelector('#find').value + document.querySelector('#end').value"); kept != "workfailed" {
		t.Errorf("what was looked for is %q", kept)
	}
	find("", "")
	if again := eval[int](b, "document.querySelectorAll('#runs form[action$=retry]').length"); again != 1 {
		t.Errorf("%d runs have what can be tried again", again)
	}
	b.do(chromedp.KeyEvent("G"))
	asked := b.says(true)
	b.do(chromedp.KeyEvent("p"))
	if asked := <-asked; !strings.HasPrefix(asked, "Delete the records of the work?") {
		t.Errorf("p asks %q", asked)
	}
	b.until("document.querySelectorAll('#runs > .run').length === 1")
	if left := w.runs(); len(left) != 1 || left[0].Status != "failed" {
		t.Errorf("%+v are left", left)
	}
}

// asksAsClaude makes the stand-in the program that runs start.
func (w *world) asksAsClaude() *world {
	w.t.Helper()
	agent := filepath.Join(w.Home, "claude")
	noError(w.t, os.WriteFile(agent, []byte("#!/bin/sh\nexec "+program+" stand-in ask \"$@\"\n"), 0o700))
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+agent)
	return w
}

// leave kills the supervisor of a run: the run is left.
func (w *world) leave(run string) {
	w.t.Helper()
	runs := w.runs()
	at := slices.IndexFunc(runs, func(v runView) bool { return v.ID == run })
	noError(w.t, syscall.Kill(runs[at].SupervisorPID, syscall.SIGKILL))
}

// A run that is left goes on by a button. Its agent can be told something.
func TestARunThatIsLeftIsResumedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, _ := w.asks()
	b.do(chromedp.WaitReady("#run-" + run))
	b.to("form[action$=stop] button") // and has it when the card is drawn anew
	w.leave(run)
	b.until("document.querySelector('.status.orphaned')")
	if !eval[bool](b, "document.activeElement.matches('form[action$=stop] button')") {
		t.Error("the button that had the focus has it no more")
	}
	b.check("orphaned")
	if text := eval[string](b, "document.querySelector('main').innerText"); strings.Contains(text, "claude-supervise") ||
		!strings.Contains(text, "its supervisor is gone. Resume continues it.") {
		t.Errorf("the page says what is typed on a terminal:\n%s", text)
	}
	b.click(`//button[starts-with(., "Resume")]`)
	b.until("document.querySelector('#told').textContent.includes('continues in the background')")
	b.until("!document.querySelector('.status.orphaned') && !document.querySelector('form[action$=resume]')")
	b.until("document.querySelector('#runs .status.parked')") // it stays so: what is pressed does not move away
	b.click(`//*[@id="runs"]//a[starts-with(., "Log")]`)
	b.do(chromedp.WaitReady("#message"), fill("#message", "Mind the tests."))
	b.click(`//button[.="Send"]`)
	b.until("document.querySelector('#told').textContent && document.querySelector('#message').value === ''")
	if eval[bool](b, "document.querySelector('#told').matches('.wrong')") {
		t.Errorf("the message is refused: %s", eval[string](b, "document.querySelector('#told').textContent"))
	}
	b.check("agent-waits")
}

// Stopping is asked again, in the words of the command: by a window, and without script by a page.
func TestARunIsStoppedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	run, id := w.asks()
	b.card(id)
	asked := b.says(false)
	b.click(`//button[starts-with(., "Stop")]`)
	if _, what, _ := strings.Cut(<-asked, "? "); what == "" || !strings.Contains(w.must("help", "stop"), what) {
		t.Errorf("it is asked again by %q, which are not the words of the command", what)
	}
	if status := w.ps().Status; status == "stopped" {
		t.Error("it was not to be stopped, and is")
	}
	b.withoutScript(p, "/runs/"+run)
	b.click(`//button[starts-with(., "Stop")]`)
	b.do(chromedp.WaitVisible("button.danger"))
	b.check("sure")
	b.click(`//a[.="Cancel"]`)
	b.do(chromedp.WaitReady("#question-" + id))
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
}

func TestAnAnswerThatHasNotReachedItsAgentIsChangedInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks()
	w.leave(run)
	c := b.card(id)
	c.give("JWT", "JWT")
	b.until(fmt.Sprintf("document.querySelector('%s form[action$=resume]')", c.at))
	b.click(c.at + " summary")
	b.check("changes")
	c.write("words", "a magic link")
	c.press("answer")
	b.until(fmt.Sprintf("document.querySelector('%s .reply')?.textContent === 'a magic link'", c.at))
}
