package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// Images come onto the page by its button, by pasting and by dropping. What the supervisor refuses loses neither words
// nor images, and one that is taken off is not sent.
func TestAnAnswerIsGivenWithImagesInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	_, id := w.asks("--demo", "tool-ask")
	c := b.card(id)
	first, encoded := w.picture("first.png", 1)
	none := filepath.Join(t.TempDir(), "none.png")
	noError(t, os.WriteFile(none, []byte("no picture"), 0o600))
	attached := func(names ...string) {
		t.Helper()
		b.until(fmt.Sprintf("[...document.querySelectorAll('%s .images li span')].map(e => e.textContent.split(', ')[0]).join() === %q",
			c.at, strings.Join(names, ",")))
	}
	brought := func(event, data, name string) {
		b.do(chromedp.Evaluate(fmt.Sprintf(`(() => {
	const bytes = Uint8Array.from(atob(%q), (c) => c.charCodeAt(0)), all = new DataTransfer();
	all.items.add(new File([bytes], %q, {type: "image/png"}));
	document.querySelector('%s textarea').dispatchEvent(%s);
})()`, encoded, name, c.at, fmt.Sprintf("new %s, {%s: all, bubbles: true, cancelable: true})", event, data)), nil))
	}
	c.write("words", "as in the pictures")
	b.do(chromedp.SetUploadFiles("#image-"+id, []string{first, none}))
	attached("first.png", "none.png")
	brought(`ClipboardEvent("paste"`, "clipboardData", "pasted.png")
	brought(`DragEvent("drop"`, "dataTransfer", "dropped.png")
	attached("first.png", "none.png", "pasted.png", "dropped.png")
	b.check("images")
	c.press("answer")
	if why := c.refused(); !strings.Contains(why, "the image none.png: it is no PNG, JPEG, GIF or WebP") {
		t.Errorf("it says %q", why)
	}
	attached("first.png", "none.png", "pasted.png", "dropped.png")
	for _, name := range []string{"none.png", "pasted.png"} {
		b.click(fmt.Sprintf(`%s [aria-label="Remove %s"]`, c.at, name))
	}
	attached("first.png", "dropped.png")
	c.give("", "as in the pictures")
	if names := w.imagesWith(id); !slices.Equal(names, []string{"first.png", "dropped.png"}) {
		t.Errorf("it is answered with %q", names)
	}

	_, id = w.asks("--demo", "tool-ask")
	b.withoutScript(p, "/questions/"+id)
	b.do(chromedp.SetUploadFiles("#image-"+id, []string{first}), fill("#words-"+id, "plain"))
	b.click("#question-" + id + " button[value=answer]")
	b.until("document.body.textContent.includes('plain')")
	if names := w.imagesWith(id); !slices.Equal(names, []string{"first.png"}) {
		t.Errorf("without script it is answered with %q", names)
	}
}

// imagesWith waits until the supervisor has taken the answer to a question, and returns the names of its images.
func (w *world) imagesWith(question string) (names []string) {
	w.t.Helper()
	waitUntil(w.t, question+" is answered with images", func() bool {
		for _, i := range parse[struct{ Images []struct{ Name string } }](w.t, w.must("show", question, "--json")).Images {
			names = append(names, i.Name)
		}
		return len(names) > 0
	})
	return names
}

// The image that a question shows is seen with it, and whole by a click, also once it is answered.
func TestTheImageOfAQuestionIsSeenInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	_, id := w.asks("--demo", "picture")
	c := b.card(id)
	seen := func() {
		t.Helper()
		b.until(fmt.Sprintf("((i) => i && i.complete && i.naturalWidth === 160 && i.alt === 'page.png')"+
			"(document.querySelector('%s .picture img'))", c.at))
	}
	seen()
	b.check("a question that shows an image")
	c.write("words", "it is")
	c.give("", "it is")
	b.withoutScript(p, "/questions/"+id)
	seen()
	var whole string
	b.do(chromedp.AttributeValue("#question-"+id+" .picture a", "href", &whole, nil))
	b.do(chromedp.Navigate(p.address + whole))
	b.until("document.images.length === 1 && document.images[0].naturalWidth === 160")
}
