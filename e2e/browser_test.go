package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A real browser, which make page gives. What it shows is kept as pictures in the folder that
// CLAUDE_SUPERVISE_TEST_PICTURES names.

// browserPatience bounds one story in the browser that hangs.
const browserPatience = 5 * time.Minute

// A browser is one tab of it.
type browser struct {
	t   *testing.T
	ctx context.Context
	axe string
}

// newBrowser opens a browser of its own.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, axe := os.Getenv("CLAUDE_SUPERVISE_TEST_CHROMIUM"), os.Getenv("CLAUDE_SUPERVISE_TEST_AXE")
	if program == "" || axe == "" {
		if os.Getenv("CI") != "" && !testing.Short() {
			t.Fatal("there is no browser, or no axe: in CI, make page must not pass without")
		}
		t.Skip("no browser: make page gives one") // in CI, too, by make test -short
	}
	script, err := os.ReadFile(axe)
	noError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.WindowSize(1440, 800))...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return (&browser{t: t, ctx: ctx, axe: string(script)}).watched()
}

func (b *browser) tab() *browser {
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	return (&browser{t: b.t, ctx: ctx, axe: b.axe}).watched()
}

// watched has the test fail for what breaks in the page's script, or is held by its policy.
func (b *browser) watched() *browser {
	chromedp.ListenTarget(b.ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			b.t.Errorf("the script breaks: %v", e.ExceptionDetails)
		case *cdplog.EventEntryAdded:
			if e.Entry.Source == cdplog.SourceSecurity || e.Entry.Source == cdplog.SourceViolation {
				b.t.Errorf("the browser says: %s", e.Entry.Text)
			}
		}
	})
	return b
}

func (b *browser) do(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.picture("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
		b.t.Fatal(err)
	}
}

// awaited waits for a promise.
func awaited(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }

// eval returns what an expression is.
func eval[T any](b *browser, expression string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &v))
	return v
}

// until waits until an expression is true. The browser looks at it again after each change of the page, and on the next
// one where it leaves that.
func (b *browser) until(expression string) {
	b.t.Helper()
	poll := chromedp.Poll(expression, nil, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(20*time.Second))
	err := chromedp.Run(b.ctx, poll)
	for err != nil && strings.Contains(err.Error(), "Cannot find context") {
		err = chromedp.Run(b.ctx, poll)
	}
	if err != nil {
		b.picture("failed-" + strings.ReplaceAll(b.t.Name(), "/", "-"))
		b.t.Fatalf("%s: %v", expression, err)
	}
}

// to presses Tab until an element has the focus.
func (b *browser) to(selector string) {
	b.t.Helper()
	for range 200 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.matches('%s')", selector)) {
			return
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.t.Fatalf("Tab does not come to %s", selector)
}

// click presses what a selector, or an XPath, finds first, once the script is there, if it comes, and the cards take a
// press.
func (b *browser) click(what string) {
	b.t.Helper()
	b.do(chromedp.Evaluate("new Promise(is => document.readyState === 'complete' ? is(1) : addEventListener('load', is)).then(() => 1)",
		nil, awaited))
	b.until("!document.querySelector('#cards.moving')")
	b.do(chromedp.Click(what, chromedp.BySearch, chromedp.NodeVisible))
}

// says answers the next question that the page asks in a window of its own.
func (b *browser) says(yes bool) (asked <-chan string) {
	told := make(chan string, 1)
	ctx, cancel := context.WithCancel(b.ctx)
	chromedp.ListenTarget(ctx, func(e any) {
		if e, is := e.(*page.EventJavascriptDialogOpening); is {
			cancel()
			told <- e.Message
			go func() { // the browser waits for its listener
				if err := chromedp.Run(b.ctx, page.HandleJavaScriptDialog(yes)); err != nil {
					b.t.Error(err)
				}
			}()
		}
	})
	return told
}

func (b *browser) picture(name string) {
	folder := os.Getenv("CLAUDE_SUPERVISE_TEST_PICTURES")
	if folder == "" {
		return
	}
	var png []byte
	if err := chromedp.Run(b.ctx, chromedp.FullScreenshot(&png, 100)); err != nil {
		b.t.Log(err)
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), png, 0o644); err != nil {
		b.t.Error(err)
	}
}

// widths are those of a phone, a tablet, and of the narrowest and a usual window that has two columns.
var widths = []int64{360, 768, 1100, 1440}

// amiss gives what is wrong in how the page is laid out, by the DOM: what is cut off at the side, what stands above what
// comes before it, and what is too small for a finger.
const amiss = `(() => {
	const seen = [...document.querySelectorAll("main *, header *")].filter(e => e.checkVisibility({visibilityProperty: true}) &&
		!e.closest(".hidden, .skip, dialog:not([open])"));
	const box = e => e.getBoundingClientRect(), says = e => e.outerHTML.slice(0, 200), wrong = [];
	const scrolls = e => e && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
	for (const e of seen) {
		if (box(e).right > innerWidth + 1 && !scrolls(e.parentElement)) wrong.push("cut off at the side: " + says(e));
		if (e.matches("th, dt") && !e.childElementCount && !/\s/.test(e.textContent.trim()) && box(e).height > 2 * parseFloat(getComputedStyle(e).fontSize) +
			parseFloat(getComputedStyle(e).paddingTop) + parseFloat(getComputedStyle(e).paddingBottom)) wrong.push("a word in two: " + says(e));
		const least = e.matches("button, select, summary, textarea, .option, input:not([type=radio], [type=checkbox], [type=hidden])");
		if (least && box(e).height < 44) wrong.push("too small: " + says(e));
	}
	const reached = seen.filter(e => e.matches("a, button, input, select, textarea, summary"));
	for (let i = 1; i < reached.length; i++) {
		const [a, b] = [box(reached[i - 1]), box(reached[i])];
		if (b.bottom <= a.top && b.left < a.right && a.left < b.right) wrong.push("above what comes before: " + says(reached[i]));
	}
	return wrong;
})()`

// check looks at the page in each width, light and dark, by axe and by the DOM, and keeps the pictures.
func (b *browser) check(name string) {
	b.t.Helper()
	b.do(chromedp.Evaluate(b.axe+";0", nil))
	for _, width := range widths {
		for _, look := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 800),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look}}))
			if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > width {
				b.t.Errorf("%s at %d px is %d px wide", name, width, wide)
			}
			b.picture(fmt.Sprintf("%s-%d-%s", name, width, look))
			for _, wrong := range eval[[]string](b, amiss) {
				b.t.Errorf("%s at %d px: %s", name, width, wrong)
			}
			var found []struct {
				ID, Help string
				Nodes    []struct{ HTML string }
			}
			b.do(chromedp.Evaluate("axe.run({rules: {'target-size': {enabled: true}}}).then(r => r.violations)", &found, awaited))
			for _, f := range found {
				text, _ := json.Marshal(f.Nodes)
				b.t.Errorf("%s at %d px, %s: %s: %s\n%.600s", name, width, look, f.ID, f.Help, text)
			}
		}
	}
	b.do(chromedp.EmulateViewport(1440, 800), emulation.SetEmulatedMedia())
}

// opens has the browser open a page for the first time, with the token in its address.
func (b *browser) opens(p *servedPage) {
	b.t.Helper()
	b.do(chromedp.Navigate(p.address+"/?token="+p.token), chromedp.WaitReady("#cards"))
	if at := eval[string](b, "location.href"); at != p.address+"/" {
		b.t.Errorf("the address is %s: the token is in it", strings.ReplaceAll(at, p.token, "TOKEN"))
	}
}

// openPage opens the page of a new world in a browser of its own.
func openPage(t *testing.T) (*browser, *world, *servedPage) {
	t.Helper()
	b, w := newBrowser(t), newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	b.opens(p)
	return b, w, p
}

// A cardIn is a question's card in a browser.
type cardIn struct {
	*browser
	id, at string // at is its selector
}

// card waits until the card of a question can be pressed.
func (b *browser) card(question string) cardIn {
	b.t.Helper()
	c := cardIn{b, question, "#question-" + question}
	b.until(fmt.Sprintf("document.querySelector('#cards:not(.moving) > %s:not([inert])')", c.at))
	return c
}

// choose presses the option that begins so.
func (c cardIn) choose(label string) {
	c.t.Helper()
	c.click(fmt.Sprintf(`//*[@id="question-%s"]//label[contains(@class, "option")][starts-with(normalize-space(.), %q)]`,
		c.id, label))
}

// write writes into a field; what was there is replaced.
func (c cardIn) write(field, text string) {
	c.t.Helper()
	c.do(fill("#"+field+"-"+c.id, text))
}

// fill writes into a field; what was there is replaced.
func fill(selector, text string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf("(e => { e.value = %q; e.dispatchEvent(new Event('input', {bubbles: true})); })("+
		"document.querySelector(%q))", text, selector), nil)
}

// press presses a button.
func (c cardIn) press(does string) {
	c.t.Helper()
	c.click(c.at + " button[value=" + does + "]")
}

// refused waits until what was sent has come back with a reason beside its field, and gives that.
func (c cardIn) refused() string {
	c.t.Helper()
	c.until(fmt.Sprintf("document.querySelector('%s:not([inert]) [role=alert]') && document.activeElement.closest('%s')",
		c.at, c.at))
	return eval[string](c.browser, fmt.Sprintf("document.querySelector('%s [role=alert]').textContent", c.at))
}

// isNone sends words that are no answer, and checks the reason that comes back.
func (c cardIn) isNone(words, why string) {
	c.t.Helper()
	c.write("words", words)
	c.press("answer")
	if said := c.refused(); !strings.Contains(said, why) {
		c.t.Errorf("%q is refused with %q", words, said)
	}
}

// give sends an option, or none, with what was written, and waits for the answer that is shown then.
func (c cardIn) give(option, want string) {
	c.t.Helper()
	if option != "" {
		c.choose(option)
	}
	c.press("answer")
	c.showsAnswer(want)
}

// showsAnswer waits until the question is closed, with an answer.
func (c cardIn) showsAnswer(want string) {
	c.t.Helper()
	if _, reply := c.closed(); reply != want {
		c.t.Errorf("it is answered %q, not %q", reply, want)
	}
}

// tap chooses an option and sends it, by a finger.
func (c cardIn) tap(option string) {
	c.t.Helper()
	c.until("!document.querySelector('#cards.moving')")
	for _, find := range []string{fmt.Sprintf("[...document.querySelectorAll('%s .option')].find(e => e.innerText.startsWith(%q))",
		c.at, option), fmt.Sprintf("document.querySelector('%s button[value=answer]')", c.at)} {
		at := eval[struct{ X, Y float64 }](c.browser, "(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); "+
			"const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })("+find+")")
		c.do(input.DispatchTouchEvent(input.TouchStart, []*input.TouchPoint{{X: at.X, Y: at.Y}}),
			input.DispatchTouchEvent(input.TouchEnd, nil))
	}
}

// closed waits until the question is closed, and gives what is said of that, and its answer.
func (c cardIn) closed() (outcome, reply string) {
	c.t.Helper()
	c.until(fmt.Sprintf("document.querySelector('%s.closed')", c.at))
	text := func(class string) string {
		return eval[string](c.browser, fmt.Sprintf("document.querySelector('%s .%s')?.textContent || ''", c.at, class))
	}
	return text("outcome"), text("reply")
}
