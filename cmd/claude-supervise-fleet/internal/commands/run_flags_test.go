package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/internal/request"
)

// flagsOfRun are those of `claude-supervise run`.
func flagsOfRun() []string {
	cmd, names := new(cobra.Command), []string{"task-schema"}
	request.AddFlags(cmd, new(request.Flags))
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func TestEachFlagOfRunIsPassedOnOrRefusedWithTheReason(t *testing.T) {
	all := flagsOfRun()
	for _, known := range []string{"allow", "worktree", "max-turns", "snapshots", "exec", "json"} {
		if !slices.Contains(all, known) {
			t.Fatalf("the flags of run are read as %q", all)
		}
	}
	run := newRun()
	for _, name := range all {
		f := run.Flags().Lookup(name)
		if f == nil {
			t.Errorf("nobody says what becomes of --%s", name)
			continue
		}
		if why, not := notHere[name]; not != f.Hidden || not && why == "" {
			t.Errorf("--%s is hidden: %t, because %q", name, f.Hidden, why)
		}
	}
	for name := range notHere {
		if !slices.Contains(all, name) {
			t.Errorf("--%s is refused, and run has no such flag", name)
		}
		for _, args := range [][]string{{"--" + name + "=x"}, {"--" + name, "x"}} {
			cmd := newRun()
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			cmd.SetArgs(append(args, "do it"))
			err := cmd.Execute()
			if err == nil || !strings.Contains(err.Error(), "--"+name+" is not for a fleet: "+notHere[name]) {
				t.Errorf("%q: %v", args, err)
			}
		}
	}
}

func TestFlagsArePassedOnAsTheyWereTyped(t *testing.T) {
	for _, c := range []struct {
		args               []string
		flags, given, exec string
	}{
		{[]string{"x"}, "", "", ""},
		{[]string{"--max-turns", "3", "--allow", "Bash(a b)", "--allow", "Edit", "x"},
			"--allow=Bash(a b) --allow=Edit --max-turns=3", "--allow=Bash(a b) --allow=Edit --max-turns=3", ""},
		{[]string{"--hold", "0", "--max-held=2", "--accept-id", "old", "--silent-after", "5m", "--on-silence", "retry", "x"},
			"--hold=0 --max-held=2 --accept-id=old --silent-after=5m --on-silence=retry", "", ""},
		{[]string{"--worktree", "--exec", "sh agent.sh {}", "x"}, "--worktree=true", "", "sh agent.sh {}"},
	} {
		task := taskOf(t, c.args...)
		if got := strings.Join(task.Flags, " "); got != c.flags {
			t.Errorf("%q: the run is given %q", c.args, got)
		}
		if got := strings.Join(task.Given, " "); got != c.given || task.Exec != c.exec {
			t.Errorf("%q: whoever goes on with it gives %q, and runs %q", c.args, got, task.Exec)
		}
	}
}

// taskOf is the task that a command line hands in.
func taskOf(t *testing.T, args ...string) (task flow.Task) {
	t.Helper()
	var f runFlags
	cmd := f.command()
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	task, err := f.task(cmd, cmd.Flags().Args())
	if err != nil {
		t.Fatal(err)
	}
	return task
}

func TestATaskThatIsTooLargeIsSaidToBeAsLargeAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "task.yaml")
	if err := os.WriteFile(file, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := tasksOf(t, "-f", file, "and this"); err == nil ||
		!strings.Contains(err.Error(), "has 3145736 bytes, and a fleet takes 1048576") {
		t.Errorf("it is refused: %v", err)
	}
}

// tasksOf are the tasks that a command line hands in.
func tasksOf(t *testing.T, args ...string) ([]flow.Task, error) {
	t.Helper()
	var f runFlags
	cmd := f.command()
	if err := cmd.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	task, err := f.task(cmd, cmd.Flags().Args())
	if err != nil {
		return nil, err
	}
	return f.tasks(t.Context(), task)
}

func TestEachInATaskFileIsARunOfEachItem(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{
		"repos": "api\nweb\n", "lines.yaml": "each: {lines: repos}\nchild: {prompt: \"Upgrade {item}\"}",
		"files.yaml": "each: {files: \"*.yaml\"}\nprompt: \"Read {item}, number {index}\"",
		"no.yaml":    "each: {lines: repos}\nprompt: the same", "only.yaml": "child: {prompt: \"{item}\"}",
		"two.yaml": "children: [{prompt: x}]", "bad.yaml": "prompts: x",
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string // in the task file of the second; with "!" before it, in the error
		runs int
	}{
		{[]string{"-f", "lines.yaml"}, "Upgrade web", 2},
		{[]string{"-f", "files.yaml"}, "Read files.yaml, number 2", 6},
		{[]string{"-f", "lines.yaml", "--each", "printf '%s\\n' a b c"}, "Upgrade b", 3},
		{[]string{"-f", "no.yaml", "--repo", "https://h/{item}"}, "the same", 2},
		{[]string{"--each", "no-such-program", "{item}"}, "!--each: \"no-such-program\": executable file not found", 0},
		{[]string{"--each", "sh -c 'exit 3'", "{item}"}, "!exit status 3; nothing was submitted", 0},
		{[]string{"--each", "sh '", "{item}"}, "!cannot be split into words", 0},
		{[]string{"-f", "no.yaml"}, "!no text of the task says {item}", 0},
		{[]string{"-f", "only.yaml"}, "!but not of what", 0},
		{[]string{"-f", "two.yaml", "--each", "echo a"}, "!states children", 0},
		{[]string{"-f", "bad.yaml"}, "!there is no key \"prompts\"", 0},
	} {
		tasks, err := tasksOf(t, c.args...)
		if says, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v", c.args, err)
			}
			continue
		}
		if err != nil || len(tasks) != c.runs || !strings.Contains(tasks[1].File, c.want) ||
			tasks[0].Run == tasks[1].Run {
			t.Errorf("%q: %v: %+v", c.args, err, tasks)
		}
	}
}
