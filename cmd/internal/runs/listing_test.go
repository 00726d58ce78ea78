package runs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

func TestARunWhoseAgentsWaitForOneThatAsksSaysWhatIsAsked(t *testing.T) {
	run := view.RunView{ID: "r-3f9a2c1b", Status: "blocked", Reason: "waits for a-000000000001",
		OpenQuestions: []string{"q-7kq2mx"}, Agents: []view.AgentView{
			{ID: "a-7Qm2xK9fWb4T", Status: "blocked", Reason: "waits for a-000000000001"},
			{ID: "a-000000000001", Status: "waiting", Reason: "asks: On which day?",
				OpenQuestions: []string{"q-7kq2mx"}},
		}}
	if list := table(80, []view.RunView{run}, time.Now()); !strings.Contains(list, "asks: On which day?") {
		t.Errorf("it shows:\n%s", list)
	}
	run.Agents = run.Agents[:1]
	if list := table(80, []view.RunView{run}, time.Now()); !strings.Contains(list, "waits for a-000000000001") {
		t.Errorf("with nothing asked it shows:\n%s", list)
	}
}

func TestNoWidthCutsAnIdAStateOrWhatAPersonDoesNext(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	long := strings.Repeat("long 日本語 words ", 12)
	runs := []view.RunView{
		{ID: "r-3f9a2c1b", Status: "over_budget", Reason: "asks: " + long, Cwd: "/home/" + strings.Repeat("deep/", 20),
			OpenQuestions: []string{"q-7kq2mx"}, CostUSD: 1204.5, Since: at.Add(-time.Hour), Agents: []view.AgentView{
				{ID: "a-7Qm2xK9fWb4T", Status: "over_budget", Priority: "P0", Reason: long, Task: long, Since: at}}},
		{ID: "r-7uz22pon", Status: "interrupted", Name: "short", Reason: "ctrl-C", Cwd: "/tmp", Since: at},
	}
	for width := range 200 {
		if width < 39 && width > 0 {
			continue // an id, a state and NEXT are as wide
		}
		table, tree := table(width, runs, at), tree(width, runs, at)
		for _, whole := range []string{"r-3f9a2c1b  over_budget", "answer, resume", "r-7uz22pon", "interrupted", "  resume"} {
			if !strings.Contains(table, whole) {
				t.Errorf("at %d columns the table has no %q:\n%s", width, whole, table)
			}
		}
		for _, whole := range []string{"r-3f9a2c1b", "a-7Qm2xK9fWb4T", "over_budget", "interrupted"} {
			if !strings.Contains(tree, whole) {
				t.Errorf("at %d columns the tree has no %q:\n%s", width, whole, tree)
			}
		}
		lines := slices.Collect(strings.Lines(table + tree))
		if wide := slices.IndexFunc(lines, func(line string) bool {
			return width > 0 && ansi.StringWidth(strings.TrimRight(line, "\n")) > width
		}); wide >= 0 {
			t.Errorf("at %d columns a line is wider: %s", width, lines[wide])
		}
	}
	if got := table(80, runs, at); !strings.Contains(got, "\n  ctrl-C · /tmp\n") {
		t.Errorf("below a run it is not said why it stands so, and then where:\n%s", got)
	}
	for width, want := range map[int]string{
		40:  "RUN         STATUS       NEXT\n",
		80:  "RUN         STATUS       SINCE     ASKS  COST       NEXT            TASK\n",
		140: "RUN         STATUS       SINCE     ASKS  COST   NEXT    TASK   WHY     FOLDER\n",
	} {
		of := runs
		if width == 140 {
			of = runs[1:] // nothing of it is cut
		}
		if got := table(width, of, at); !strings.HasPrefix(got, want) {
			t.Errorf("at %d columns the table is\n%s", width, got)
		}
	}
}

func TestAParkedRunWhoseQuestionsAreAnsweredSaysSo(t *testing.T) {
	run := view.RunView{ID: "r-3f9a2c1b", Status: "parked", Reason: "asks: On which day?"}
	runs := []view.RunView{run}
	for _, list := range []string{table(0, runs, time.Now()), tree(0, runs, time.Now()), State(run)} {
		if !strings.Contains(list, "answered; no process is running") || strings.Contains(list, "On which day") {
			t.Errorf("it shows:\n%s", list)
		}
	}
}

func TestOnlyTheRunsThatAreWantedAreListed(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	var all []service.Run
	for i, status := range []supervisor.Status{"parked", "running", "parked", "failed"} {
		all = append(all, service.Run{RunView: view.RunView{ID: string(rune('a' + i)), Status: status,
			StartedAt: at.Add(time.Duration(i) * time.Hour)}})
	}
	for want, of := range map[string]service.Selection{
		"abcd": {}, "cd": {Most: 2}, "ac": {Statuses: []string{"parked"}}, "c": {Statuses: []string{"parked"}, Most: 1},
		"bcd": {Since: at.Add(time.Minute)}, "acd": {Statuses: []string{"parked", "failed"}}, "": {Since: at.Add(4 * time.Hour)},
	} {
		got := ""
		for _, r := range (Listing{Wanted: of}).of(all) {
			got += r.ID
		}
		if got != want {
			t.Errorf("of %+v these are listed: %q, not %q", of, got, want)
		}
	}
}
