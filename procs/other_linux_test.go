package procs

import (
	"bufio"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Whatever a process does to hide where it comes from, it has what was set on the one that it descends from. Without
// that nothing tells: which shows that it is the tag that does.
func TestWhatDescendsFromATaggedProcessIsKnown(t *testing.T) {
	if why := BelowClaude(This().PID); why != "" {
		t.Skip("these tests run below a claude: ", why) // in CI, too
	}
	for name, script := range map[string]string{
		"a child":    "sleep 60 & echo $!; wait",
		"an orphan":  "(setsid env -i /bin/sh -c 'echo $$; exec sleep 60' &)",
		"of a limit": "ulimit -R 1000000; (setsid env -i /bin/sh -c 'echo $$; exec sleep 60' &)",
	} {
		for _, tags := range []bool{false, true} {
			if !tags && name == "of a limit" {
				continue // it has told itself
			}
			cmd := exec.Command("bash", "-c", "read go; "+script)
			in, err := cmd.StdinPipe()
			noError(t, err)
			out, err := cmd.StdoutPipe()
			noError(t, err)
			noError(t, cmd.Start())
			if tags {
				noError(t, other(cmd.Process.Pid).Tag())
			}
			_, err = in.Write([]byte("\n"))
			noError(t, err)
			line, err := bufio.NewReader(out).ReadString('\n')
			noError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			noError(t, err)
			if why := BelowClaude(pid); (why != "") != tags {
				t.Errorf("%s, tagged %v: %q", name, tags, why)
			}
			noError(t, exec.Command("kill", "-KILL", strconv.Itoa(pid)).Run())
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

func TestACLIIsKnownByItsName(t *testing.T) {
	for line, is := range map[string]bool{
		"claude": true, "/opt/x/claude --resume": true, "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js": true,
		"claude-supervise answer": false, "vim claude": false, "node /usr/bin/claude": true, "bash -c claude": false, "": false,
	} {
		if isClaude(strings.Split(line, " ")) != is {
			t.Errorf("%q is one: %v", line, !is)
		}
	}
}
