package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v4"

	"claude-supervise/examples"
)

// How many trees are grown under kills, by make trees as many as it says: CLAUDE_SUPERVISE_TEST_TREES, from the seed
// CLAUDE_SUPERVISE_TEST_SEED on; CLAUDE_SUPERVISE_TEST_AGENT=real lets the real CLI play them.
const (
	fewTrees    = 5
	killsOfTree = 8
)

// A part is a task, and those that the agent which has it delegates.
type part struct {
	name  string
	below []*part
	asks  bool // the person, before it does anything
}

// twenty returns the parts of a tree of twenty agents on four levels, of which one asks the person.
func twenty() *part {
	root := &part{name: "all"}
	for i := 1; i <= 4; i++ {
		team := &part{name: fmt.Sprintf("team-%d", i)}
		for j := 1; j <= 3; j++ {
			team.below = append(team.below, &part{name: fmt.Sprintf("member-%d-%d", i, j)})
		}
		if i < 4 {
			team.below[0].below = []*part{{name: fmt.Sprintf("help-%d", i), asks: i == 1}}
		}
		root.below = append(root.below, team)
	}
	return root
}

func (p *part) task() string { return "Do " + p.name + "." }
func (p *part) file() string { return p.name + ".txt" }

// written is what the part's file holds in the end: what those below have written, and its own name.
func (p *part) written() string {
	text := ""
	for _, c := range p.below {
		text += c.written()
	}
	if p.asks {
		return "blue\n"
	}
	return text + p.name + "\n"
}

// bash is a reply that runs a command.
func bash(command string) examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: "Bash", Input: map[string]any{"command": command}}}}
}

// turns returns what the model says that has the part. Each time that it is told of what it has delegated it delegates
// what it was not told of: it can be cut off anywhere.
func (p *part) turns() []examples.Turn {
	report := examples.Reply{Text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: " +
		"success\nsummary: " + p.name + " is done\n[/COMPLETION_REPORT]"}
	if p.asks {
		write := []examples.Reply{bash("echo '{{A1}}' > " + p.file()), report}
		ask := examples.Reply{Tools: []examples.ToolCall{{Name: "mcp__supervise__ask_user",
			Input: map[string]any{"questions": []any{
				map[string]any{"id": "A1", "header": "Colour", "text": "Which colour?",
					"options": []any{map[string]any{"label": "blue"}, map[string]any{"label": "red"}}},
			}}}}}
		return []examples.Turn{
			{When: "## YOUR TASK", Replies: append([]examples.Reply{ask}, write...)},
			{When: "## CLARIFICATION RESPONSE", Replies: write},
		}
	}
	files := ""
	delegates := make([]examples.Reply, 0, len(p.below)+1)
	for i, c := range p.below {
		files += c.file() + " "
		delegates = append(delegates,
			examples.Reply{Tools: []examples.ToolCall{{Name: "mcp__supervise__delegate_work", Input: map[string]any{
				"new_task_description": c.task(), "delegation_reason": "it is a part of its own",
				"independence": []string{"can_proceed_parallel", "blocks_current_work"}[i%2], "priority": fmt.Sprintf("P%d", i%3),
			}}}})
	}
	work := []examples.Reply{bash(fmt.Sprintf("{ cat %s /dev/null; echo %s; } > %s", files, p.name, p.file())), report}
	if len(p.below) == 0 {
		return []examples.Turn{{When: "## YOUR TASK", Replies: work}}
	}
	delegates = append(delegates, examples.Reply{Text: "I wait."})
	all := []examples.Turn{{When: "## YOUR TASK", Replies: delegates}}
	for n := 1; n <= len(p.below); n++ {
		for _, when := range []string{"## DELEGATION APPROVED", "## DELEGATED WORK ENDED"} {
			all = append(all, examples.Turn{When: when, Launched: n, Replies: delegates[n:]})
		}
	}
	return append(all, examples.Turn{When: "## DELEGATED WORK ENDED", Launched: len(p.below),
		Ended: len(p.below), Replies: work})
}

// children returns the agents below.
func (p *part) children() (all []examples.Child) {
	for _, c := range p.below {
		all = append(append(all, examples.Child{Task: c.task(), Turns: c.turns()}), c.children()...)
	}
	return all
}

// aTree returns the tale of a tree, in a file of its own, and its scenario.
func aTree(t *testing.T) (killScenario, examples.Scenario) {
	t.Helper()
	root := twenty()
	doc, err := yaml.Marshal(examples.Scenario{
		Name: "tree", About: "a tree of agents", Prompt: root.task(), Turns: root.turns(), Children: root.children(),
		ClaudeFlags: []string{"--allowedTools", "Bash"},
		Answers:     []examples.Answer{{Question: "Which colour", Answer: "blue"}},
		Expect: examples.Expect{Status: "succeeded", Summary: "all is done",
			Files: map[string]string{root.file(): root.written()}},
	})
	noError(t, err)
	path := filepath.Join(t.TempDir(), "tree.yaml")
	noError(t, os.WriteFile(path, doc, 0o600))
	return killScenario{scenario: path,
			flags: []string{"--delegate", "auto", "--max-parallel", "6", "--hold", "forever", "--on-question", "ask"}},
		load(t, path)
}

// A reaper kills the supervisors of a world as they pass points, at random: while they stand there, or as they go on.
type reaper struct {
	mu     sync.Mutex
	random *rand.Rand
	within int // one of so many points is the next to die at
	left   int // kills to come
	next   int // points until then
	kills  int
}

func (r *reaper) passes(pid int, p pass) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.life == 0 || r.left == 0 {
		return
	}
	if r.next--; r.next > 0 {
		return
	}
	r.next, r.left, r.kills = 1+r.random.IntN(r.within), r.left-1, r.kills+1
	if kill := func() { _ = syscall.Kill(pid, syscall.SIGKILL) }; r.random.IntN(2) == 0 {
		kill()
	} else {
		go kill()
	}
}

// However often the supervisor of a tree of twenty agents is killed, it comes to what it comes to when nobody is: each
// agent does its part, never two processes of it at once, and the end of each is told to its parent once.
func TestATreeWhoseSupervisorIsKilledComesToTheSame(t *testing.T) {
	t.Parallel()
	number := func(variable string, otherwise int) int {
		if text := os.Getenv(variable); text != "" {
			n, err := strconv.Atoi(text)
			noError(t, err)
			return n
		}
		return otherwise
	}
	few := fewTrees
	if testing.Short() {
		few = 2
	}
	trees, seed := number("CLAUDE_SUPERVISE_TEST_TREES", few), number("CLAUDE_SUPERVISE_TEST_SEED", 1)
	grow := func(t *testing.T, r *reaper) (points int) {
		tl, s := aTree(t)
		w := newWorldWith(t, plainProgram)
		if os.Getenv("CLAUDE_SUPERVISE_TEST_AGENT") == "real" {
			w.real(s, nil)
		}
		w.recorded(tl, s)
		l := w.watches(r.passes)
		lives := w.tell(tl, s)
		w.endures(tl, s, lives, r.kills)
		w.toldOnceEach()
		launches := 0
		agents := w.agents()
		for _, a := range agents {
			if launches += a.Launches; a.Status != "succeeded" {
				t.Errorf("%s is %s\n%s", a.ID, a.Status, w.must("logs", a.ID))
			}
		}
		if len(agents) != 20 {
			t.Errorf("it took %d agents", len(agents))
		}
		if t.Failed() {
			t.Log(strings.TrimSpace(w.must("ps", "-a", "--tree")))
		}
		t.Logf("%d kills, %d supervisors, %d processes of agents", r.kills, len(lives), launches)
		return len(l.seen())
	}
	within := 0
	t.Run("unharmed", func(t *testing.T) { within = grow(t, &reaper{}) / killsOfTree })
	if within == 0 {
		t.Fatal("the tree does not grow")
	}
	for n := range trees {
		t.Run(fmt.Sprintf("seed %d", seed+n), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed+n), 0))
			grow(t, &reaper{random: random, within: within, left: killsOfTree, next: 1 + random.IntN(within)})
		})
	}
}
