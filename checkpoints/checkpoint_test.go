package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	c, err := ParseCheckpoint([]byte(hybrid))
	if err != nil {
		t.Fatal(err)
	}
	want := &Checkpoint{
		WorkflowID: "unique_identifier", WorkflowType: "document_update_review", CurrentStep: "step_name",
		CompletedSteps: []string{"step1", "step2"}, PendingSteps: []string{"step4", "step5"},
		Files:          map[string]string{"key": "/absolute/path/to/file"},
		StateVariables: map[string]json.RawMessage{"any": json.RawMessage(`"workflow-specific state"`)},
		Context:        "Human-readable context about where workflow is", NextAction: "What to do after user responds",
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if text, err := c.Encode(); string(text) != hybrid || err != nil {
		t.Errorf("encoded as %s (%v)", text, err)
	}
}

func TestWhatAnAgentAddedOrWroteInItsOwnWayIsKept(t *testing.T) {
	c, err := ParseCheckpoint([]byte(`{
		"zeta": {"b": 1.10, "a": [null]},
		"completed_steps": ["analyze", {"name": "design", "done": true}],
		"Context": "another member than context",
		"alpha": "<b> & é",
		"files": ["/a", "/b"],
		"user_answer": {"q1": "no"},
		"workflow_id": "w"}`))
	if err != nil {
		t.Fatal(err)
	}
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
	text, err := c.Encode()
	if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if len(c.Other) != 6 {
		t.Errorf("encoding took members away: %v", c.Other)
	}
}

func TestWhatIsNoCheckpointIsNotTakenForOne(t *testing.T) {
	for _, text := range []string{
		``, `null`, `[]`, `"workflow_id"`, `{}`, `{"workflow_id": "w"`, `{"workflow_id": "w"} {}`,
		`{"name": "app", "files": ["dist"], "context": "a package.json"}`,
		strings.Repeat("[", 100_000),
	} {
		if c, err := ParseCheckpoint([]byte(text)); !errors.Is(err, ErrNotCheckpoint) {
			t.Errorf("%.40q gave %v, %v", text, c, err)
		}
	}
}

func TestACheckpointThatCouldNotBeReadAgainIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "c.json")
	for name, c := range map[string]struct {
		checkpoint Checkpoint
		want       error
	}{
		"too large":    {Checkpoint{Context: strings.Repeat("x", CheckpointMax)}, ErrTooLarge},
		"no JSON":      {Checkpoint{Other: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}, nil},
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
	for _, c := range []*Checkpoint{{WorkflowID: "one", CurrentStep: "first"}, {WorkflowID: "two", UserAnswer: &answer}} {
		if err := c.Write(path); err != nil {
			t.Fatal(err)
		}
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

func TestOnlyARegularFileOfOursIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("good"), []byte(hybrid), 0o600),
		os.Symlink(at("good"), at("link")),
		unix.Mkfifo(at("fifo"), 0o600),
		os.WriteFile(at("large"), bytes.Repeat([]byte(" "), CheckpointMax+1), 0o600),
		os.WriteFile(at("text"), []byte("# Checkpoint\n"), 0o600),
		os.Link(at("good"), at("hard")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"good": nil, "hard": nil, "link": unix.ELOOP, "fifo": ErrNotCheckpoint, ".": ErrNotCheckpoint, "large": ErrTooLarge,
		"text": ErrNotCheckpoint, "missing": fs.ErrNotExist,
	} {
		if _, err := ReadCheckpoint(at(name)); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(at("good"), 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCheckpoint(at("good")); !errors.Is(err, ErrNotCheckpoint) {
			t.Errorf("another user's: %v", err)
		}
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	for _, seed := range []string{
		hybrid,
		`{"workflow_id":null,"completed_steps":[null],"user_answer":""}`,
		`{"current_step":"\ud800","x":"\u2028","\u0000":{"deep":[[[]]]},"files":{"a":1},"context":7}`,
		"{\"workflow_id\":\"\xff\",\"\xff\":\"\xfe\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCheckpoint(text)
		if err != nil {
			if c != nil || !errors.Is(err, ErrNotCheckpoint) {
				t.Fatalf("%v, %v", c, err)
			}
			return
		}
		encoded, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseCheckpoint(encoded)
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if diff := cmp.Diff(c, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n%s", diff, encoded)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(twice, encoded) {
			t.Fatalf("%v\n%s\n%s", err, encoded, twice)
		}
	})
}
