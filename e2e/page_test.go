package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
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

func TestTheTokenIsAskedForInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	b.do(chromedp.Navigate(p.address + "/"))
	if !eval[bool](b, "document.body.innerText.includes('needs the token')") {
		t.Error("who has no token is not told of it")
	}
	b.check("login")
	if eval[bool](b, "document.querySelector('[role=alert]') !== null") {
		t.Error("who has sent no token is told that it is wrong")
	}
	b.do(chromedp.Navigate(p.address+"/?token=wrong"), chromedp.WaitReady("#token"))
	if !eval[bool](b, "document.querySelector('[role=alert]').textContent.includes('token is wrong') && "+
		"document.activeElement.matches('#token[aria-invalid][aria-describedby=error]')") {
		t.Error("a wrong token is not told of")
	}
	b.check("login-wrong")
	b.do(fill("#token", p.token))
	b.click("button")
	b.do(chromedp.WaitReady("#cards"))
	b.check("nothing")
}

// A run asks, the card appears; it is answered by mouse, by keyboard alone, and by thumb.
func TestAQuestionIsAnsweredInABrowser(t *testing.T) {
	t.Parallel()
	b, w, _ := openPage(t)
	run, id := w.asks()
	b.until("document.title === '(1) claude-supervise' && document.querySelector('#icon').href.endsWith('?n=1')")
	c := b.card(id)
	b.check("asked")
	c.choose("Sessions")
	c.press("answer")
	if outcome, reply := c.closed(); reply != "Sessions" || !strings.Contains(outcome, "by the page") {
		t.Errorf("the mouse has answered %q: %s", reply, outcome)
	}
	b.until("document.title === 'claude-supervise' && document.querySelector('#icon').href.endsWith('?n=0')")
	w.must("wait", run)
	b.check("answered")

	// By keyboard; what does not fit is said beside the field.
	run, id = w.asks()
	c = b.card(id)
	b.to(c.at + " textarea[name=words]")
	b.do(chromedp.KeyEvent("7"))
	b.to(c.at + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	if why := c.refused(); !strings.Contains(why, "not one of the options") {
		t.Errorf("what does not fit is refused with %q", why)
	}
	b.check("refused")
	b.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s textarea[name=words]').select()", c.at), nil),
		chromedp.KeyEvent("a magic link"))
	b.to(c.at + " textarea[name=words]")
	b.to(c.at + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	c.showsAnswer("a magic link")
	w.must("wait", run)

	// By thumb at 360 px.
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	run, id = w.asks()
	c = b.card(id)
	for e, least := range map[string]int{".option": 44, "button": 44, "summary": 44, "a": 24} {
		if small := eval[[]string](b, fmt.Sprintf("[...document.querySelectorAll('%s %s')].filter(e => e.offsetParent && "+
			"e.getBoundingClientRect().height < %d).map(e => e.outerHTML)", c.at, e, least)); len(small) > 0 {
			t.Errorf("too small for a thumb: %s", small)
		}
	}
	c.tap("JWT")
	c.showsAnswer("JWT")
	w.must("wait", run)
}

// Two browsers answer at once: both see whose answer stands.
func TestTwoWhoAnswerAtOnceInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	other := b.tab()
	other.do(chromedp.Navigate(p.address + "/"))
	run, id := w.asks()
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
}

// The server is killed, and comes back: the page goes on, with its draft. So it does where the database was away.
func TestTheServerIsKilledAndComesBackInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	_, id := w.asks()
	c := b.card(id)
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
	database := filepath.Join(w.stateFolder(), "state.db")
	noError(t, os.Rename(database, database+".away"))
	b.until("document.querySelector('#problems').textContent.includes('put it back')")
	b.check("database-gone")
	noError(t, os.Rename(database+".away", database))
	b.until("document.querySelector('#problems').textContent === ''")

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
	runs := parse[[]runView](t, w.must("ps", "-a", "--json"))
	for name, path := range map[string]string{"past": "/runs", "run": "/runs/" + runs[0].ID,
		"agent": "/agents/" + runs[0].Agents[0].ID, "question": "/questions/" + later, "missing": "/questions/q-none"} {
		b.do(network.SetBlockedURLs([]string{}), chromedp.Navigate(p.address+path), chromedp.WaitReady("main"))
		b.check(name)
	}
}

// A browser takes the page for one that can be installed.
func TestThePageCanBeInstalledFromABrowser(t *testing.T) {
	t.Parallel()
	b, _, _ := openPage(t)
	var problems []*page.InstallabilityError
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		problems, err = page.GetInstallabilityErrors().Do(ctx)
		return err
	}))
	for _, p := range problems {
		t.Errorf("it cannot be: %s %v", p.ErrorID, p.ErrorArguments)
	}
}

// The icon of the installed page has the number of open questions, by the look at the page and by each change of it.
func TestTheBadgeOfTheInstalledPageCountsInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	_, id := w.asks()
	b.onEachPage("window.badges = []; navigator.setAppBadge = async (n) => { badges.push(n); };")
	b.do(chromedp.Navigate(p.address + "/"))
	b.until("document.querySelector('#token')")
	if counts := eval[[]int](b, "badges"); len(counts) > 0 {
		t.Errorf("without the token it counts %d", counts)
	}
	b.opens(p)
	b.until("badges[0] === 1")
	w.must("answer", id, "JWT")
	b.until("badges.at(-1) === 0")
	_, _ = w.asks()
	b.until("badges.at(-1) === 1")
}

// A time is told by how long ago it was, and goes on by itself; by the clock it is its title.
func TestTimesGoOnInABrowser(t *testing.T) {
	t.Parallel()
	b, w := newBrowser(t), newWorld(t)
	b.onEachPage("const real = Date.now, every = setInterval; window.ticks = []; " +
		"Date.now = () => window.fixed ?? real(); " +
		"window.setInterval = (f, ms) => { ticks.push(f); return every(f, ms); };")
	b.opens(w.serve("--listen", "127.0.0.1:0"))
	_, id := w.asks()
	b.card(id)
	byClock := eval[string](b, "document.querySelector('#cards time').title")
	for minutes, want := range map[int]string{0: "just now", 5: "5 min. ago", 185: "3 hr. ago", 3 * 24 * 60: byClock} {
		said := eval[[]string](b, fmt.Sprintf("(times => { fixed = Date.parse(times[0].dateTime) + %d * 60000; "+
			"ticks.forEach(tick => tick()); return [times[0].textContent, times[0].title]; })("+
			"document.querySelectorAll('#cards time'))", minutes))
		if !slices.Equal(said, []string{want, byClock}) {
			t.Errorf("%d minutes after it was asked it says %q, not %q", minutes, said, want)
		}
	}
}

// onEachPage has the browser run a script before those of each page.
func (b *browser) onEachPage(script string) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// withoutScript opens a page whose script does not come.
func (b *browser) withoutScript(p *servedPage, path string) {
	b.t.Helper()
	b.do(network.Enable(), network.SetBlockedURLs([]string{"*page.js"}), chromedp.Navigate(p.address+path),
		chromedp.WaitReady("main"))
}

// The keys are those of the board, for whoever is in no field.
func TestThePageHasTheKeysOfTheBoardInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	var runs []string
	var cards []cardIn
	for range 2 {
		run, id := w.asks()
		runs, cards = append(runs, run), append(cards, b.card(id))
	}
	press := func(keys string) { t.Helper(); b.do(chromedp.KeyEvent(keys)) }
	at := func(want, after string) {
		t.Helper()
		if id := eval[string](b, "document.activeElement.closest('[id]').id"); id != want {
			t.Errorf("after %s the focus is in %s, not in %s", after, id, want)
		}
	}
	first, second := "question-"+cards[0].id, "question-"+cards[1].id
	press("j")
	at(first, "j")
	press("G")
	at("run-"+runs[1], "G")
	press("g")
	press("j")
	at(second, "g and j")
	press("k")
	at(first, "k")
	press("a")
	at(second, "a")
	press("<")
	at(first, "<")
	// As a keyboard does whose key was taken: chromedp's Enter would be one for the field that has the focus then, too.
	b.do(input.DispatchKeyEvent(input.KeyRawDown).WithKey("Enter"), input.DispatchKeyEvent(input.KeyUp).WithKey("Enter"))
	if !eval[bool](b, "document.activeElement.matches('#"+first+" input')") {
		t.Error("Enter does not go into the form")
	}
	press(kb.Escape)
	at(first, "Esc")
	b.do(chromedp.Focus("#words-"+cards[0].id, chromedp.ByQuery))
	press("jks1")
	if text := eval[string](b, "document.activeElement.value"); text != "jks1" {
		t.Errorf("in a field the keys are %q", text)
	}
	cards[0].write("words", "")
	press(kb.Escape)
	press("2")
	if chosen := eval[string](b, "document.querySelector('#"+first+" :checked').value"); chosen != "1" {
		t.Errorf("2 chooses the option at %s", chosen)
	}
	press(kb.Enter)
	cards[0].showsAnswer("Sessions")
	b.until("document.activeElement.id === '" + second + "' && document.querySelector('#told').textContent")
	press("o")
	b.until("document.querySelector('#told').textContent.startsWith(document.querySelector('#" + second +
		" .folder .path').title)")
	press("?")
	b.check("keys")
	press(kb.Escape)
	b.until("!document.querySelector('#keys').open")
	asked := b.says(false)
	b.until("document.querySelector('#run-" + runs[1] + " form[action$=stop]')")
	press("s")
	if asked := <-asked; !strings.HasPrefix(asked, "Stop ") {
		t.Errorf("s asks %q", asked)
	}
	press("?")
	b.click("#keys-on")
	b.click("#keys form button")
	b.do(chromedp.Evaluate("document.activeElement.blur()", nil))
	press("j")
	if eval[bool](b, "document.activeElement.matches('.card')") {
		t.Error("the keys are off, and j is one")
	}
	b.do(chromedp.Navigate(p.address+"/"), chromedp.WaitReady("#cards"))
	press("e")
	if eval[string](b, "location.pathname") != "/" {
		t.Error("the keys that were off are on again on another page")
	}
	b.do(chromedp.Evaluate("document.getElementById('keys-on').click()", nil))
	press("e")
	b.do(chromedp.WaitReady(`//h1[.="Past runs"]`))
}
