package terminal

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"claude-supervise/cmd/internal/terminal/screentest"
	"claude-supervise/supervisor/questions"
)

// What a person has on the screen when a run asks, below what it has said, as an emulator of a terminal shows it.
// After a change that is meant: go test ./cmd/internal/terminal -run Golden -update, and read the difference.
func TestGoldenFormsOfARun(t *testing.T) {
	for _, state := range []struct {
		name string
		of   []Question
		keys []string // each with what is on the screen then
		told bool     // the run has gone on
	}{
		{"options", group(ofLogin(), question("q-2", "metrics", "traces")), nil, false},
		{"own", []Question{ofLogin()}, []string{"\t", "own words", "Both, by a flag", "Both, by a flag"}, false},
		{"permission", []Question{toEdit()}, nil, false},
		{"plan", []Question{ofPlan()}, nil, false},
		{"plan-words", []Question{ofPlan()}, []string{"\t", "own words", "5 a minute", "5 a minute"}, false},
		{"answered", []Question{toEdit(), question("q-9", "Red", "Green")}, []string{"1\r", "Answered: allow"}, true},
	} {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, size := range []string{"40x20", "80x24", "140x40"} {
				env := able()
				env[sized] = size
				d := enterRaw(t, env)
				d.printer.Progress("agent a-one started\nRead: /src/r-one/version.txt")
				d.sees("version.txt\r\n")
				d.prompter.Set(state.of)
				d.sees(formFoot)
				for at := 0; at < len(state.keys); at += 2 {
					d.types(state.keys[at])
					d.sees(state.keys[at+1])
				}
				if state.told {
					d.sees(formFoot)
				}
				var columns, rows int
				if _, err := fmt.Sscanf(size, "%dx%d", &columns, &rows); err != nil {
					t.Fatal(err)
				}
				screen := vt.NewEmulator(columns, rows)
				_, _ = io.WriteString(screen, d.everything())
				fmt.Fprintf(&got, "-- %s --\n%s", size, screentest.Rows(screen, screentest.Content))
				if size == "80x24" {
					fmt.Fprintf(&got, "-- its looks --\n%s", screentest.Rows(screen, screentest.Look))
				}
				d.leave()
			}
			screentest.Golden(t, state.name, got.String())
		})
	}
}

func ofLogin() Question {
	q := question("q-1", "JWT", "Sessions")
	q.Header, q.Text, q.Context = "Login", "Which way of login should the service use?",
		"JWT needs no store; sessions can be ended at once."
	q.Options[0].Description, q.Options[1].Description = "a signed token that the browser keeps", "an id that the server looks up"
	return ofRun(q)
}

func ofPlan() Question {
	q := question("q-1", "approve")
	q.Options[0].Description = "it leaves plan mode and carries this out"
	q.Kind, q.Header, q.Text = questions.AskPlan, "Plan", "Approve the plan: Limit the login to 10 a minute?"
	q.Context = "# Limit the login to 10 a minute\n\n1. Write `/login 10/m` into limits.txt.\n2. Say so in the manual."
	return ofRun(q)
}

func toEdit() Question {
	q := question("q-1", "allow", "allow-run", "deny", "deny-stop")
	for i, what := range []string{"this once", "always in this run: Edit(/version.txt)",
		"refuse it; add why, e.g. deny: use the test database", "refuse it, and stop the agent"} {
		q.Options[i].Description = what
	}
	q.Kind, q.Header, q.Text = questions.AskPermission, "Edit", "May it edit version.txt?"
	q.Context = "file: /src/r-one/version.txt\n--- version.txt\n+++ version.txt\n@@ -1,2 +1,2 @@\n name=ledger\n" +
		"-version=1.2\n+version=1.3"
	return ofRun(q)
}

// ofRun is a question that was asked between three and four minutes ago.
func ofRun(q Question) Question {
	q.Agent, q.Run, q.Place, q.AskedAt = "a-one", "r-one", "/src/r-one", time.Now().Add(-200*time.Second)
	return q
}
