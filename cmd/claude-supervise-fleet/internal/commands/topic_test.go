package commands

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// The commands of the topic on fleets, which claude-supervise shows, are ones that this program takes.
func TestTheCommandsOfTheTopicAreTaken(t *testing.T) {
	page, err := os.ReadFile("../../../claude-supervise/topics/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	for line := range strings.SplitSeq(strings.ReplaceAll(string(page), "\\\n", " "), "\n") {
		line, shown := strings.CutPrefix(line, "    ")
		switch {
		case !shown:
		case strings.HasPrefix(line, "temporal operator search-attribute create "):
			want := "--name " + flow.AttributeOpen + " --type KeywordList --name " + flow.AttributeStatus +
				" --type Keyword --name " + flow.AttributeChanged + " --type Datetime"
			if !strings.HasSuffix(strings.Join(strings.Fields(line), " "), want) {
				t.Errorf("%s\ndoes not make the attributes %s", line, want)
			}
		default:
			words, err := exec.CommandContext(t.Context(), "sh", "-c", "set -- "+line+`; printf '%s\n' "$@"`).Output()
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Split(strings.TrimSuffix(string(words), "\n"), "\n")
			if len(args) < 3 || args[0] != "claude-supervise" || args[1] != "fleet" {
				t.Errorf("no test knows how to take %s", line)
				continue
			}
			cmd, rest, err := newRoot(nil).Find(args[2:])
			if err == nil {
				err = cmd.ParseFlags(rest)
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err != nil || !cmd.Runnable() {
				t.Errorf("%s\nis refused: %v", line, err)
			}
			taken++
		}
	}
	if taken == 0 {
		t.Error("the topic shows no command")
	}
}
