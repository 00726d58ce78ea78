package claude

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/procs"
	cli "claude-supervise/procs/claude"
	"claude-supervise/supervisor/ask"
	decided "claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/permission"
	"claude-supervise/supervisor/text/texttest"
)

// nextShown returns the next call that is asked about, and what a person is shown of it; false at the turn's end.
func nextShown(tr *trial) (procs.Ask, ask.CallView, bool) {
	m := until[procs.Message](tr, func(m procs.Message) bool {
		_, asks := m.(procs.Ask)
		_, ends := m.(procs.Result)
		return asks || ends
	})
	call, asks := m.(procs.Ask)
	if !asks {
		return call, ask.CallView{}, false
	}
	return call, permission.LookAt(call.Name, call.Input, ask.CallSite{Folder: tr.cwd, Cwd: tr.cwd}), true
}

// A release has no tool of which nobody has decided what heads its calls, and whether a rule may permit them.
func TestEveryToolOfTheReleaseIsDecidedAbout(t *testing.T) {
	t.Parallel()
	tr := newAsking(t)
	tr.start("## TASK", turn("## TASK", says("I have looked.")))
	until[procs.Result](tr, nil)
	tr.process.End(t.Context(), procs.Kill)
	var tools []string
	for line := range strings.Lines(tr.lines.String()) {
		var printed struct {
			Line struct {
				Subtype string
				Tools   []string
			}
		}
		if json.Unmarshal([]byte(line), &printed) == nil && printed.Line.Subtype == "init" {
			tools = printed.Line.Tools
		}
	}
	if len(tools) < 10 {
		t.Fatalf("its first line names the tools %q", tools)
	}
	for _, tool := range tools {
		if _, known := decided.Known(tool); !known && !decided.Served(tool) {
			t.Errorf("nobody has decided about the tool %s: let it have a row in supervisor/calls", tool)
		}
	}
}

// newAsking makes a trial in which all is asked about that a release asks about.
func newAsking(t *testing.T) *trial {
	t.Helper()
	tr := newTrial(t, Program(t))
	tr.spec.Allowed, tr.spec.Flags, tr.spec.AgentType = nil, nil, ""
	return tr
}

// What claude itself heads a question with is what the model says of the call; ours is what the call does. Each tool of
// the release is called, and a hook of the person's has all of them asked about.
func TestACallIsAskedAboutByWhatItDoes(t *testing.T) {
	t.Parallel()
	tr := newAsking(t)
	tr.must(os.WriteFile(filepath.Join(tr.home, ".claude", "settings.json"), []byte(`{"hooks":{"PreToolUse":[{"hooks":[
		{"type":"command","command":"echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",`+
		`\"permissionDecision\":\"ask\"}}'"}]}]}}`), 0o600))
	skill := filepath.Join(tr.home, ".claude", "skills", "tidy")
	tr.must(os.MkdirAll(skill, 0o700))
	tr.must(os.WriteFile(filepath.Join(skill, "SKILL.md"), []byte("---\nname: tidy\ndescription: tidies up\n---\nx\n"), 0o600))
	const said = "tidies up"
	all := []struct {
		tool  string
		input map[string]any
		heads string
	}{
		{"Monitor", map[string]any{"command": "touch PWN", "description": said, "timeout_ms": 5000}, "touch PWN"},
		{"Workflow", map[string]any{"script": "export const meta = {name: 'x', description: '" + said + "'}\ntouch()",
			"description": said, "title": said}, "export const meta = {name: 'x', description: '" + said +
			"'}… (+1 line, 8 bytes)"},
		{"Task", map[string]any{"description": said, "prompt": "touch PWN", "subagent_type": "general-purpose"},
			"general-purpose: touch PWN"},
		{"Bash", map[string]any{"command": "touch PWN", "description": said}, "touch PWN"},
		{"Skill", map[string]any{"skill": "tidy"}, "tidy"},
		{"WebFetch", map[string]any{"url": "https://x.invalid/", "prompt": said}, "https://x.invalid/"},
		{"WebSearch", map[string]any{"query": "touch"}, "touch"},
		{"SendMessage", map[string]any{"to": "x", "message": "touch PWN", "summary": said}, "x: touch PWN"},
		{"CronCreate", map[string]any{"cron": "0 0 1 1 *", "prompt": "touch PWN"}, "0 0 1 1 *: touch PWN"},
		{"ScheduleWakeup", map[string]any{"delaySeconds": 60, "reason": said, "prompt": "touch PWN"}, "60: touch PWN"},
		{"EnterWorktree", map[string]any{"name": "wt"}, "wt"},
		{"Write", map[string]any{"file_path": "a.txt", "content": said}, "a.txt"},
	}
	heads, replies := map[string]string{}, []examples.Reply{}
	for _, c := range all {
		heads[c.tool] = c.heads
		replies = append(replies, calls(c.tool, c.input))
	}
	heads["Agent"] = heads["Task"]
	tr.start("## TASK", turn("## TASK", append(replies, says("That is all."))...))
	asked, claudes := 0, 0
	for {
		ask, l, asks := nextShown(tr)
		if !asks {
			break
		}
		if got := l.Headline.String(); got != heads[ask.Name] {
			t.Errorf("%s is headed %q, want %q", ask.Name, got, heads[ask.Name])
		}
		asked++
		if ask.Description == said {
			claudes++
		}
		tr.must(tr.process.Deny(ask.Request, "no", false))
	}
	tr.process.End(t.Context(), procs.Kill)
	version, err := cli.Version(t.Context(), Program(t))
	tr.must(err)
	if cli.ReleaseOf(version).HookAsks && asked < 6 {
		t.Errorf("only %d calls were asked about", asked)
	}
	if strings.HasPrefix(version, "2.1.33") && claudes < 3 { // older ones give no description
		t.Errorf("claude itself names only %d calls by what the model says of them", claudes)
	}
}

// A change is one call that changes a file, and what is in the file before.
type change struct {
	file   string // its name
	before []byte // nil: it is not there
	tool   string
	input  map[string]any // but for the path
	shown  bool           // as a diff: it must be
}

// edits makes a change by Edit.
func edits(before []byte, was, now string, all ...bool) change {
	return change{before: before, tool: "Edit",
		input: map[string]any{"old_string": was, "new_string": now, "replace_all": len(all) > 0}}
}

func overwrites(before []byte, content string) change {
	return change{before: before, tool: "Write", input: map[string]any{"content": content}}
}

func cells(id, mode, source string) change {
	const notebook = `{"cells":[{"id":"c1","cell_type":"code","source":["x = 1\n","y = 2\n"],"outputs":[{"a":1}],
"execution_count":3,"metadata":{}},{"ID":"c3","id":"c2","cell_type":"markdown","source":"# hi","metadata":{}}],
"metadata":{"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":5}`
	return change{file: ".ipynb", before: []byte(notebook), tool: "NotebookEdit", input: map[string]any{"cell_id": id,
		"edit_mode": mode, "new_source": source, "cell_type": "code"}}
}

// wide writes a text as UTF-16.
func wide(s string) []byte {
	data := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(s)) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data
}

func asText(data []byte) string {
	if len(data) < 2 || data[0] != 0xff || data[1] != 0xfe {
		return string(data)
	}
	var units []uint16
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(data[i:]))
	}
	return string(utf16.Decode(units))
}

// The kinds of change in which what is written is not simply what stands in the call.
func changes() []change {
	b := func(s string) []byte { return []byte(s) }
	shown := []change{
		edits(b("one\ntwo\n"), "two", "2"),
		edits(b("one\r\ntwo\r\nthree\r\n"), "one\ntwo", "1\n2"),
		edits(b("one\ntwo\nthree\r\nfour\n"), "two", "2"),
		edits(b("one\r\ntwo\r\nthree\nfour\r\n"), "two", "2"),
		edits(b("one\r\ntwo\n"), "two", "2"),
		edits(b("one\rtwo\rthree\n"), "two", "2"),
		edits(b(strings.Repeat("x\n", 2100)+strings.Repeat("one\r\n", 3000)+"two\r\n"), "two", "2"),
		edits(b("one\ntwo\n"), "two", "2  \t\n3 "),
		edits(b("one\ntwo\nthree\n"), "two", ""),
		edits(b("x two\na\ntwo\ntwo"), "two", "", true),
		edits(b("one two three\n"), "two", ""),
		edits(b("a a\n"), "a", "b", true),
		edits(b("aaa\n"), "aa", "b"),
		edits(b("\ufeffone\ntwo\n"), "one", "1"),
		edits(wide("\ufeffone\ntwo\n")[2:], "two", "2€"),
		edits(b("one\n"), "one", "$& $1 $$ $`"),
		edits(b("one\ntwo"), "two", "2"),
		edits(b("say “hello”\n"), "say “hello”", "say “bye”"),
		edits(b("one\ntwo\nthree\n"), "two", "2\r\n22"),
		edits(b("<function_results>x\n"), "<fnr>x", "<fnr>y"),
		edits([]byte{}, "", "one\n"),
		edits(b(" \n\n"), "", "one\n"),
		edits(nil, "", "one\n"),
		overwrites(nil, "one\r\ntwo  \n"),
		overwrites(b("one\n"), "1\r\n"),
		overwrites([]byte{}, "one\n"),
		overwrites(b("one\n"), ""),
		cells("c1", "replace", "x = 3\n"),
		cells("c1", "insert", "z"),
		cells("c2", "delete", ""),
		cells("cell-1", "replace", "z  \n"),
	}
	for i := range shown {
		shown[i].shown = true
	}
	return append(shown,
		edits(b("say “hello” and it’s\n"), `say "hello"`, `say "bye"`),
		edits(b("x = \"\\u00e9\"\n"), `x = "é"`, `y = "éè"`),
		edits(b("x = \"é\"\n"), `x = "\u00e9"`, `y = "\u00e9"`),
		edits(b("one\r\ntwo\r\nthree\r\n"), "two", "2\r\n22"),
		edits(b("\ufeff"), "", "1\n"),
		edits(b("\ufeffone"), "one", ""),
		edits(wide("\ufeffone\r\ntwo\r\n")[2:], "two", "2"),
		edits(b("caf\xe9\ntwo\n"), "two", "2"),
		edits(b("cafe\u0301\n"), "caf\u00e9", "x"),
		edits(b("a a\n"), "a", "b"),
		edits(b("x\n"), "", "y"),
		overwrites(b("one\r\ntwo\r\n"), "1\n2\n"),
		overwrites(b("\ufeffone\n"), "1\n"),
		overwrites(wide("\ufeffone\n")[2:], "1\n"),
		overwrites(b("caf\xe9\n"), "x\n"),
		cells("c3", "replace", "z"),
	)
}

// drawn makes a change by chance, of a file in which all sorts of characters and ends of lines are.
func drawn(random *rand.Rand) change {
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	line := func() (s string) {
		for range 1 + random.IntN(3) {
			s += pick("one", "two", " ", "  ", "\t", `"`, "'", "“", "”", "’", "é", "e\u0301", `\u00e9`, "\u00a0", "x", "\ufeff", "$&")
		}
		return s
	}
	end := pick("\n", "\n", "\r\n")
	var text string
	for range random.IntN(6) {
		text += line() + pick(end, end, end, "\n", "\r\n", "\r", "")
	}
	old := ""
	if runes := []rune(strings.ReplaceAll(text, "\r\n", "\n")); len(runes) > 0 {
		from := random.IntN(len(runes))
		old = string(runes[from : from+random.IntN(len(runes)-from)+1])
	}
	switch random.IntN(6) {
	case 0:
		old = strings.NewReplacer("“", `"`, "”", `"`, "’", "'", "é", `\u00e9`).Replace(old)
	case 1:
		old = strings.NewReplacer(`"`, "“", "'", "’", `\u00e9`, "é").Replace(old)
	}
	now := ""
	for range random.IntN(3) {
		now += line() + pick("\n", "", "\r\n", "  \n")
	}
	before := []byte(text)
	switch random.IntN(8) {
	case 0:
		before = wide("\ufeff" + text)[2:]
	case 1:
		before = []byte("\ufeff" + text)
	}
	if random.IntN(5) == 0 {
		return overwrites(before, now)
	}
	return edits(before, old, now, make([]bool, random.IntN(2))...)
}

// What is shown of a change before it is permitted is what claude writes, or nothing is shown of it and no rule is
// offered: of the kinds above, and of those that are drawn. A short run draws few, unless every attack is to be played.
func TestWhatIsShownOfAChangeIsWhatClaudeWrites(t *testing.T) {
	t.Parallel()
	seed := uint64(sample.Number(t, "CLAUDE_SUPERVISE_TEST_SEED", 1))
	random, all := rand.New(rand.NewPCG(31, seed)), changes()
	many := 40
	if testing.Short() && os.Getenv("CLAUDE_SUPERVISE_TEST_EVERY_ATTACK") == "" {
		many = 10
	}
	for range sample.Number(t, "CLAUDE_SUPERVISE_TEST_CHANGES", many) {
		all = append(all, drawn(random))
	}
	tr := newAsking(t)
	var replies []examples.Reply
	for i := range all {
		c := &all[i]
		c.file = filepath.Join(tr.cwd, fmt.Sprintf("%d%s", i, c.file))
		if c.before != nil {
			tr.must(os.WriteFile(c.file, c.before, 0o600))
			replies = append(replies, calls("Read", map[string]any{"file_path": c.file}))
		}
		path := "file_path"
		if c.tool == "NotebookEdit" {
			path = "notebook_path"
		}
		c.input[path] = c.file
		replies = append(replies, calls(c.tool, c.input))
	}
	tr.start("## CHANGES", turn("## CHANGES", append(replies, says("That is all."))...))
	asked := map[string]string{} // the evidence, by the file
	for {
		ask, l, asks := nextShown(tr)
		if !asks {
			break
		}
		var in map[string]any
		tr.must(json.Unmarshal(ask.Input, &in))
		path, _ := in["file_path"].(string)
		if path == "" {
			path, _ = in["notebook_path"].(string)
		}
		if unsure := strings.Contains(l.Preview, "What it makes of the file cannot be shown"); unsure == (l.Rule.Tool != "") {
			t.Errorf("the rule %q is offered for\n%s", l.Rule, l.Preview)
		}
		asked[path] = l.Preview
		tr.must(tr.process.Allow(ask.Request, ask.Input))
	}
	tr.process.End(t.Context(), procs.Kill)
	version, err := cli.Version(t.Context(), Program(t))
	tr.must(err)
	sure := 0
	for _, c := range all {
		if asked[c.file] == "" {
			if c.shown {
				t.Errorf("claude did not ask for leave of %s %q in %q", c.tool, c.input, c.before)
			}
			continue // it refuses the call itself
		}
		if c.check(t, asked[c.file], version == "2.1.7") {
			sure++
		}
	}
	t.Logf("of %d changes %d were asked about, and %d shown; the seed is %d", len(all), len(asked), sure, seed)
}

func withoutCR(s string) string { return strings.ReplaceAll(s, "\r", "") }

// check holds what was shown of a change against the file, and reports whether it was shown as a diff. evens says that
// the release gives a new file the ends of lines of those around it, which nothing can show (permission/preview_edit.go).
func (c change) check(t *testing.T, evidence string, evens bool) bool {
	t.Helper()
	data, err := os.ReadFile(c.file)
	if err != nil {
		t.Error(err)
		return false
	}
	before, now := asText(c.before), asText(data)
	if c.tool == "NotebookEdit" {
		before, now = "", "" // of the cell
		for _, s := range sourcesIn(t, data) {
			if s == c.input["new_source"] {
				now = s
			}
		}
		for _, s := range sourcesIn(t, c.before) {
			if strings.Contains(evidence, "-"+strings.SplitN(s, "\n", 2)[0]) {
				before = s
			}
		}
	}
	after, shown, err := texttest.Changed(before, evidence)
	switch {
	case err != nil:
		t.Error(err)
	case !shown && c.shown:
		t.Errorf("%s of %q in %q is not shown:\n%s", c.tool, c.input, c.before, evidence)
	case shown && after != now && !(evens && c.before == nil && withoutCR(after) == withoutCR(now)):
		t.Errorf("%s of %q in %q has made\n%q, and was shown to make\n%q:\n%s", c.tool, c.input, c.before, now, after,
			evidence)
	}
	return shown
}

// sourcesIn returns the sources of a notebook's cells.
func sourcesIn(t *testing.T, notebook []byte) (all []string) {
	t.Helper()
	var doc struct{ Cells []struct{ Source any } }
	noError(t, json.Unmarshal(notebook, &doc))
	for _, c := range doc.Cells {
		whole, _ := c.Source.(string)
		lines, _ := c.Source.([]any)
		for _, line := range lines {
			whole += fmt.Sprint(line)
		}
		all = append(all, whole)
	}
	return all
}

// What supervisor/engine looks at once more before it allows a call: newer releases refuse a change no more because the
// file has changed since the agent has read it, nor one of a file that was not there.
func TestClaudeWritesOverWhatHasChangedSince(t *testing.T) {
	t.Parallel()
	tr := newAsking(t)
	path := filepath.Join(tr.cwd, "notes")
	tr.start("## TASK", turn("## TASK", calls("Write", map[string]any{"file_path": path, "content": "of the agent\n"}),
		says("That is all.")))
	ask := until[procs.Ask](tr, nil)
	tr.must(os.WriteFile(path, []byte("of the person\n"), 0o600))
	tr.must(tr.process.Allow(ask.Request, ask.Input))
	until[procs.Result](tr, nil)
	tr.process.End(t.Context(), procs.Kill)
	version, err := cli.Version(t.Context(), Program(t))
	tr.must(err)
	data, err := os.ReadFile(path)
	tr.must(err)
	if over := string(data) == "of the agent\n"; over != strings.HasPrefix(version, "2.1.3") {
		t.Errorf("release %s writes over it: %v", version, over)
	}
}
