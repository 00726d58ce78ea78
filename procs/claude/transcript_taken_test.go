package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestWhatAScriptTookIsInTheConversationOnceItsCallHasCome(t *testing.T) {
	asked := time.Date(2026, 1, 11, 12, 0, 5, 0, time.UTC)
	line := func(second, typ, block string) string {
		return `{"type":"` + typ + `","timestamp":"2026-01-11T12:00:` + second + `.000Z","message":{"content":[` + block + `]}}`
	}
	calls := func(second, id, tool string) string {
		return line(second, "assistant", `{"type":"tool_use","id":"`+id+`","name":"`+tool+`","input":{}}`)
	}
	result := func(second, id, text string) string {
		return line(second, "user", `{"type":"tool_result","tool_use_id":"`+id+`","content":"`+text+`"}`)
	}
	const failed = `","is_error":true,"x":"` // closes the text
	for name, c := range map[string]struct {
		main, subagent []string
		want           bool
	}{
		"nothing":         {},
		"it is shown":     {main: []string{calls("04", "toolu_1", "Bash"), result("09", "toolu_1", "response received: oauth")}, want: true},
		"it has no end":   {main: []string{calls("04", "toolu_1", "Bash")}},
		"it keeps silent": {main: []string{calls("04", "toolu_1", "Bash"), result("09", "toolu_1", "done")}, want: true},
		"the CLI's own words": {main: []string{calls("04", "toolu_1", "Bash"),
			result("09", "toolu_1", "[Tool call interrupted"+failed)}},
		"another call has ended, this one not": {main: []string{calls("03", "toolu_1", "Bash"), calls("04", "toolu_2", "Bash"),
			result("09", "toolu_1", "tests pass")}},
		"a call before, and none of its own": {main: []string{calls("01", "toolu_1", "Bash"), result("02", "toolu_1", "oauth")}},
		"a call after":                       {main: []string{calls("06", "toolu_1", "Bash"), result("09", "toolu_1", "oauth")}},
		"a call of another tool":             {main: []string{calls("04", "toolu_1", "Read"), result("09", "toolu_1", "oauth")}},
		"a subagent's": {main: []string{calls("01", "toolu_1", "Agent")},
			subagent: []string{calls("04", "toolu_2", "Bash"), result("09", "toolu_2", "oauth")}, want: true},
		"a subagent's that has no end": {main: []string{calls("04", "toolu_1", "Bash"), result("09", "toolu_1", "done")},
			subagent: []string{calls("04", "toolu_2", "Bash")}},
		"without times": {main: []string{`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash"}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"oauth"}]}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session.jsonl")
			for file, lines := range map[string][]string{path: c.main,
				strings.TrimSuffix(path, ".jsonl") + "/subagents/agent-1.jsonl": c.subagent} {
				noError(t, os.MkdirAll(filepath.Dir(file), 0o700))
				noError(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
			}
			if got, err := TakenIn(path, asked, "oauth"); got != c.want || err != nil {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
