package signals

import (
	"strings"
	"testing"
)

func TestBashResultCountsIfTheCommandPrintsIt(t *testing.T) {
	block := stop(me)
	quoted := `"` + strings.TrimSuffix(block, "\n") + `"`
	escaped := strings.ReplaceAll(strings.TrimSuffix(block, "\n"), "\n", `\n`)
	object := `{"signal_type":"PROGRESS","agent_id":"` + me + `","payload":{"percent":40}}`
	here := "<<'EOF'\n" + block + "EOF\n"
	for _, c := range []struct {
		name, command, output string
		want                  bool
	}{
		{"echo", "echo " + quoted, block, true},
		{"echo in single quotes", "echo '" + strings.TrimSuffix(block, "\n") + "'", block, true},
		{"echo -e", `echo -e "` + escaped + `"`, block, true},
		{"echo with ANSI-C quotes", `echo $'` + escaped + `'`, block, true},
		{"a line at a time", `echo "[STOP_WORK]"; echo "agent_id: $ID"; echo details: x; echo "[/STOP_WORK]"`, block, true},
		{"unquoted", `echo [STOP_WORK] && cat notes && echo [/STOP_WORK]`, block, true},
		{"printf", "printf '%s\\n' " + quoted, block, true},
		{"printf that puts it together", `printf '[%s]\nagent_id: x\n' STOP_WORK`, block, true},
		{"printf with a format only", `printf "` + escaped + `\n"`, block, true},
		{"here-document", "cat " + here, block, true},
		{"here-document with tabs", "cat <<-EOF\n\t" + strings.ReplaceAll(block, "\n", "\n\t") + "EOF\n", block, true},
		{"here-document, then more", "cat " + here + "echo done", block + "done\n", true},
		{"two here-documents", "cat <<A; cat <<B\nfirst\nA\n" + block + "B\n", "first\n" + block, true},
		{"here-string", "cat <<< " + quoted, block, true},
		{"in an if", "if true; then\n  echo " + quoted + "\nfi", block, true},
		{"in a loop", "for x in 1; do echo " + quoted + "; done", block, true},
		{"in a case", "case $x in\n a) echo " + quoted + " ;;\nesac", block, true},
		{"in a group", "{ echo " + quoted + "; }", block, true},
		{"in a subshell", "(cd /tmp && echo " + quoted + ")", block, true},
		{"to the error output", "echo " + quoted + " >&2", block, true},
		{"with errors thrown away", "echo " + quoted + " 2>/dev/null", block, true},
		{"after an assignment", "X=1 echo " + quoted, block, true},
		{"after a pipe", "true | echo " + quoted, block, true},
		{"json", "echo '" + object + "'", object + "\n", true},
		{"json in double quotes", `echo "` + strings.ReplaceAll(object, `"`, `\"`) + `"`, object + "\n", true},
		{"after a comment", "# it's a stop\necho " + quoted, block, true},

		{"a file", "cat notes.md", block, false},
		{"a search", "grep -A9 '[STOP_WORK]' notes.md", block, false},
		{"sed", "sed -n '/[STOP_WORK]/,$p' notes.md", block, false},
		{"tee", "echo " + quoted + " | tee notes.md", block, false},
		{"a pipe into a shell", "echo " + quoted + " | bash", block, false},
		{"here-document for an interpreter", "python3 <<'EOF'\nprint('''" + block + "''')\nEOF\n", block, false},
		{"here-document for bash", "bash " + here, block, false},
		{"here-document for tee", "tee notes.md " + here, block, false},
		{"here-document in a pipe", "cat <<'EOF' | tee x\n" + block + "EOF\n", block, false},
		{"here-document into a file that is read", "cat > notes.md " + here + "cat notes.md", block, false},
		{"echo into a file that is read", "echo " + quoted + " > notes.md; cat notes.md", block, false},
		{"echo appended to a file", "echo " + quoted + " >> notes.md\ncat notes.md", block, false},
		{"echo into a file with both outputs", "echo " + quoted + " &> notes.md; cat notes.md", block, false},
		{"a group into a file", "{ echo " + quoted + "; } > notes.md; cat notes.md", block, false},
		{"a subshell into a pipe", "(echo " + quoted + ") | tee notes.md", block, false},
		{"a loop into a file", "for x in 1; do echo " + quoted + "; done > notes.md; cat notes.md", block, false},
		{"all output into a file", "exec > notes.md\necho " + quoted + "\ncat notes.md >&2", block, false},
		{"a variable", "x=$(echo " + quoted + "); cat notes.md", block, false},
		{"another shell", "bash -c 'echo [STOP_WORK]'", block, false},
		{"talk about it", `echo "the [STOP_WORK] marker"; cat notes.md`, block, false},
		{"printf into a variable", "printf -v x '%s' " + quoted + "; cat notes.md", block, false},
		{"a comment", "cat notes.md # echo\n# [STOP_WORK]", block, false},
		{"another marker", "echo '[PROGRESS]'; cat notes.md", block, false},
		{"cat of a file beside a here-document", "cat notes.md " + here, block, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.ToolCall("Bash", nil)
			got := s.Bash(c.command, c.output, false)
			if (len(got) == 1) != c.want {
				t.Errorf("read %v, want %v\nprints %q", brief(got), c.want, printedBy(c.command, false))
			}
		})
	}
}

// A marker that the command may never print comes from the file that it shows.
func TestAMarkerCountsOnlyIfItsCommandSurelyRuns(t *testing.T) {
	const marker = "printf WORKFLOW_COMPLETE"
	// Whether it counts where the call has succeeded, and where it has failed. What succeeds and ends with && has run all
	// of that.
	for command, want := range map[string]struct{ succeeded, failed bool }{
		marker:                                    {true, true},
		"cat notes.md; " + marker:                 {true, true},
		marker + "; cat notes.md":                 {true, true},
		marker + " && cat notes.md":               {true, true},
		"{ cat notes.md; " + marker + "; }":       {true, true},
		"(cat notes.md; " + marker + ")":          {true, true},
		"(exit 1); cat notes.md; " + marker:       {true, true},
		"cat notes.md | grep x; " + marker:        {true, true},
		"f() { " + marker + "; }; cat n; f":       {true, true},
		"true && " + marker:                       {true, true}, // nothing else prints
		"if [ -f x ]; then " + marker + "; fi":    {true, true},
		"cat notes.md && " + marker:               {true, false},
		"make && ./notify && " + marker:           {true, false},
		"set -e; ./build; " + marker:              {true, false},
		"cat notes.md | { " + marker + "; }":      {true, true},
		"case x in y) " + marker + ";; esac; cat": {true, true},

		"if [ -f x ]; then cat notes.md; " + marker + "; fi":                       {true, true}, // they run together
		"while true; do case $x in a) make ;; esac; " + marker + "; exit 0; done":  {true, true},
		"[ -f x ] || exit 1; cat notes.md; " + marker + "; exit 0":                 {true, true},
		"[ -f x ] || exit; cat notes.md; " + marker:                                {true, true},
		"cat notes.md; [ -f x ] || exit 1; " + marker:                              {true, false},
		"cat notes.md; [ -f x ] || exit; " + marker:                                {},
		"if [ -f x ]; then " + marker + "; else cat notes.md; fi":                  {},
		"if [ -f x ]; then cat notes.md; elif y; then " + marker + "; fi":          {},
		"if [ -f x ]; then cat notes.md; exit; " + marker + "; fi":                 {},
		"if [ -f x ]; then " + marker + "; fi; if [ -f x ]; then cat notes.md; fi": {},
		"false && " + marker + "; cat notes.md":                                    {},
		"true || " + marker + "; cat notes.md":                                     {},
		"cat notes.md || " + marker:                                                {},
		"cat notes.md; exit; " + marker:                                            {},
		"cat notes.md; exec true; " + marker:                                       {},
		"exec cat notes.md; " + marker:                                             {},
		"[ -f x ] && exit; cat notes.md; " + marker:                                {true, true},
		"eval \"$X\"; cat notes.md; " + marker:                                     {},
		"$X; " + marker:                                                            {},
		"if false; then " + marker + "; fi; cat notes.md":                          {},
		"if cat notes.md; then :; else " + marker + "; fi":                         {},
		"while false; do " + marker + "; done; cat notes.md":                       {},
		"for x in $Y; do " + marker + "; done; cat notes.md":                       {},
		"case x in y) " + marker + ";; esac; cat notes.md":                         {},
		"f() { " + marker + "; }; cat notes.md":                                    {},
		"f() { return; " + marker + "; }; cat notes.md; f":                         {},
		"printf() { cat notes.md; }; " + marker:                                    {},
		"cat notes.md; " + marker + " > log":                                       {},
		"cat notes.md; " + marker + " | cat > log":                                 {},
		"cat notes.md; " + marker + " 2>/dev/null >&2":                             {},
		marker + " >&2 2>/dev/null; false && " + marker + "; cat n":                {true, true},
		"X=$(cat notes.md); echo \"$X\"; false && " + marker:                       {true, false},
		"cat <<E\n$(cat notes.md)\nE\nfalse && " + marker:                          {true, false},
		"false && " + marker + "; cat":                                             {true, true}, // of no input
		"false && " + marker + "; cat < notes.md":                                  {},
		"false && " + marker + "; cat notes.md | cat":                              {},
		"false && " + marker + "; declare -p":                                      {},
		"trap 'cat notes.md' EXIT; false && " + marker:                             {},
		"cat notes.md; echo 'x\\nWORKFLOW_COMPLETE'":                               {},
		"false && " + marker + "; ! cat notes.md":                                  {},
		"! true && " + marker + "; cat notes.md":                                   {},
		"cat notes.md & false && " + marker:                                        {true, false},
		"./build && cat notes.md || " + marker:                                     {},
		"false && { cat notes.md; " + marker + "; }; cat notes.md":                 {},
		"f() { f; }; f; false && " + marker:                                        {},
		"false && " + marker + "; cat notes.md # " + marker:                        {},
		"cat notes.md; " + strings.Repeat(": x;", maxCommand) + marker:             {}, // too long to be read
	} {
		for failed, want := range map[bool]bool{false: want.succeeded, true: want.failed} {
			s := NewScanner(Config{AgentID: me})
			s.ToolCall("Bash", nil)
			s.Bash(command, "WORKFLOW_COMPLETE\n", failed)
			if got := len(s.EndTurn("")) == 1; got != want {
				t.Errorf("%.100q, failed %t: read %t, want %t", command, failed, got, want)
			}
		}
	}
}

// However deep it goes, a command is read in time and memory that a supervisor has.
func TestAHostileCommandIsReadWithinBounds(t *testing.T) {
	for _, piece := range []string{"(", "$(", "{ ", "if ", "`", "\"$(", "${x:-", "((", "f() {",
		"a && ", "<<E\n", "! ", "case x in x) ", "f() { f; f; };f;", "while "} {
		printedBy(strings.Repeat(piece, maxCommand/len(piece)), false)
	}
}

func TestBashSignalWithoutIDCountsUnlessAnotherToolFollows(t *testing.T) {
	echo := "echo '" + stop("-") + "'"
	for _, c := range []struct {
		name string
		feed func(*Scanner)
		want []string
	}{
		{"nothing follows", func(*Scanner) {}, []string{"stop_work missing_field"}},
		{"text follows", func(s *Scanner) {
			s.BeginMessage(Main, "2")
			s.Text("one\n\ntwo\n\nthree")
		}, []string{"stop_work missing_field"}},
		{"Bash follows", func(s *Scanner) {
			s.ToolCall("Bash", nil)
			s.Bash("ls", "a", false)
		}, []string{"stop_work missing_field"}},
		{"another tool follows", func(s *Scanner) { s.ToolCall("Edit", nil) }, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := NewScanner(Config{AgentID: me})
			s.ToolCall("Bash", nil)
			same(t, brief(s.Bash(echo, stop("-"), false)), []string{})
			c.feed(s)
			same(t, brief(s.AtEnd()), c.want)
			same(t, brief(s.EndTurn("")), c.want)
			same(t, brief(s.EndTurn("")), []string{})
		})
	}
}

func TestBashResultOfAnotherAgentIsForeign(t *testing.T) {
	s := NewScanner(Config{AgentID: me})
	same(t, brief(s.Bash("echo '"+stop("bg-2")+"'", stop("bg-2"), false)), []string{"stop_work foreign"})
}

func FuzzPrintedBy(f *testing.F) {
	for _, seed := range []string{"printf 'ab%s%%\\n' a b c d", "echo a | tee b", "cat <<-'E' >x\n\ta\nE\n",
		`x=$(a "$(b)") $'\n' ${x#y} "` + "`c`", "{ (a) } &> x; fi", "()0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		n := 0
		for _, line := range printedBy(command, len(command)%2 == 0) {
			n += len(line)
		}
		if n > 2*MaxBlock+len(command) {
			t.Errorf("%d bytes are said to be printed by %d bytes of command", n, len(command))
		}
	})
}
