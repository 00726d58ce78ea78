package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"claude-supervise/checkpoints/files"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

// hybrid is the example of the document, with its comment answered.
const hybrid = `{
  "workflow_id": "unique_identifier",
  "workflow_type": "document_update_review",
  "current_step": "step_name",
  "completed_steps": ["step1","step2"],
  "pending_steps": ["step4","step5"],
  "files": {"key":"/absolute/path/to/file"},
  "state_variables": {"any":"workflow-specific state"},
  "context": "Human-readable context about where workflow is",
  "next_action": "What to do after user responds",
  "user_answer": null
}
`

func TestACheckpointOfTheDocumentIsReadAndWrittenBackAsItWas(t *testing.T) {
	c, err := parseCheckpoint([]byte(hybrid))
	noError(t, err)
	want := &Checkpoint{
		Form: FormHybrid, WorkflowID: "unique_identifier", WorkflowType: "document_update_review", CurrentStep: "step_name",
		CompletedSteps: []string{"step1", "step2"}, PendingSteps: []string{"step4", "step5"},
		Files:          map[string]string{"key": "/absolute/path/to/file"},
		StateVariables: map[string]json.RawMessage{"any": json.RawMessage(`"workflow-specific state"`)},
		Context:        "Human-readable context about where workflow is", NextAction: "What to do after user responds",
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if text, err := c.encode(); string(text) != hybrid || err != nil {
		t.Errorf("encoded as %s (%v)", text, err)
	}
}

func TestWhatAnAgentAddedOrWroteInItsOwnWayIsKept(t *testing.T) {
	c, err := parseCheckpoint([]byte(`{
		"zeta": {"b": 1.10, "a": [null]},
		"completed_steps": ["analyze", {"name": "design", "done": true}],
		"Context": "another member than context",
		"alpha": "<b> & é",
		"files": ["/a", "/b"],
		"user_answer": {"q1": "no"},
		"workflow_id": "w"}`))
	noError(t, err)
	if c.CompletedSteps != nil {
		t.Errorf("half a list was taken over: %v", c.CompletedSteps)
	}
	answer := "oauth <2>"
	c.UserAnswer = &answer
	want := `{
  "workflow_id": "w",
  "workflow_type": "",
  "current_step": "",
  "completed_steps": ["analyze", {"name": "design", "done": true}],
  "pending_steps": [],
  "files": ["/a", "/b"],
  "state_variables": {},
  "context": "",
  "next_action": "",
  "user_answer": "oauth <2>",
  "Context": "another member than context",
  "alpha": "<b> & é",
  "zeta": {"b": 1.10, "a": [null]}
}
`
	text, err := c.encode()
	if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if len(c.Other) != 6 {
		t.Errorf("encoding took members away: %v", c.Other)
	}
}

func TestWhatIsNoCheckpointIsNotTakenForOne(t *testing.T) {
	const none, half = "no member that only a checkpoint has", "ends in the middle"
	for text, why := range map[string]string{
		"":              "it is empty",
		" \r\n\t":       "it is empty",
		"\ufeff":        "it is empty",
		`null`:          "neither a JSON object nor Markdown",
		`[]`:            "neither a JSON object nor Markdown",
		`"workflow_id"`: "neither a JSON object nor Markdown",
		`{}`:            none,
		`{"name": "app", "version": "1.0.0", "files": ["dist"], "question": null}`:                  none,
		`{"question": "Which?", "options": ["a"], "workflow_id": "w", "checkpoint": "/tmp/c.json"}`: none,
		`{"agent": "a", "timestamp": "2026-02-04T10:30:00Z", "files": []}`:                          none,
		`{"current_step": "s"`:                              half,
		`{"current_step": "s", "completed_steps": ["a", "b`: half,
		`{"current_step":`:                                  half,
		`{`:                                                 half,
		`{"current_step": "s"} {}`:                          "something follows",
		`{"current_step": "s",}`:                            "invalid character '}'",
		`{"current_step": "s" "x": 1}`:                      "invalid character '\"'",
		`{"current_step": ` + strings.Repeat("[", 100_000):            "exceeded max depth",
		strings.Repeat(`{"current_step":`, 100_000):                   "exceeded max depth",
		strings.Repeat("[", 100_000):                                  "neither a JSON object nor Markdown",
		`{"current_step": "a", "current_step": "b"}`:                  `two members are called "current_step"`,
		`{"current_step": "a", "files": {"k": "/a", "k": "/b"}}`:      `two members are called "k"`,
		`{"progress": "a", "question": {"text": "a", "text": "b"}}`:   `two members are called "text"`,
		`{"current_step": "a", "\ud800": 1, "\udfff": 2}`:             "two members",
		"{\"current_step\": \"\xff\"}":                                "not UTF-8",
		"# x Checkpoint\n\n## Next Step\n\n\xe4\n":                    "not UTF-8",
		"# x Checkpoint\n\n## Next Step\n\n\x00\n":                    "not text",
		"# x Checkpoint\n\n":                                          "nothing but its title",
		"# A README\n\n## Next Step\n\nBuild it.\n":                   "neither a JSON object nor Markdown",
		"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n": "neither a JSON object nor Markdown",
		"# x Checkpoint\n" + strings.Repeat("## y\n", maxSections+1):  "more than 1000 sections",
	} {
		c, err := parseCheckpoint([]byte(text))
		if c != nil || !errors.Is(err, errNotCheckpoint) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.60q gave %v, %v; want: %s", text, c, err, why)
		}
	}
}

func TestAnObjectOfTooManyMembersIsNotTakenIntoMemory(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"current_step":"s"`)
	for n := range files.MaxMembers {
		fmt.Fprintf(&text, `,"%d":1`, n)
	}
	text.WriteString("}")
	if _, err := parseCheckpoint([]byte(text.String())); !errors.Is(err, errNotCheckpoint) ||
		!strings.Contains(err.Error(), "members") {
		t.Errorf("got %v", err)
	}
}

// A large file of as many parts as fit in takes no more memory than some times its size.
func TestALargeCheckpointIsReadInBounds(t *testing.T) {
	for name, part := range map[string][3]string{
		"blank lines":    {"# a Checkpoint\n## Next Step\nship\n## Log\nx", "\n", "x"},
		"blank head":     {"# a Checkpoint\n", "\n", "x\n## Next Step\nship\n"},
		"list items":     {"# a Checkpoint\n## Next Step\nship\n## Files Analyzed\n", "- a\n", ""},
		"fences":         {"# a Checkpoint\n## Next Step\nship\n", "```\n", ""},
		"list of steps":  {`{"current_step":"s","completed_steps":[""`, `,""`, `]}`},
		"list of others": {`{"current_step":"s","others":[0`, `,0`, `]}`},
		"options":        {`{"decision":"s","question":{"options":[""`, `,""`, `]}}`},
		"escapes":        {`{"current_step":"`, `\u0000`, `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			const size = checkpointMax / 16
			text := part[0] + strings.Repeat(part[1], size/len(part[1])) + part[2]
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			c, err := parseCheckpoint([]byte(text))
			noError(t, err)
			told := c.Text()
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) / size; got > 24 || len(told) > maxText+len(cutMark) {
				t.Errorf("took %d times its size, tells %d bytes", got, len(told))
			}
		})
	}
}

func TestACheckpointThatCouldNotBeReadAgainIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	for name, c := range map[string]struct {
		checkpoint Checkpoint
		want       error
	}{
		"too large":    {Checkpoint{Context: strings.Repeat("x", checkpointMax)}, files.ErrTooLarge},
		"no JSON":      {Checkpoint{Other: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}, nil},
		"no form":      {Checkpoint{Form: "yaml"}, nil},
		"two values":   {Checkpoint{Other: map[string]json.RawMessage{"x": json.RawMessage(`1, "y": 2`)}}, nil},
		"no JSON here": {Checkpoint{StateVariables: map[string]json.RawMessage{"x": nil, "y": json.RawMessage(`nope`)}}, nil},
	} {
		if err := c.checkpoint.Write(path); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 0 {
		t.Errorf("left %v (%v)", left, err)
	}
}

func TestACheckpointFileIsReplacedWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.checkpoint.json")
	answer := "sqlite"
	for _, c := range []*Checkpoint{
		{Form: FormHybrid, WorkflowID: "one", CurrentStep: "first"},
		{Form: FormHybrid, WorkflowID: "two", UserAnswer: &answer},
	} {
		noError(t, c.Write(path))
		got, err := ReadCheckpoint(path)
		if diff := cmp.Diff(c, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Error(err, diff)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("in the folder: %v (%v)", files, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	if err := (&Checkpoint{}).Write(filepath.Join(dir, "missing", "c.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without its folder: %v", err)
	}
	if err := (&Checkpoint{}).Write(dir); err == nil {
		t.Error("replaced a folder")
	}
	t.Chdir(dir)
	if err := (&Checkpoint{WorkflowID: "here"}).Write("here.json"); err != nil {
		t.Errorf("in the current folder: %v", err)
	}
}

// A checkpoint that is published is not waited for. What a power cut may leave of it gives way to the next; one that is
// whole, which may be newer, does not.
func TestOnlyACheckpointThatIsWholeKeepsAnotherFromBeingPublished(t *testing.T) {
	next := &Checkpoint{WorkflowID: "next", Context: "another"}
	left := map[string]string{"nothing": "", "zeros": strings.Repeat("\x00", len(hybrid))}
	for n := 1; n < len(hybrid)-2; n += 7 {
		left[fmt.Sprintf("%d bytes of it", n)] = hybrid[:n]
		left[fmt.Sprintf("%d bytes of it and zeros", n)] = hybrid[:n] + strings.Repeat("\x00", len(hybrid)-n)
	}
	for name, text := range left {
		path := filepath.Join(t.TempDir(), "c.json")
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), next.Publish(path)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c, err := ReadCheckpoint(path); err != nil || c.WorkflowID != "next" {
			t.Errorf("%s: then %+v (%v) is there", name, c, err)
		}
	}
	path := filepath.Join(t.TempDir(), "c.json")
	noError(t, errors.Join(os.WriteFile(path, []byte(hybrid), 0o600), next.Publish(path)))
	if text, err := os.ReadFile(path); string(text) != hybrid {
		t.Errorf("one that was whole is now %s (%v)", text, err)
	}
}

func TestOnlyARegularFileOfOursIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("good"), []byte(hybrid), 0o600),
		os.Symlink(at("good"), at("link")),
		unix.Mkfifo(at("fifo"), 0o600),
		os.WriteFile(at("large"), bytes.Repeat([]byte(" "), checkpointMax+1), 0o600),
		os.WriteFile(at("text"), []byte("# Checkpoint\n"), 0o600),
		os.Link(at("good"), at("hard")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"good": nil, "hard": nil, "link": files.ErrNotOurs, "fifo": files.ErrNotOurs, ".": files.ErrNotOurs, "large": files.ErrTooLarge,
		"text": errNotCheckpoint, "missing": fs.ErrNotExist, "good/file": unix.ENOTDIR, "gone/file": fs.ErrNotExist,
	} {
		if _, err := ReadCheckpoint(at(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if os.Geteuid() == 0 {
		noError(t, os.Chown(at("good"), 65534, 65534))
		if _, err := ReadCheckpoint(at("good")); !errors.Is(err, files.ErrNotOurs) {
			t.Errorf("another user's: %v", err)
		}
	}
}

// compact compares values given as JSON without the white space between their parts, which encoding takes away.
var compact = cmp.Transformer("compact", func(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return string(raw)
	}
	return b.String()
})

func FuzzParseCheckpoint(f *testing.F) {
	for _, seed := range []string{
		hybrid, ofDocument(f, "mutation-agent.md"), ofDocument(f, "agent-pause-state.json"),
		ofDocument(f, "script_checkpoint.json"),
		`{"workflow_id":null,"completed_steps":[null],"user_answer":""}`,
		`{"current_step":"\ud800","x":"\u2028","\u0000":{"deep":[[[]]]},"files":{"a":1},"context":7}`,
		"{\"workflow_id\":\"\xff\",\"\xff\":\"\xfe\"}",
		`{"question":{"text":1,"options":["a",{"label":"b","description":"c"}],"x":[]},"progress":{},"files":[null]}`,
		`{"decision":"d","question":{"options":[{"label":"b","more":1},[1]]},"next_action":"n"}`,
		"\ufeff# Checkpoint: a\r\n**Task**: t\r**Task:** u\n> prose\n## Next Step\n```\n## no heading\n~~~\n",
		"## Progress Summary\n\n\tindented\n\n\n## progress summary\nagain\n##  Files Analyzed \n* a\n  - b\n\n## \n## " +
			"Pending Decision\n",
		"**Agent:** a\n# Checkpoint\n**Task:** t\n````x\n```\n**Timestamp:** 1\n## a\n`````\n## b\n~~~ `\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCheckpoint(text)
		if err != nil {
			if c != nil || !errors.Is(err, errNotCheckpoint) {
				t.Fatalf("%v, %v", c, err)
			}
			return
		}
		encoded, err := c.encode()
		noError(t, err)
		again, err := parseCheckpoint(encoded)
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty(), compact); diff != "" {
			t.Fatalf("%s\n%s", diff, encoded)
		}
		if again.Form != c.Form || len(c.Text()) > maxText+len(cutMark) {
			t.Fatalf("from %s to %s, told in %d bytes", c.Form, again.Form, len(c.Text()))
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(twice, encoded) {
			t.Fatalf("%v\n%s\n%s", err, encoded, twice)
		}
	})
}
