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
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The page in a real browser, which make page gives. What it shows is kept as pictures in the folder that
// CLAUDE_SUPERVISE_TEST_PICTURES names.

// browserPatience bounds one story in the browser that hangs.
const browserPatience = 5 * time.Minute

// A browser is one window of it.
type browser struct {
	t   *testing.T
	ctx context.Context
	axe string
}

// newBrowser opens a window, or another tab of one.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	program, given := os.LookupEnv("CLAUDE_SUPERVISE_TEST_CHROMIUM")
	if !given {
		t.Skip("no browser: make page gives one")
	}
	axe := os.Getenv("CLAUDE_SUPERVISE_TEST_AXE")
	if program == "" || axe == "" {
		t.Fatal("make page has found no browser, or no axe: it must not pass without")
	}
	script, err := os.ReadFile(axe)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return &browser{t: t, ctx: ctx, axe: string(script)}
}

func (b *browser) tab() *browser {
	ctx, cancel := chromedp.NewContext(b.ctx)
	b.t.Cleanup(cancel)
	return &browser{t: b.t, ctx: ctx, axe: b.axe}
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

// eval gives what an expression is.
func eval[T any](b *browser, expression string) (v T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &v))
	return v
}

// until waits until an expression is true. The browser looks at it again after each change of the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	b.do(chromedp.Poll(expression, nil, chromedp.WithPollingMutation(), chromedp.WithPollingTimeout(20*time.Second)))
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

// check has axe look at the page in each width, light and dark, and keeps the pictures.
func (b *browser) check(name string) {
	b.t.Helper()
	for _, width := range []int64{360, 768, 1440} {
		for _, look := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(width, 800),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look}}))
			if wide := eval[int64](b, "document.documentElement.scrollWidth"); wide > width {
				b.t.Errorf("%s at %d px is %d px wide", name, width, wide)
			}
			b.picture(fmt.Sprintf("%s-%d-%s", name, width, look))
			var found []struct {
				ID, Help string
				Nodes    []struct{ HTML string }
			}
			b.do(chromedp.Evaluate(b.axe+";0", nil), chromedp.Evaluate("axe.run().then(r => r.violations)", &found, awaited))
			for _, f := range found {
				text, _ := json.Marshal(f.Nodes)
				b.t.Errorf("%s at %d px, %s: %s: %s\n%.600s", name, width, look, f.ID, f.Help, text)
			}
		}
	}
	b.do(chromedp.EmulateViewport(1440, 800), emulation.SetEmulatedMedia())
}

// asks starts a run that asks, and gives its id and its question's.
func (w *world) asks() (run, question string) {
	w.t.Helper()
	run = strings.TrimSpace(w.must("run", "--demo", "ask", "--detach"))
	w.must("wait", "--question", run)
	for _, q := range w.questions() {
		if q.Run == run {
			return run, q.ID
		}
	}
	w.t.Fatal("it asks nothing")
	return "", ""
}

func TestThePageInABrowser(t *testing.T) {
	b := newBrowser(t)
	w := newWorld(t)
	p := w.serve("--listen", "127.0.0.1:0")
	b.do(chromedp.Navigate(p.address+"/?token="+p.token), chromedp.WaitReady("#cards"))
	if at := eval[string](b, "location.href"); at != p.address+"/" {
		t.Errorf("the address is %s: the token is in it", strings.ReplaceAll(at, p.token, "TOKEN"))
	}
	b.check("nothing")

	// It asks, the card appears; it is answered by mouse.
	run, id := w.asks()
	card := "#question-" + id
	b.until(fmt.Sprintf("document.querySelector('%s:not([inert])') && document.title === '(1) claude-supervise'", card))
	b.check("asked")
	b.do(chromedp.Click(card+" input[value='1']"), chromedp.Click(card+" button[value=answer]"))
	b.until(fmt.Sprintf("document.querySelector('%s.closed') && document.title === 'claude-supervise'", card))
	w.must("wait", run)
	if text := eval[string](b, fmt.Sprintf("document.querySelector('%s .reply').textContent", card)); text != "Sessions" {
		t.Errorf("the mouse has answered %q", text)
	}
	b.check("answered")

	// By keyboard alone; what does not fit is said beside the field.
	run, id = w.asks()
	card = "#question-" + id
	b.until(fmt.Sprintf("document.querySelector('%s:not([inert])')", card))
	b.to(card + " textarea[name=words]")
	b.do(chromedp.KeyEvent("7"))
	b.to(card + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(fmt.Sprintf("document.querySelector('%s [role=alert]') && document.activeElement.closest('%s')", card, card))
	b.check("refused")
	b.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s textarea[name=words]').select()", card), nil),
		chromedp.KeyEvent("a magic link"))
	b.to(card + " textarea[name=words]")
	b.to(card + " button[value=answer]")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(fmt.Sprintf("document.querySelector('%s.closed')", card))
	w.must("wait", run)

	// By thumb at 360 px.
	b.do(chromedp.EmulateViewport(360, 740, chromedp.EmulateMobile, chromedp.EmulateTouch))
	run, id = w.asks()
	card = "#question-" + id
	b.until(fmt.Sprintf("document.querySelector('%s:not([inert])')", card))
	for _, e := range []string{".option", "button"} {
		if small := eval[int64](b, fmt.Sprintf("[...document.querySelectorAll('%s %s')].filter(e => e.offsetParent && "+
			"e.getBoundingClientRect().height < 44).length", card, e)); small > 0 {
			t.Errorf("%d of %s are too small for a thumb", small, e)
		}
	}
	b.do(chromedp.Click(card+" .option"), chromedp.Click(card+" button[value=answer]"))
	b.until(fmt.Sprintf("document.querySelector('%s.closed')", card))
	w.must("wait", run)
	b.do(chromedp.EmulateViewport(1440, 800))

	// Two browsers answer at once: both see whose answer stands.
	other := b.tab()
	other.do(chromedp.Navigate(p.address + "/"))
	run, id = w.asks()
	card = "#question-" + id
	for i, each := range []*browser{b, other} {
		each.until(fmt.Sprintf("document.querySelector('%s:not([inert])')", card))
		each.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s input[value=\"%d\"]').checked = true", card, i), nil))
	}
	press := fmt.Sprintf("document.querySelector('%s button[value=answer]').click()", card)
	other.do(chromedp.Evaluate(press, nil))
	b.do(chromedp.Evaluate(fmt.Sprintf("document.querySelector('%s button[value=answer]')?.click()", card), nil))
	var seen [2]string
	for i, each := range []*browser{b, other} {
		each.until(fmt.Sprintf("document.querySelector('%s.closed')", card))
		seen[i] = eval[string](each, fmt.Sprintf("document.querySelector('%s .reply').textContent", card))
	}
	if seen[0] != seen[1] || seen[0] == "" {
		t.Errorf("one sees %q, the other %q", seen[0], seen[1])
	}
	w.must("wait", run)
	b.do(page.BringToFront()) // nothing is drawn behind another

	// The server is killed, and comes back: the page goes on, with its draft.
	_, id = w.asks()
	b.until(fmt.Sprintf("document.querySelector('#question-%s:not([inert])')", id))
	b.do(chromedp.SetValue("#words-"+id, "a draft"))
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // killed
	p = w.serve("--listen", strings.TrimPrefix(p.address, "http://"))
	_, later := w.asks()
	b.until(fmt.Sprintf("document.querySelector('#question-%s')", later))
	if draft := eval[string](b, fmt.Sprintf("document.querySelector('#words-%s').value", id)); draft != "a draft" {
		t.Errorf("the draft is %q", draft)
	}

	// Without script all is done by forms, as well.
	b.do(network.Enable(), network.SetBlockedURLs([]string{"*page.js"}), chromedp.Navigate(p.address+"/"),
		chromedp.Click("#question-"+id+" input[value='0']", chromedp.ByQuery),
		chromedp.Click("#question-"+id+" button[value=answer]", chromedp.ByQuery),
		chromedp.WaitVisible("#question-"+id+".closed", chromedp.ByQuery))
	b.do(network.SetBlockedURLs([]string{}))

	// The other pages.
	agent := parse[[]runView](t, w.must("ps", "-a", "--json"))[0].Agents[0].ID
	for name, path := range map[string]string{"past": "/runs", "run": "/runs/" + run, "agent": "/agents/" + agent,
		"question": "/questions/" + later, "missing": "/questions/q-none"} {
		b.do(chromedp.Navigate(p.address+path), chromedp.WaitReady("main"))
		b.check(name)
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
