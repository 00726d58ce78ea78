package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// pictured keeps what is on the screen in the folder that CLAUDE_SUPERVISE_TEST_PICTURES names, to be looked at with
// cat: NAME.ansi with its looks, NAME.txt without.
func (p *pane) pictured(name string) {
	p.t.Helper()
	folder := os.Getenv("CLAUDE_SUPERVISE_TEST_PICTURES")
	if folder == "" {
		return
	}
	for file, text := range map[string]string{name + ".txt": p.screen() + "\n", name + ".ansi": p.tmux("capture-pane", "-e", "-p")} {
		noError(p.t, os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600))
	}
}

// The board, its form and its help on the sizes that it is promised for: what is needed to go on is always seen. make
// board tries all of them and keeps a picture of each, make test the smallest one.
func TestTheBoardOnEachSizeOfTerminal(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	for _, demo := range []string{"ask", "permission-edit", "delegate-asked"} {
		if code, _, stderr := w.run("run", "--cwd", ".", "--demo", demo, "--hold", "0", "--on-question", "park"); code != 75 {
			t.Fatalf("%s exits %d\n%s", demo, code, stderr)
		}
	}
	w.must("run", "--cwd", ".", "--demo", "ask", "--answer", "login=JWT", "--name", "before lunch")
	p := w.sitInTmux()
	p.keys("claude-supervise board", "Enter")
	p.sees(`3 questions · 3 runs`)
	sizes := [][3]string{{"40", "20", `Tab pane`}, {"60", "16", `Tab pane · w write`}, {"80", "24", `Tab pane · w write.*$`},
		{"140", "40", `│─`}}
	if os.Getenv("CLAUDE_SUPERVISE_TEST_PICTURES") == "" {
		sizes = sizes[:1] // the narrowest
	}
	for _, size := range sizes {
		p.resizes(size[0], size[1])
		p.sees(size[2])
		for _, state := range []struct {
			name       string
			keys, back []string
			sees       string
		}{
			{"list", []string{"Home"}, []string{"Home"}, `❯.\? (.*\n)+.*Enter answer`},
			{"form", []string{"Enter"}, []string{"Escape"}, `Which way of login should(.*\n)+.*❯ 1\) JWT(.*\n)+.*(↑↓ Enter choose|Enter · \? help)`},
			{"log", []string{"Tab"}, []string{"Tab", "Tab", "Tab"}, `\[log\]`},
			{"evidence", []string{"Down", "Enter"}, []string{"Escape"}, `May it edit version.txt\?(.*\n)+.*1\) allow(.*\n)+.*(↑↓ Enter choose|Enter · \? help)`},
			{"help", []string{"?"}, []string{"Escape"}, `answers what is asked`},
			{"past", []string{"e"}, []string{"e"}, ` 1/7\n`},
			{"sure", []string{"s"}, []string{"n"}, `Stop .*, and what it\s+started(.*\n)+.*y does it`},
		} {
			p.keys(state.keys...)
			p.sees(state.sees)
			p.pictured(fmt.Sprintf("%s-%sx%s", state.name, size[0], size[1]))
			p.keys(state.back...)
			p.sees(`(open|answer) ·(.|\n)*\? keys`) // by now Escape has not become a part of the next key
			p.keys("Home")
			p.sees(`❯.\? (.*\n)+.*Enter answer`)
		}
	}
}
