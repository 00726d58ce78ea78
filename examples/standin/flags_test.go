package standin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const session = "7ab0842a-64de-468d-9956-d109efa79608"

func TestTheFlagsOfASupervisorAreUnderstood(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want options
	}{
		"none":          {nil, options{mode: "default", model: "scripted"}},
		"a new session": {[]string{"--session-id", session}, options{session: session, mode: "default", model: "scripted"}},
		"an old one": {[]string{"--resume", session},
			options{session: session, resume: true, mode: "default", model: "scripted"}},
		"in short": {[]string{"-r", session},
			options{session: session, resume: true, mode: "default", model: "scripted"}},
		"an old mode": {[]string{"--permission-mode", "manual"}, options{mode: "default", model: "scripted"}},
		"a mode":      {[]string{"--permission-mode=acceptEdits"}, options{mode: "acceptEdits", model: "scripted"}},
		"a fork": {[]string{"--resume", session, "--fork-session", "--session-id", other},
			options{session: other, fork: session, mode: "default", model: "scripted"}},
		"bounds": {[]string{"--agent=x", "--max-budget-usd=0.5", "--max-turns=3"},
			options{budget: 0.5, maxTurns: 3, mode: "default", model: "scripted"}},
		"no permissions": {[]string{"--dangerously-skip-permissions"}, options{mode: "bypassPermissions", model: "scripted"}},
		"rules": {[]string{"--allowedTools", "Bash(git log:*),Write", "--allowed-tools", "Read"},
			options{allowed: []string{"Bash(git log:*)", "Write", "Read"}, mode: "default", model: "scripted"}},
		"what is shown": {[]string{"--replay-user-messages", "--forward-subagent-text", "--model", "m"},
			options{replay: true, subagentText: true, mode: "default", model: "m"}},
		"tools to call": {[]string{`--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`},
			options{servers: []string{"supervise"}, mode: "default", model: "scripted"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseFlags(append(append([]string{}, flags...), c.args...))
			noError(t, err)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOtherFlagsAreRefusedInTheWordsOfTheCLI(t *testing.T) {
	without := func(gone ...string) []string {
		var left []string
		for i := 0; i < len(flags); i++ {
			if flags[i] == gone[0] {
				i += len(gone) - 1
				continue
			}
			left = append(left, flags[i])
		}
		return left
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a server far away": {append([]string{`--mcp-config={"mcpServers":{"x":{"type":"http"}}}`}, flags...),
			"Error: the stand-in knows no MCP servers but those of type sdk and stdio"},
		"an unknown one":          {append([]string{"--nonsense"}, flags...), "error: unknown option '--nonsense'"},
		"with a value":            {append([]string{"--nonsense=3"}, flags...), "error: unknown option '--nonsense=3'"},
		"a short one":             {append([]string{"-y"}, flags...), "error: unknown option '-y'"},
		"a value that is missing": {append(flags[:len(flags):len(flags)], "--session-id"), "error: "},
		"no uuid": {append(flags[:len(flags):len(flags)], "--session-id", "x"),
			"Error: Invalid session ID. Must be a valid UUID."},
		"a strange mode":    {append(flags[:len(flags):len(flags)], "--permission-mode", "dontAsk"), "'dontAsk' is invalid"},
		"a prompt":          {append(flags[:len(flags):len(flags)], "do it"), `"do it"`},
		"not verbose":       {without("--verbose"), "requires --verbose"},
		"a terminal's form": {without("--input-format", "stream-json"), "--input-format stream-json"},
		"nobody to ask":     {without("--permission-prompt-tool", "stdio"), "--permission-prompt-tool stdio"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseFlags(c.args); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, not %q", err, c.want)
			}
		})
	}
}
