package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
)

// maxIdentity is how many bytes may stand around a task: every agent pays for them with every request.
const maxIdentity = 2800

func TestTheBriefingOfSubagentsHasAllTemplatesButThatOfTheReport(t *testing.T) {
	s := Begin(t, nil)
	text := s.State.Briefing(s.State.Agents.Get(Root))
	for _, want := range []string{"## EXECUTION CONTEXT: SUBAGENT", "agent " + Root, "mcp__supervise__ask_user",
		"mcp__supervise__delegate_work", "[CLARIFICATION_NEEDED]\nagent_id: " + Root, "[STOP_WORK]\nagent_id: " + Root,
		"[DELEGATE_WORK]\nagent_id: " + Root} {
		if !strings.Contains(text, want) {
			t.Errorf("without %q it is:\n%s", want, text)
		}
	}
	if strings.Contains(text, "COMPLETION_REPORT") {
		t.Errorf("a subagent is shown how to report for the agent:\n%s", text)
	}
	if !strings.HasSuffix(text, "\n\n## YOUR PART\n\n") || len(text) > 3300 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	for _, sig := range signals.Scan(text, Root) { // a subagent that repeats it says nothing
		if !sig.Foreign {
			t.Errorf("it is a signal itself: %+v", sig)
		}
	}
}

func TestTheIdentityStatementStandsBeforeEveryTaskAndIsSmall(t *testing.T) {
	var tools []string
	for _, tool := range signals.Tools() {
		tools = append(tools, tool.Name)
	}
	for name, c := range map[string]struct {
		config conf.Config
		first  string   // of the ways to ask
		ways   []string // that are named
		absent string
	}{
		"claude": {
			config: conf.Config{Hold: conf.DefaultHold}, first: "ask_user",
			ways: append(tools, "AskUserQuestion", "[CLARIFICATION_NEEDED]", "[STOP_WORK]", "[DELEGATE_WORK]",
				"[COMPLETION_REPORT]"),
			absent: "cannot ask",
		},
		"a command": {
			config: conf.Config{Hold: conf.DefaultHold, Exec: []string{"/bin/agent", "{}"}}, first: "[CLARIFICATION_NEEDED]",
			ways:   []string{"[STOP_WORK]", "[DELEGATE_WORK]", "[COMPLETION_REPORT]"},
			absent: "ask_user",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Story{T: t}
			s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "Choose a database", Config: c.config})
			child := *s.State.Agents.Get(Root)
			child.Parent = Root
			text, childs := s.State.opening(s.State.Agents.Get(Root)), s.State.opening(&child)
			if !strings.Contains(childs, "\nYour parent: agent "+Root+"\n") {
				t.Errorf("a child reads:\n%s", childs)
			}
			head, task, found := strings.Cut(text, "\n\n## YOUR TASK\n\n")
			if !found || !strings.HasPrefix(task, "Choose a database") {
				t.Fatalf("it reads:\n%s", text)
			}
			for _, want := range append(c.ways, "## EXECUTION CONTEXT", "Your agent id: "+Root,
				"Your parent: the supervisor", "When to ask:", "When not to ask:") {
				if !strings.Contains(head, want) {
					t.Errorf("the identity statement lacks %q", want)
				}
			}
			_, how, _ := strings.Cut(head, "\nHow: ")
			at := strings.Index(how, c.first)
			for _, way := range c.ways {
				if strings.Index(how, way) < at {
					t.Errorf("%s stands before %s", way, c.first)
				}
			}
			if strings.Contains(how, c.absent) {
				t.Errorf("the identity statement says %q", c.absent)
			}
			around := max(len(text), len(childs)) - len(child.Task)
			if around > maxIdentity {
				t.Errorf("%d bytes stand around the task, at most %d are meant", around, maxIdentity)
			}
			t.Logf("%d bytes", around)
		})
	}
}

// A hook of the CLI may add 10,000 characters at most; it puts more into a file.
func TestAConversationThatWasCompactedIsToldItsIdentityAgain(t *testing.T) {
	s := Begin(t, nil)
	a := s.State.Agents.Get(Root)
	text := s.State.AfterCompaction(a)
	if !strings.Contains(text, s.State.identity(a)) || strings.Contains(text, a.Task) || len(text) > 5000 {
		t.Errorf("%d bytes:\n%s", len(text), text)
	}
	for _, sig := range signals.Scan(text, Root) {
		if !sig.Foreign {
			t.Errorf("it is a signal itself: %+v", sig)
		}
	}
}

func TestWhoOwesAReportIsToldTheToolBeforeTheBlock(t *testing.T) {
	for name, text := range map[string]string{
		"at the gate":              prompts.Gate(&Agent{ID: Root}, nil, nil),
		"after a stop":             prompts.ReportWanted(Root, "You stopped."),
		"with a deliverable short": prompts.DeliverablesMissing(Root, []string{"a.md"}),
	} {
		tool, block := strings.Index(text, "report_completion"), strings.Index(text, "[COMPLETION_REPORT]")
		if tool < 0 || block < tool || !strings.Contains(text, "agent_id: "+Root) {
			t.Errorf("%s it reads: %s", name, text)
		}
	}
}
