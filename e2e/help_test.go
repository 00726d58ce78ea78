package e2e

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"claude-supervise/procs/pty"
)

// Each command that the help of the program lists has a help with an example, and each topic is there. All fit 80
// columns, and hold no escape sequence.
func TestEveryHelpHasAnExampleAndFits80Columns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	root := w.must("--help")
	fits80(t, "claude-supervise", root)
	commands, topics := listed(t, root, "Available Commands:"), listed(t, root, "Topics (claude-supervise help TOPIC):")
	if len(commands) < 20 || len(topics) < 10 {
		t.Fatalf("the help lists %q and %q", commands, topics)
	}
	for _, command := range append(commands, "completion bash", "completion zsh", "completion fish",
		"completion powershell") {
		help := w.must(append(strings.Fields(command), "--help")...)
		fits80(t, command, help)
		if !strings.Contains(help, "\nExamples:\n  ") {
			t.Errorf("%s --help has no example", command)
		}
	}
	for _, topic := range topics {
		page := w.must("help", topic)
		fits80(t, topic, page)
		if !strings.HasPrefix(page, strings.ToUpper(topic)+" - ") || regexp.MustCompile("(?m)^##+ |^```|(^| )\\*\\*[a-zA-Z]").MatchString(page) {
			t.Errorf("the topic %s shows:\n%s", topic, page)
		}
	}
}

// listed returns the names in one list of the help.
func listed(t *testing.T, help, title string) (names []string) {
	_, list, found := strings.Cut(help, "\n"+title+"\n")
	if !found {
		t.Fatalf("the help has no %q:\n%s", title, help)
	}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			break
		}
		names = append(names, name)
	}
	return names
}

func fits80(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > 80 || strings.Contains(line, "\x1b") {
			t.Errorf("%s: %q", what, line)
		}
	}
}

func TestALongTopicIsShownThroughThePagerOfThePerson(t *testing.T) {
	t.Parallel()
	const paged, bare = "P:EXIT-CODES - ", "EXIT-CODES - "
	for name, c := range map[string]struct {
		env   []string
		rows  uint16
		begin string
	}{
		"the pager":             {[]string{"TERM=xterm", "PAGER=sed 's/^/P:/'"}, 10, paged},
		"how less is told":      {[]string{"TERM=xterm", `PAGER=echo "$LESS:$LV:$LESSCHARSET" #`}, 10, "FRX:-c:utf-8\n"},
		"their own options":     {[]string{"TERM=xterm", "LESS=i", `PAGER=echo "$LESS" #`}, 10, "i\n"},
		"less where none is":    {[]string{"TERM=xterm", "PATH=LESS:/usr/bin:/bin"}, 10, "less has it"},
		"a page that fits":      {[]string{"TERM=xterm", "PAGER=sed 's/^/P:/'"}, 60, bare},
		"none":                  {[]string{"TERM=xterm", "PAGER="}, 10, bare},
		"cat":                   {[]string{"TERM=xterm", "PAGER=cat"}, 10, bare},
		"a dumb terminal":       {[]string{"TERM=dumb", "PAGER=sed 's/^/P:/'"}, 10, bare},
		"one that is not there": {[]string{"TERM=xterm", "PAGER=no-such-pager 2>/dev/null"}, 10, bare},
		"one that is left":      {[]string{"TERM=xterm", "PAGER=true"}, 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.put("less", "#!/bin/sh\nexec echo less has it\n")
			cmd := exec.Command("sh", "-c", "chmod +x less; exec "+w.Program+" help exit-codes")
			cmd.Dir = w.Cwd
			for _, set := range append(w.Env, c.env...) {
				cmd.Env = append(cmd.Env, strings.Replace(set, "PATH=LESS", "PATH="+w.Cwd, 1))
			}
			screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: c.rows, Cols: 80})
			noError(t, err)
			defer func() { _ = screen.Close() }()
			shown, _ := io.ReadAll(screen) // ends with EIO
			seen := strings.ReplaceAll(string(shown), "\r\n", "\n")
			if err := cmd.Wait(); err != nil || !strings.HasPrefix(seen, c.begin) || (c.begin == "") != (seen == "") {
				t.Errorf("it shows %q (%v)", seen, err)
			}
		})
	}
}

func TestAMistypedTopicGetsASuggestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for typed, want := range map[string]string{
		"trsut": `no command or topic "trsut"; ` + "`claude-supervise help`" + ` lists them (did you mean trust?)`,
		"ru":    "(did you mean run?)",
		"task":  "(did you mean task-files?)",
		"poem":  "lists them\n",
	} {
		if code, _, said := w.run("help", typed); code != 2 || !strings.Contains(said, want) {
			t.Errorf("help %s exits %d and says %s", typed, code, said)
		}
	}
	if found := w.must("__complete", "help", "t"); !strings.Contains(found, "task-files\t") ||
		!strings.Contains(found, "trust\twhat may run") {
		t.Errorf("help completes to\n%s", found)
	}
}
