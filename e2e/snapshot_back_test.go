package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A run comes back onto the machine that lost it: what became of it elsewhere takes the place of what is here. An answer
// that was kept here meanwhile counts for nothing, and that is said.
func TestARunIsTakenBackOntoTheMachineThatLostIt(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"its supervisor was told", "resume was refused", "it knows of nothing"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			here := newWorld(t).script("if [ $n -lt 3 ]; then\n" + strings.ReplaceAll(asksTheColour, "colour", "colour-$n") +
				"\nelse report \"$CLAUDE_SUPERVISE_ANSWER\"; fi\n")
			dir := t.TempDir()
			link := filepath.Join(t.TempDir(), "link") // as it is known here; elsewhere it is known by its own name
			noError(t, os.Symlink(dir, link))
			var run *supervised
			var id, first string
			if how == "its supervisor was told" {
				taken := here.snapshotted()
				run = here.starts("--hold", "forever", "--snapshots", link)
				first = run.until("question").Question.ID
				<-taken
				id = here.ps().ID
			} else {
				id, first = here.parks("--hold", "0", "--snapshots", link)
			}
			snapshots := filepath.Join(dir, id)
			there := here.elsewhere()
			goesOn := []string{"resume", id, "--on-question", "park", "--exec", here.agent[1]}
			there.must("unpack", snapshots)
			there.must("answer", first, "red")
			switch how {
			case "its supervisor was told":
				here.ends(run, 1)
			case "resume was refused":
				if code, _, said := here.run(goesOn...); code != 1 || !strings.Contains(said, "continues elsewhere") {
					t.Fatalf("resume exits %d: %s", code, said)
				}
			}
			if code, _, said := there.run(goesOn...); code != 75 {
				t.Fatalf("there it exits %d: %s", code, said)
			}
			second := there.questions()[0].ID
			if second == first {
				t.Fatal("there it asks the same again")
			}
			code, _, said := here.run("answer", first, "blue")
			kept := "the answer to " + first + " (blue) was kept on this machine alone and does not count"
			if known := how != "it knows of nothing"; known != (code != 0) || known && !strings.Contains(said, "continues where") {
				t.Errorf("an answer here exits %d: %s", code, said)
			}
			if told := here.must("unpack", snapshots); !strings.Contains(told, "It is taken over (epoch 4)") ||
				strings.Contains(told, kept) != (code == 0) {
				t.Errorf("unpack says:\n%s", told)
			}
			if open := here.questions(); len(open) != 1 || open[0].ID != second {
				t.Fatalf("here is open: %+v", open)
			}
			here.must("answer", second, "blue")
			here.must(goesOn...)
			if one, two := here.got("answer.2"), here.got("answer.3"); one != "red" || two != "blue" {
				t.Errorf("the agent was given %q, then %q", one, two)
			}
			if code, _, said := there.run(goesOn...); code != 1 || !strings.Contains(said, "continues elsewhere") {
				t.Errorf("there it continues as well: exit %d: %s", code, said)
			}
		})
	}
}
