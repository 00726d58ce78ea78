package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A question that was answered is answered differently on its page, in a new run; that is compared with the first there,
// and kept.
func TestAQuestionIsAnsweredDifferentlyInABrowser(t *testing.T) {
	t.Parallel()
	b, w, p := openPage(t)
	w.agent = []string{"--demo", w.scenario(placed), "--cwd", "."}
	w.inGit()
	run, asked := w.playsForks("--hold", "forever")
	b.do(chromedp.Navigate(p.address+"/questions/"+asked[0]), chromedp.WaitReady("#question-"+asked[0]))
	b.click(`//summary[starts-with(., "Answer it differently")]`)
	b.check("again")
	no := b.says(false)
	b.click(`//label[contains(., "White")]`)
	b.click(`//button[.="Start the run"]`)
	if said := <-no; !strings.HasPrefix(said, "A new run continues from this question") {
		t.Errorf("it asks %q", said)
	}
	if n := strings.Count(w.must("ps", "-a", "--json"), `"forked":{`); n != 0 {
		t.Errorf("%d runs were begun by who did not mean it", n)
	}
	b.says(true)
	b.click(`//button[.="Start the run"]`)
	b.until(`document.querySelector(".told").textContent.includes("continues from")`)
	said := eval[string](b, `document.querySelector(".told").textContent`)
	fork := strings.Fields(said)[0]
	w.must("answer", w.asksAgain(fork), "Green")
	w.must("wait", fork, "--timeout", "60s")
	tree := w.forkOf(fork).Agents[0].Cwd
	noError(t, os.WriteFile(filepath.Join(tree, "of the fork"), []byte("kept"), 0o600))

	b.do(chromedp.Navigate(p.address+"/runs/"+fork), chromedp.WaitReady("#run-"+fork))
	b.check("fork")
	b.click(`//a[starts-with(., "Compare")]`)
	b.do(chromedp.WaitReady("table.both"))
	b.check("compare")
	if shown := eval[string](b, `document.querySelector("table.both").textContent`); !strings.Contains(shown, "White") ||
		!strings.Contains(shown, "Black") || !strings.Contains(shown, "of the fork") || !strings.Contains(shown, run) {
		t.Errorf("it compares:\n%s", shown)
	}
	b.do(chromedp.Navigate(p.address+"/runs/"+fork), chromedp.WaitReady("#run-"+fork))
	b.says(true)
	b.click(fmt.Sprintf(`//form[contains(@action, "/runs/%s/keep")]//button`, fork))
	b.until(`document.querySelector(".told").textContent`)
	if said := eval[string](b, `document.querySelector(".told").textContent`); !strings.HasPrefix(said, "Taken over from ") {
		t.Errorf("it says %q", said)
	}
	if kept, err := os.ReadFile(filepath.Join(w.Cwd, "of the fork")); err != nil || string(kept) != "kept" {
		t.Errorf("the folder has %q: %v", kept, err)
	}
}
