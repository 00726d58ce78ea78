package runs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/view"
)

// family makes agents of "name" and "name<parent", in the order of ps: by depth, then by id.
func family(names ...string) []view.AgentView {
	var agents []view.AgentView
	for _, name := range names {
		id, parent, _ := strings.Cut(name, "<")
		agents = append(agents, view.AgentView{ID: id, Parent: parent})
	}
	return agents
}

func TestChildrenStandRightBelowTheirParents(t *testing.T) {
	for name, c := range map[string]struct {
		agents []view.AgentView
		want   string
	}{
		"one":                 {family("root"), "root"},
		"two generations":     {family("root", "b<root", "c<root"), "root -b -c"},
		"three":               {family("root", "b<root", "c<root", "d<b", "e<c", "f<b"), "root -b --d --f -c --e"},
		"a parent is missing": {family("root", "lost<gone", "child<lost"), "root lost -child"},
		"in a circle":         {family("root", "a<b", "b<a"), "root a -b"},
		"its own parent":      {family("root", "self<self"), "root self"},
		"none":                {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			view.EachBelow(c.agents, func(depth int, a view.AgentView) {
				got = append(got, strings.Repeat("-", depth-1)+a.ID)
			})
			if strings.Join(got, " ") != c.want {
				t.Errorf("%v, want %s", got, c.want)
			}
		})
	}
}

func TestATreeOfRunsTellsOfEachAgentWithWholeIds(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	until := time.Date(2025, 1, 2, 15, 0, 0, 0, time.Local)
	agents := []view.AgentView{
		{ID: "a-7Qm2xK9fWb4T", Status: "blocked", Reason: "waits for a child", Since: at.Add(-time.Minute),
			PID: 4711, CostUSD: 1.5, Task: "Build the service\nGoal: it runs."},
		{ID: "a-000000000001", Parent: "a-7Qm2xK9fWb4T", Depth: 1, Priority: "P0", Status: "succeeded",
			Since: at, Reason: "reported success", CostUSD: 0.25,
			Task: "Write the \x1b[31mschema and a great many other things besides"},
		{ID: "a-000000000002", Parent: "a-7Qm2xK9fWb4T", Depth: 1, Priority: "P1", Status: "running",
			Reason: "at work, 40 %: the\nsecond of five", Since: at, Name: "tests", Task: "Write the tests"},
		{ID: "a-000000000004", Parent: "a-7Qm2xK9fWb4T", Depth: 1, Priority: "P2", Status: "limited",
			Reason: "usage limit", LimitedUntil: &until, Since: at, Independence: "optional", Task: "Draw"},
		{ID: "a-000000000003", Parent: "a-000000000001", Depth: 2, Priority: "P1", Status: "parked",
			Reason:        "asks: Which\x1b[2J of the very many days that there are in a year is the one?",
			OpenQuestions: []string{"q-7kq2mx", "q-2"}, Since: at, Task: "Ask"},
	}
	got := tree(80, []view.RunView{
		{ID: "r-3f9a2c1b", Name: "login", Status: "blocked", Reason: "waits for a child", Since: at.Add(-time.Minute),
			SupervisorPID: 99, CostUSD: 1.75, Agents: agents},
		{ID: "r-7uz22pon", Status: "parked", Reason: "asks: Which?", OpenQuestions: []string{"q-9"},
			Since: at.Add(-time.Hour)},
	}, at)
	want := `RUN, AGENT            STATUS     SINCE     PRIO  COST   WHY, TASK
r-3f9a2c1b            blocked    1m ago          $1.75  login: waits for a child
  a-7Qm2xK9fWb4T      blocked    1m ago          $1.50  Build the service
    a-000000000001    succeeded  just now  P0    $0.25  Write the schema and a …
      a-000000000003  parked     just now  P1    $0.00  Ask
        asks q-7kq2mx: Which of the very many days that there are in a year is …
    a-000000000002    running    just now  P1    $0.00  tests: Write the tests
      at work, 40 %: the second of five
    a-000000000004    limited    just now  P2    $0.00  (optional) Draw
      until 2025-01-02 15:00: usage limit
r-7uz22pon            parked     1h ago          $0.00  asks: Which?
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	lines := slices.Collect(strings.Lines(got))
	if wide := slices.IndexFunc(lines, func(line string) bool { return ansi.StringWidth(line) > 81 }); wide >= 0 {
		t.Errorf("wider than 80 columns: %s", lines[wide])
	}
}

// While a script waits its agent is at work, and nothing but the question is said of what it asks.
func TestATreeNamesTheQuestionOfAScript(t *testing.T) {
	r := view.RunView{ID: "r-3f9a2c1b", Status: "running", Reason: "at work; asks: Which way?"}
	for reason, want := range map[string]string{
		"at work; asks: Which way?":             "asks w_q1: Which way?",
		"asks: Which asks: this?":               "asks w_q1: Which asks: this?",
		"is being parked: held for long enough": "asks w_q1",
	} {
		if got := saying(r, view.AgentView{Status: "running", Reason: reason, OpenQuestions: []string{"w_q1"}}); got != want {
			t.Errorf("of %q it says %q, not %q", reason, got, want)
		}
	}
}

func TestOfManyChildrenThoseAreListedThatAPersonWantsToSee(t *testing.T) {
	agents := []view.AgentView{{ID: "root", Status: "blocked"}}
	for i := range 1000 {
		a := view.AgentView{ID: fmt.Sprintf("c%03d", i), Parent: "root", Depth: 1, Status: "succeeded"}
		switch {
		case i == 500:
			a.Status = "parked"
		case i == 600:
			a.Status = "failed"
		case i > 950:
			a.Status = "queued"
		case i > 900:
			a.Status = "running"
		}
		agents = append(agents, a)
	}
	agents = append(agents, view.AgentView{ID: "below", Parent: "c000", Depth: 2},
		view.AgentView{ID: "asker", Parent: "c500", Depth: 2})
	shown, hidden := folded(agents)
	var ids []string
	for _, a := range shown {
		ids = append(ids, a.ID)
	}
	want := []string{"root", "c500", "c600"}
	for i := 901; i <= 918; i++ {
		want = append(want, fmt.Sprintf("c%03d", i))
	}
	if want = append(want, "asker"); !slices.Equal(ids, want) {
		t.Errorf("it lists %v, want %v", ids, want)
	}
	if got := Tally(hidden["root"]); got != "899 succeeded, 49 queued, 32 running" {
		t.Errorf("it says of the others %q", got)
	}
	if text := tree(80, []view.RunView{{ID: "r-1", Agents: agents}}, time.Now()); strings.Count(text, "\n") > 30 {
		t.Errorf("the tree has %d lines", strings.Count(text, "\n"))
	}
}
