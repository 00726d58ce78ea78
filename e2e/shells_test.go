package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A shell is one that a person types in, with the completion of a program loaded.
type shell struct {
	name  string
	start []string
	loads string // the script of %s, as it prints it for this shell
	sum   string // prints an arithmetical expression's value: proof that the shell has read all keys before it
}

var shells = map[string]shell{
	"bash": {"bash", []string{"bash", "--norc", "--noprofile", "-i"},
		"[ ! -f " + bashCompletion + " ] || . " + bashCompletion + "; declare -F _get_comp_words_by_ref || " +
			"_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev= words=(\"${COMP_WORDS[@]}\") cword=$COMP_CWORD; }; " +
			". <(%s)", "echo read-$((20+3))"},
	"zsh": {"zsh", []string{"zsh", "-f", "-i"}, "autoload -U compinit; compinit -u -D; . <(%s)", "echo read-$((20+3))"},
	"fish": {"fish", []string{"fish", "--private", "-C", "function fish_prompt; printf 'ready> '; end"}, "%s | source",
		"echo read-(math 20+3)"},
}

const bashCompletion = "/usr/share/bash-completion/bash_completion"

// sitIn opens a shell in the world's folder; a test is skipped where the shell is not there, and nobody has set it up.
func (w *world) sitIn(sh shell, loads string) *screen {
	w.t.Helper()
	if _, err := exec.LookPath(sh.start[0]); err != nil {
		if os.Getenv("CLAUDE_SUPERVISE_TEST_SHELLS") != "" || sh.name == "bash" {
			w.t.Fatal(err)
		}
		w.t.Skip("make attacks installs it: ", err) // in CI, too, by make test
	}
	cmd := exec.Command(sh.start[0], sh.start[1:]...)
	cmd.Dir, cmd.Env = w.Cwd, append(slices.Clone(w.Env), "PS1=ready> ", "XDG_CONFIG_HOME="+w.Home)
	s := w.seat(cmd, []string{"COLUMNS=80"})
	s.sees("ready> ") // a prompt: only now are keys taken one by one
	s.types(fmt.Sprintf(sh.loads, loads) + "\n")
	s.sees("ready> ")
	return s
}

// completed asks for the completions of a line again and again, and gives the files that there are afterwards.
func (w *world) completed(s *screen, sh shell, line string) (files []string, seen string) {
	w.t.Helper()
	s.types(line)
	s.types("\t\t\t \t\t\t")        // with a blank: what was completed is a word of its own, and the next one is asked for
	s.types("\x15" + sh.sum + "\n") // Ctrl-U leaves the list and the line
	seen = s.sees("read-23")
	s.sees("ready> ")
	entries, err := os.ReadDir(w.Cwd)
	noError(w.t, err)
	for _, e := range entries {
		files = append(files, e.Name())
	}
	return files, seen
}

// What a shell completes was written by an agent or a repository: none of it is run. The control is a program whose
// completion hands out the same labels as they are: bash runs them.
func TestNoShellRunsWhatItCompletes(t *testing.T) {
	t.Parallel()
	asks := `
name: labels
about: labels of options
prompt: Ask.
turns:
  - when: "## YOUR TASK"
    replies:
      - %s
expect: {status: parked, exit_code: 75}
`
	for _, sh := range playedAttacks(t, shells) {
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			for _, labels := range []string{
				`["$(touch PWN-a)1", "$(touch PWN-a)2"]`, "[\"`touch PWN-b`1\", \"`touch PWN-b`2\"]",
				`["x;touch PWN-c;1", "x;touch PWN-c;2"]`, `["$(touch PWN-d)"]`, `["plain", "plainer"]`,
			} {
				path := w.scenario(fmt.Sprintf(asks,
					clarifies("\n  - question_id: Q1\n    text: Which one?\n    options: "+labels)))
				w.exits(75, "run", "--check", "off", "--on-question", "park", "--hold", "0", "--name", "$(touch PWN-n)"+labels[2:5], "--demo", path)
			}
			open := w.questions()
			if len(open) != 5 {
				t.Fatalf("%d questions are open", len(open))
			}
			for _, file := range []string{"x$(touch PWN-f)1", "x$(touch PWN-f)2", "y$(touch PWN-g)"} {
				noError(t, os.WriteFile(filepath.Join(w.Cwd, file), nil, 0o600))
			}
			s := w.sitIn(sh, "claude-supervise completion "+sh.name)
			offered := ""
			for _, line := range []string{"answer " + open[0].ID + " ", "answer " + open[1].ID + " ",
				"answer " + open[2].ID + " ", "answer " + open[3].ID + " ", "answer " + open[4].ID + " ", "answer ", "attach ",
				"show ", "wait ", "run --demo ", "run -f x", "run -f y", "run --continue "} {
				files, seen := w.completed(s, sh, "claude-supervise "+line)
				offered += seen
				if i := slices.IndexFunc(files, func(f string) bool { return strings.HasPrefix(f, "PWN") }); i >= 0 {
					t.Fatalf("to complete %q has run code: there is %s\n%s", line, files[i], seen)
				}
			}
			if !strings.Contains(offered, "plain") || !strings.Contains(offered, open[0].ID[2:]) {
				t.Errorf("nothing was completed:\n%s", offered)
			}
		})
	}
	t.Run("control", func(t *testing.T) {
		t.Parallel()
		w := demoWorld(t)
		raw := filepath.Join(w.Home, "raw-labels")
		script := "#!/bin/sh\n[ \"$1\" = __complete ] || exec claude-supervise \"$@\"\n" +
			"printf '%s\\n' '$(touch PWN-a)1' '$(touch PWN-a)2' :4\n"
		noError(t, os.WriteFile(raw, []byte(script), 0o700))
		w.Env = append(w.Env, "PATH="+w.Home+":"+filepath.Dir(w.Program)+":/usr/local/bin:/usr/bin:/bin")
		s := w.sitIn(shells["bash"], "raw-labels completion bash | sed s/claude-supervise/raw-labels/g")
		if files, seen := w.completed(s, shells["bash"], "raw-labels answer q-1 "); !slices.Contains(files, "PWN-a") {
			t.Errorf("bash runs no label, and shows nothing:\n%s", seen)
		}
	})
}
