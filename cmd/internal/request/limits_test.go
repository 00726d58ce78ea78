package request

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"claude-supervise/cmd/internal/taskfile"
	"claude-supervise/supervisor/conf"
)

// What a task file may do with each of its fields, which may come with a repository that nobody has read.
const (
	harmless = "harmless"               // it says what is to be done, and loosens nothing
	narrows  = "only narrower"          // what would be wider than the person's flag or the default does not count
	needs    = "needs --allow task"     // it counts only where the person has said so
	refuses  = "answers, allows naught" // an answer to a clarification or blocker; it permits nothing (supervisor.Preset)
)

var fieldsOfATaskFile = map[string]string{
	"Prompt": harmless, "Brief": harmless, "Name": harmless, "Model": harmless, "Estimated": harmless,
	"Children": harmless, "Each": harmless, "Template": harmless, // how many stand in the file; how deep is narrows, below
	"Worktree": harmless, // it only keeps agents apart
	"MaxTurns": narrows, "Permissions": narrows, "Hold": narrows, "Deny": narrows, "Budget": narrows,
	"MaxParallel": narrows, "MaxDepth": narrows, "MaxAgents": narrows, "Delegate": narrows,
	"Allow": needs, "AcceptIDs": needs,
	"Answers": refuses,
}

func TestEachFieldOfATaskFileHasAClass(t *testing.T) {
	fields := slices.DeleteFunc(reflect.VisibleFields(reflect.TypeFor[taskfile.File]()), func(f reflect.StructField) bool {
		return f.Anonymous // whose own fields are there
	})
	for _, f := range fields {
		if fieldsOfATaskFile[f.Name] == "" {
			t.Errorf("may a task file set %s without being asked about? Class it, and show it in this test", f.Name)
		}
	}
	if len(fields) != len(fieldsOfATaskFile) {
		t.Errorf("%d fields, %d classes", len(fields), len(fieldsOfATaskFile))
	}
}

// ordered returns what a command line asks for, with a task file of this text.
func ordered(t *testing.T, text string, flags ...string) (Request, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("task.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var f Flags
	cmd := &cobra.Command{Use: "run"}
	AddFlags(cmd, &f)
	if err := cmd.ParseFlags(append([]string{"-f", "task.yaml"}, flags...)); err != nil {
		t.Fatal(err)
	}
	given, err := SetDefaults(cmd, &f)
	if err != nil {
		t.Fatal(err)
	}
	return New(cmd, cmd.Flags().Args(), f, given)
}

func TestATaskFileLoosensNothingUnlessThePersonLetsIt(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		got   func(conf.Config) any
		stays any    // without a word of the person's
		wish  string // what is told then
		flag  []string
		under any // with that flag of the person's
		taken any // with --allow task
	}{
		"delegate": {"delegate: auto", func(c conf.Config) any {
			return c.Delegate[0]
		}, conf.AskDelegations, "delegate auto", []string{"--delegate", "deny"}, conf.DenyDelegations,
			conf.AutoDelegations},
		"delegate, by depth": {"delegate: deny,auto", func(c conf.Config) any {
			return c.Delegate[1]
		}, conf.AskDelegations, "delegate deny,auto", []string{"--delegate", "auto"}, conf.AutoDelegations,
			conf.AutoDelegations},
		"delegate, narrower": {"delegate: deny", func(c conf.Config) any {
			return c.Delegate[0]
		}, conf.DenyDelegations, "", []string{"--delegate", "auto"}, conf.DenyDelegations,
			conf.DenyDelegations},
		"max_depth": {"max_depth: 9", func(c conf.Config) any {
			return c.MaxDepth
		}, 3, "max_depth 9", []string{"--max-depth", "2"}, 2, 9},
		"max_depth, narrower": {"max_depth: 1", func(c conf.Config) any {
			return c.MaxDepth
		}, 1, "", []string{"--max-depth", "0"}, 1, 1},
		"max_agents": {"max_agents: 500", func(c conf.Config) any {
			return c.MaxAgents
		}, 50, "max_agents 500", []string{"--max-agents", "100"}, 100, 500},
		"max_agents, narrower": {"max_agents: 5", func(c conf.Config) any {
			return c.MaxAgents
		}, 5, "", []string{"--max-agents", "100"}, 5, 5},
		"max_parallel": {"max_parallel: 64", func(c conf.Config) any {
			return c.MaxParallel
		}, 4, "max_parallel 64", []string{"--max-parallel", "8"}, 8, 64},
		"max_cost_usd": {"max_cost_usd: 7", func(c conf.Config) any {
			return c.Budget.CostUSD
		}, 7.0, "", []string{"--max-cost-usd", "2"}, 2.0, 7.0},
		"max_tokens": {"max_tokens: 7M", func(c conf.Config) any {
			return c.Budget.Tokens
		}, int64(7_000_000), "", []string{"--max-tokens", "2M"}, int64(2_000_000), int64(7_000_000)},
		"max_turns": {"max_turns: 90", func(c conf.Config) any {
			return c.Budget.Turns
		}, 90, "", []string{"--max-turns", "8"}, 8, 90},
		"permissions": {"permissions: ask", func(c conf.Config) any {
			return c.Permissions
		}, conf.AskPermissions, "", []string{"--permissions", "deny"}, conf.DenyPermissions,
			conf.AskPermissions},
		"hold": {"hold: forever", func(c conf.Config) any {
			return c.Hold.String()
		}, "5m0s", "hold forever", []string{"--hold", "1m"}, "1m0s", conf.Forever.String()},
		"hold, narrower": {"hold: 10s", func(c conf.Config) any {
			return c.Hold.String()
		}, "10s", "", []string{"--hold", "1m"}, "1m0s", "10s"},
		"accept_ids": {"accept_ids: [bg-task-1]", func(c conf.Config) any {
			return strings.Join(c.AcceptIDs, " ")
		}, "", "accept_ids bg-task-1", []string{"--accept-id", "mine"}, "mine", "bg-task-1"},
		"allow": {"allow: [Bash(make test)]", func(c conf.Config) any {
			return strings.Join(c.Allow, " ")
		}, "", "Bash(make test)", []string{"--allow", "Read"}, "Read", "Bash(make test)"},
		"deny": {"deny: [Bash(make test)]", func(c conf.Config) any {
			return strings.Join(c.Deny, " ")
		}, "Bash(make test)", "", []string{"--allow", "Read"}, "Bash(make test)", "Bash(make test)"},
	} {
		t.Run(name, func(t *testing.T) {
			text := "prompt: Write the notes.\n" + c.text + "\n"
			for _, try := range []struct {
				flags []string
				want  any
			}{{nil, c.stays}, {c.flag, c.under}, {[]string{"--allow", "task"}, c.taken}} {
				o, err := ordered(t, text, try.flags...)
				if err != nil {
					t.Fatal(err)
				}
				if got := c.got(o.Config); got != try.want {
					t.Errorf("with %q it is %v, want %v", try.flags, got, try.want)
				}
				if told := slices.Contains(o.requestedLimits, c.wish); len(try.flags) == 0 && told != (c.wish != "") {
					t.Errorf("told are %q, want %q", o.requestedLimits, c.wish)
				}
				if len(try.flags) > 0 && try.flags[1] == allowTask && len(o.requestedLimits) > 0 {
					t.Errorf("allowed, and told of all the same: %q", o.requestedLimits)
				}
			}
		})
	}
}

func TestChildrenDeeperThanTheLimitAreThePersonsToLet(t *testing.T) {
	text := "children:\n  - {name: a, prompt: do a, children: [{name: b, prompt: do b, children: [{name: c, prompt: do " +
		"c, children: [{name: d, prompt: do d}]}]}]}\n"
	if _, err := ordered(t, text); err == nil || !strings.Contains(err.Error(), "--max-depth 4, or --allow task") {
		t.Errorf("it says %v", err)
	}
	for _, flags := range [][]string{{"--allow", "task"}, {"--max-depth", "4"}} {
		if o, err := ordered(t, text, flags...); err != nil || o.Config.MaxDepth != 4 {
			t.Errorf("with %q: depth %d (%v)", flags, o.Config.MaxDepth, err)
		}
	}
}
