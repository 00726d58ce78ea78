package signals

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"claude-supervise/e2e/machinetest"

	"github.com/google/go-cmp/cmp"
)

// atLeast is how many texts each corpus must hold.
const atLeast = 200

// A sample is one entry of a corpus: what the agent says (NAME.txt), what the Bash command in NAME.sh printed
// (NAME.printed), or the input of a call of TaskUpdate (NAME.call). In all of them AGENT stands for the agent's id.
type sample struct {
	name, text string
	play       func(s *Scanner) []Signal
	said       bool
}

var agentWord = regexp.MustCompile(`\bAGENT\b`)

func filled(text string) string { return agentWord.ReplaceAllString(text, me) }

func corpus(t *testing.T, folder string) []sample {
	t.Helper()
	read := func(path string) string {
		text, err := os.ReadFile(path)
		noError(t, err)
		return filled(string(text))
	}
	paths, err := filepath.Glob("testdata/" + folder + "/*")
	noError(t, err)
	var samples []sample
	for _, path := range paths {
		name, kind, _ := strings.Cut(filepath.Base(path), ".")
		switch kind {
		case "txt":
			text := read(path)
			samples = append(samples, sample{name, text, said(text), true})
		case "sh":
			text := read(strings.TrimSuffix(path, "sh") + "printed")
			samples = append(samples, sample{name, text, printed(read(path), text), false})
		case "call":
			text := read(path)
			samples = append(samples, sample{name, text, called("TaskUpdate", text), false})
		}
	}
	return samples
}

// withQuestion is a scanner's configuration where one escalated question has its file. A Bash result that names the
// question counts then, whoever prints it.
var withQuestion = Config{AgentID: me, Escalated: func(id string) bool { return id == "workflow_1729350000_q1" }}

// scanTurn scans one turn of the agent in which only what play says happens.
func scanTurn(c Config, play func(s *Scanner) []Signal) []Signal {
	s := NewScanner(c)
	s.BeginMessage(Main, "1")
	return append(play(s), s.EndTurn("")...)
}

// said has the text in one message, in pieces cut where the dice say. The dice always fall alike.
func said(text string) func(s *Scanner) []Signal {
	return func(s *Scanner) (got []Signal) {
		dice := rand.New(rand.NewPCG(uint64(len(text)), 7))
		for len(text) > 0 {
			n := 1 + dice.IntN(len(text))
			got = append(got, s.Text(text[:n])...)
			text = text[n:]
		}
		return got
	}
}

// overtaken has the text in a message that is not the last one of its turn.
func overtaken(text string) func(s *Scanner) []Signal {
	return func(s *Scanner) []Signal {
		got := s.Text(text)
		s.BeginMessage(Main, "2")
		return append(got, s.Text("Now the tests.\n")...)
	}
}

// bySubagent has the text said by an agent that runs inside this one.
func bySubagent(text string) func(s *Scanner) []Signal {
	return func(s *Scanner) []Signal {
		s.BeginMessage(Subagent, "9")
		return s.Text(text)
	}
}

// printed has the text as the result of a Bash command.
func printed(command, text string) func(s *Scanner) []Signal {
	return func(s *Scanner) []Signal {
		s.ToolCall("Bash", nil)
		return s.Bash(command, text, false)
	}
}

// called has a tool called with this input.
func called(tool, input string) func(s *Scanner) []Signal {
	return func(s *Scanner) []Signal { return s.ToolCall(tool, []byte(input)) }
}

// ways are those in which a text may come by, each with its name.
type ways map[string]func(s *Scanner) []Signal

// silent reports whether nothing counts in any of the ways.
func silent(t *testing.T, c Config, name string, all ways) bool {
	t.Helper()
	ok := true
	for way, play := range all {
		if got := counted(scanTurn(c, play)); len(got) > 0 {
			ok = false
			t.Errorf("%s, %s: read %v", name, way, brief(got))
		}
	}
	return ok
}

// unsaid reports whether a text counts for nothing where it passes by the agent without being said by it.
func unsaid(t *testing.T, name, text string) bool {
	t.Helper()
	content, err := json.Marshal(map[string]string{"file_path": "notes.md", "content": text})
	noError(t, err)
	return silent(t, Config{AgentID: me}, name, ways{
		"in a file that Bash shows": printed("cat notes.md", text),
		"behind a pipe":             printed("./agent.sh | tail -n 100", text),
		"written to a file":         called("Write", string(content)),
		"in another tool's input":   called("TodoWrite", text),
		"repeated as the turn's result": func(s *Scanner) []Signal {
			return append(s.Text("All done.\n"), s.EndTurn(text)...)
		},
	})
}

// work is text that an agent goes on with after it showed something, or asked.
const work = "\nMeanwhile I read on.\n\nThe tests cover both paths; one of them is slow.\n\nI leave it as it is.\n"

// counted are the signals that would be acted on.
func counted(sigs []Signal) []Signal {
	return slices.DeleteFunc(slices.Clone(sigs), func(s Signal) bool { return s.Foreign })
}

// Texts that speak of signals, or look like some, and are none. A signal read in one of them would stop an agent, or
// end its run, for nothing.
func TestTalkIsNoSignal(t *testing.T) {
	talk, wrong := corpus(t, "talk"), 0
	for _, c := range talk {
		all := ways{"as it is": c.play}
		if c.said {
			all["said at once"] = func(s *Scanner) []Signal { return s.Text(c.text) }
			all["said before another message"] = overtaken(c.text)
			all["said by a subagent"] = bySubagent(c.text)
			all["the result of a turn without text"] = func(s *Scanner) []Signal { return s.EndTurn(c.text) }
		}
		if !silent(t, withQuestion, c.name, all) || !unsaid(t, c.name, c.text) {
			wrong++
		}
		if c.said && !faulty.MatchString(c.text) {
			s := NewScanner(withQuestion)
			said(c.text)(s)
			s.EndTurn("")
			if got := s.problems(); len(got) > 0 {
				t.Errorf("%s: problems %v", c.name, got)
			}
		}
	}
	t.Logf("%d false signals in %d texts", wrong, len(talk))
	if len(talk) < atLeast {
		t.Errorf("only %d texts", len(talk))
	}
}

// faulty finds what is a problem even in talk: a closing tag, and an object that says it is a signal.
var faulty = regexp.MustCompile(`(?m)^\s*\[/[A-Z_]+\]\s*$|"signal_type"`)

// The files of this repository speak of signals all the time. An agent that works on them reads them, prints them and
// quotes them; its own id, which was made up when it was started, stands in no block of theirs.
func TestOwnFilesAreTalk(t *testing.T) {
	worker := withQuestion
	worker.AgentID = "a-4Vc8sN1hYp6L"
	list, err := exec.Command("git", "-C", "..", "ls-files", "-z").Output()
	if err != nil {
		machinetest.Lacks(t, "git ls-files: %v", err)
	}
	files := 0
	for path := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		if strings.HasPrefix(path, "signals/testdata/") { // the talk among them has a test of its own, the rest is none
			continue
		}
		content, err := os.ReadFile(filepath.Join("..", path))
		if err != nil || strings.ContainsRune(string(content), 0) {
			continue // removed in this work tree, or no text
		}
		text := string(content)
		files++
		silent(t, worker, path, ways{
			"said": func(s *Scanner) []Signal { return s.Text(text + work) },
			"said in a fence": func(s *Scanner) []Signal {
				language := strings.TrimPrefix(filepath.Ext(path), ".")
				return s.Text("`````" + language + "\n" + text + "\n`````\n" + work)
			},
			"said by a subagent": bySubagent(text),
		})
		unsaid(t, path, text)
	}
	t.Logf("no signal in %d files", files)
	if files < 100 {
		t.Errorf("only %d files", files)
	}
}

// Signals as models write them when they do not quite follow the form. Each is read once, and read as what stands
// beside it.
func TestVariantsAreRead(t *testing.T) {
	variants, missed := corpus(t, "variants"), 0
	for _, c := range variants {
		ok := t.Run(c.name, func(t *testing.T) {
			sigs := scanTurn(withQuestion, c.play)
			if len(sigs) != 1 || sigs[0].Foreign {
				t.Fatalf("read %v", brief(sigs))
			}
			golden(t, "testdata/variants/"+c.name+".want", summary(sigs[0]))
			all := ways{}
			if c.said {
				checkWays(t, c.text, sigs[0])
				for way, text := range quotations(c.text) {
					all["quoted "+way] = said(text)
				}
			}
			if sigs[0].AgentID == "" {
				if isBare(c.text, sigs[0]) {
					all["said before more work"] = said(c.text + work)
					all["said in a fence before more work"] = said("```\n" + c.text + "```\n" + work)
				}
				all["said before another message"] = overtaken(c.text)
				all["said by a subagent"] = bySubagent(c.text)
			}
			silent(t, withQuestion, c.name, all)
			unsaid(t, c.name, c.text)
		})
		if !ok {
			missed++
		}
	}
	if wants, err := filepath.Glob("testdata/variants/*.want"); err != nil || len(wants) != len(variants) {
		t.Errorf("%d readings of %d variants, %v", len(wants), len(variants), err)
	}
	t.Logf("%d of %d variants missed or misread", missed, len(variants))
	if len(variants) < atLeast {
		t.Errorf("only %d variants", len(variants))
	}
}

// quotations are the ways in which a text shows another, so that it is talk whatever it says.
func quotations(text string) map[string]string {
	text = strings.TrimSuffix(text, "\n")
	quotations := map[string]string{
		"as a string":        strconv.Quote(text) + "\n",
		"in a code fence":    "Like so:\n````````python\n" + text + "\n````````\n",
		"in a fence of diff": "~~~~~~~~diff\n" + text + "\n~~~~~~~~\n",
	}
	for _, mark := range []string{"> ", "- ", "* ", "1. ", "| ", "# ", "// ", "+", "-", "12:", "   209\t", "  7→", "kim: ",
		"`"} {
		quotations["behind "+strconv.Quote(mark)] = mark + strings.ReplaceAll(text, "\n", "\n"+mark) + "\n"
	}
	return quotations
}

// isBare reports whether the text of a signal ends with it, has no fence and was understood, so that more can be put
// around it without a change of its meaning.
func isBare(text string, s Signal) bool {
	return s.EndLine == strings.Count(text, "\n") && !strings.Contains(text, "```") && !strings.Contains(text, "~~~") &&
		!slices.ContainsFunc(s.Problems, func(p Problem) bool { return p.Code == "unclosed" || p.Code == "bad_json" }) &&
		!slices.ContainsFunc(s.Questions, func(q Question) bool { return strings.Contains(q.Text, "cannot be read") })
}

// checkWays has the same signal come in all the other ways in which an agent's text reaches the scanner.
func checkWays(t *testing.T, text string, want Signal) {
	t.Helper()
	lines := strings.ReplaceAll(text, "\r\n", "\n")
	coloured := "\x1b[36m" + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\x1b[0m\n\x1b[36m") + "\x1b[0m\n"
	all := ways{
		"at once":                func(s *Scanner) []Signal { return s.Text(text) },
		"without a last newline": func(s *Scanner) []Signal { return s.Text(strings.TrimRight(text, "\r\n")) },
		"with Windows line ends": func(s *Scanner) []Signal { return s.Text(strings.ReplaceAll(lines, "\n", "\r\n")) },
		"with a byte order mark": func(s *Scanner) []Signal { return s.Text("\ufeff" + strings.TrimPrefix(text, "\ufeff")) },
		"in colours":             func(s *Scanner) []Signal { return s.Text(coloured) },
		"below other text": func(s *Scanner) []Signal {
			return s.Text("I read the code.\n\n- it has 3 parts\n\nSo:\n\n" + text)
		},
		"in two messages": func(s *Scanner) []Signal {
			first := s.Text(text)
			s.BeginMessage(Main, "2")
			return append(first, s.Text(text)...)
		},
		"as the turn's only text": func(s *Scanner) []Signal { return s.EndTurn(text) },
		"printed by Bash": printed("cat <<'END-OF-SIGNAL'\n"+strings.TrimSuffix(lines, "\n")+"\nEND-OF-SIGNAL\n",
			lines),
	}
	if isBare(text, want) {
		indented := "    " + strings.ReplaceAll(strings.TrimRight(strings.TrimPrefix(text, "\ufeff"), "\n"), "\n", "\n    ") +
			"\n"
		all["indented"] = func(s *Scanner) []Signal { return s.Text(indented) }
		all["in a fence"] = func(s *Scanner) []Signal { return s.Text("So:\n\n~~~yaml\n" + text + "~~~\n") }
		all["before a short paragraph"] = func(s *Scanner) []Signal { return s.Text(text + "\nI wait for your answer.\n") }
		if want.AgentID != "" {
			all["before more work"] = func(s *Scanner) []Signal { return s.Text(text + work) }
		}
	}
	for way, play := range all {
		got := scanTurn(withQuestion, play)
		if len(got) != 1 {
			t.Errorf("%s: read %v", way, brief(got))
		} else if diff := cmp.Diff(meaning(want), meaning(got[0])); diff != "" {
			t.Errorf("%s (-want +got)\n%s", way, diff)
		}
	}
}

// summary writes what was read of a signal, one fact a line.
func summary(s Signal) string {
	var b strings.Builder
	who := map[string]string{me: "the agent", "": "nobody"}[s.AgentID]
	fmt.Fprintf(&b, "%s of %s (%s)\n", s.Kind, who, s.Dialect)
	for _, f := range s.Fields {
		fmt.Fprintf(&b, "  %s = %q\n", f.Name, f.Value)
	}
	for _, q := range s.Questions {
		fmt.Fprintf(&b, "  %s? %q\n", q.ID, q.Text)
		for _, m := range []Field{{"header", q.Header}, {"context", q.Context}, {"validate", q.Validate}} {
			if m.Value != "" {
				fmt.Fprintf(&b, "    %s = %q\n", m.Name, m.Value)
			}
		}
		for _, o := range q.Options {
			fmt.Fprintf(&b, "    - %q %q\n", o.Label, o.Description)
			if o.Preview != "" {
				fmt.Fprintf(&b, "      preview = %q\n", o.Preview)
			}
		}
		if q.MultiSelect {
			b.WriteString("    several\n")
		}
		if q.Optional {
			b.WriteString("    optional\n")
		}
		if q.Urgent {
			b.WriteString("    urgent\n")
		}
	}
	for _, p := range s.Problems {
		if p.Code != "missing_field" { // most variants are short
			fmt.Fprintf(&b, "  line %d %s\n", p.Line, p.Code)
		}
	}
	return b.String()
}
