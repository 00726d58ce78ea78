package signals

import (
	"os"
	"strings"
	"testing"
)

func printedIn(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/documents/" + name)
	noError(t, err)
	return string(text)
}

// What the hybrid document (000) and the skill (001) print, as they print it; what each is read as stands beside it.
// Those without such a file are no signals: state that is saved, and what the main agent does.
func TestExamplesOfTheOlderDocuments(t *testing.T) {
	for _, c := range []struct {
		script, output string // the script is run by Bash; without one the output is what the agent says
		want           string
	}{
		{"000-quick-response.sh", "000-escalated.txt", "000-escalated.want"},
		{"000-quick-response.sh", "000-quick.txt", "000-complete.want"},
		{"000-resume.sh", "000-resumed.txt", "000-complete.want"},
		{"", "000-escalated.txt", "000-escalated.want"},
		{"", "000-quick.txt", "000-complete.want"},
		{"000-main-agent.sh", "000-main-agent.txt", ""},
		{"000-main-agent.sh", "000-quick.txt", ""}, // it does not print what its subagent printed
		{"000-claude-answer.sh", "000-claude-answer.txt", ""},
		{"000-review.sh", "", ""},

		{"001-awaiting.sh", "001-awaiting.txt", "001-awaiting.want"},
		{"", "001-awaiting.txt", "001-awaiting.want"},
		{"", "001-principle-3.txt", "001-principle-3.want"},
		{"", "001-paused.txt", "001-paused.want"},
		{"", "001-pattern-1-output.txt", "001-pattern-1.want"},
		{"", "001-pattern-2-output.txt", "001-pattern-2.want"},
		{"", "001-task.txt", "001-task.want"},
		{"", "001-pattern-1.txt", ""}, // there the document tells what is printed
		{"", "001-orchestrator.txt", ""},
		{"", "001-resume.txt", ""},
		{"001-checkpoint.sh", "", ""},
		{"001-state.sh", "", ""},
	} {
		t.Run(strings.Trim(c.script+" "+c.output, " "), func(t *testing.T) {
			s := NewScanner(Config{AgentID: me, AnyEscalation: true})
			s.BeginMessage(Main, "1")
			output := ""
			if c.output != "" {
				output = printedIn(t, c.output)
			}
			if c.script != "" {
				s.ToolCall("Bash", nil)
				s.Bash(printedIn(t, c.script), output, false)
			} else {
				s.Text(output)
			}
			got := s.EndTurn("")
			if c.want == "" {
				same(t, brief(got), []string{})
				return
			}
			if len(got) != 1 {
				t.Fatalf("read %v", brief(got))
			}
			golden(t, "testdata/documents/"+c.want, summary(got[0]))
		})
	}
}

// The document prints the call in JavaScript; in a fence of that language it is code.
func TestTaskUpdateOfTheSkillAsCode(t *testing.T) {
	call, _, _ := strings.Cut(printedIn(t, "001-task.txt"), "// Exit agent")
	same(t, brief(Scan("```javascript\n"+call+"```\n", me)), []string{})
	same(t, brief(Scan("```\n"+call+"```\n", me)), []string{"clarification_needed"})
}
