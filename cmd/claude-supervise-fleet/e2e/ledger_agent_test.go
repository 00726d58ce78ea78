package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"claude-supervise/examples"
	"claude-supervise/examples/standin"
)

// The agents of the ledger are this program, which plays a scenario as the stand-in does and writes down what it is
// told. What it writes lies outside of all that the fleet keeps:
//
//	LEDGER/agent             what workers start in claude's place
//	LEDGER/heard             RUN NAME TOKEN NANOSECONDS: an answer that came to a process, and when; those of turns that
//	                         count for nothing included
//	LEDGER/NAME.jsonl        the conversation of a process, as it is when the process reports: it says its name there
//	LEDGER/NAME.done         what its folder has then

// envLedger tells this program that it is an agent, and of which ledger.
const envLedger = "CLAUDE_SUPERVISE_TEST_LEDGER"

func TestMain(m *testing.M) {
	if ledger := os.Getenv(envLedger); ledger != "" {
		os.Exit(keepsLedger(ledger))
	}
	os.Exit(m.Run())
}

// agentOf makes the file that workers start in claude's place.
func agentOf(ledger string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	path := filepath.Join(ledger, "agent")
	script := fmt.Sprintf("#!/bin/sh\nexec env %s='%s' '%s' \"$@\"\n", envLedger, ledger, self)
	return path, os.WriteFile(path, []byte(script), 0o700)
}

// tokenForm is that of an answer: a word that stands in no other text.
var tokenForm = regexp.MustCompile(`zq[a-z]{12}`)

func newToken(rng *rand.Rand) string {
	word := []byte("zq")
	for range 12 {
		word = append(word, byte('a'+rng.IntN(26)))
	}
	return string(word)
}

// asked are the questions of each run: in text, by the supervisor's tool, in text.
var asked = []string{
	"Which wood is the first board of?",
	"Which wood is the second board of?",
	"Which wood is the third board of?",
}

// laying is the scenario of each run: a board is laid by each answer. Whatever the way in which an answer comes, the
// text that brings it holds the question, and begins the turn of what comes after; a tool that was held goes on in its
// own turn.
func laying(name string) examples.Scenario {
	work := func(step int) examples.Reply {
		return examples.Reply{Tools: []examples.ToolCall{{Name: "Bash", Input: map[string]any{
			"command": fmt.Sprintf("echo board-%d >> done.txt", step), "description": "lay a board"}}}}
	}
	inText := func(question string) examples.Reply {
		return examples.Reply{Text: "[CLARIFICATION_NEEDED]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T08:45:00Z\n" +
			"blocked_at: the next board\nreason: only a person knows\nquestions:\n  - question_id: Q1\n    text: " + question +
			"\n    context: a person knows\ncan_resume_with: the answer\n[/CLARIFICATION_NEEDED]"}
	}
	byTool := examples.Reply{Tools: []examples.ToolCall{{Name: "mcp__supervise__ask_user",
		Input: map[string]any{"questions": []any{map[string]any{"text": asked[1]}}}}}}
	report := examples.Reply{Text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\n" +
		"status: success\ndeliverables:\n  - done.txt\nsummary: all is laid, says " + name + "\n[/COMPLETION_REPORT]"}
	last := []examples.Reply{work(3), report}
	second := []examples.Reply{work(2), inText(asked[2])}
	return examples.Scenario{
		Name: "laying", About: "three boards", Expect: examples.Expect{Status: "succeeded"},
		Turns: []examples.Turn{
			{When: "## YOUR TASK", Replies: []examples.Reply{inText(asked[0])}},
			{When: asked[0], Replies: append([]examples.Reply{work(1), byTool}, second...)},
			{When: asked[1], Replies: second},
			{When: asked[2], Replies: last},
		},
	}
}

// keepsLedger plays the scenario as an agent that keeps a ledger.
func keepsLedger(ledger string) int {
	name := "zw" + newToken(rand.New(rand.NewPCG(rand.Uint64(), uint64(os.Getpid()))))
	heard := &hearing{file: filepath.Join(ledger, "heard"), who: os.Getenv("CLAUDE_SUPERVISE_RUN") + " " + name}
	says := &reporting{out: os.Stdout, keep: func() error { return keepConversation(ledger, name) }}
	return standin.Main(context.Background(), laying(name), os.Args[1:], os.Environ(), io.TeeReader(os.Stdin, heard), says,
		os.Stderr)
}

// hearing notes the answers in what the process is told, before the process reads them.
type hearing struct {
	file, who string
	line      []byte
}

func (h *hearing) Write(b []byte) (int, error) {
	h.line = append(h.line, b...)
	for {
		line, rest, whole := bytes.Cut(h.line, []byte("\n"))
		if !whole {
			return len(b), nil
		}
		h.line = rest
		var notes []byte
		for _, token := range tokenForm.FindAll(line, -1) {
			notes = fmt.Appendf(notes, "%s %s %d\n", h.who, token, time.Now().UnixNano())
		}
		if len(notes) == 0 {
			continue
		}
		file, err := os.OpenFile(h.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return 0, err
		}
		_, err = file.Write(notes)
		if err := errors.Join(err, file.Close()); err != nil {
			return 0, err
		}
	}
}

// reporting keeps the conversation before anybody can read the report that ends it.
type reporting struct {
	out  io.Writer
	keep func() error
}

func (r *reporting) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte("[COMPLETION_REPORT]")) && bytes.Contains(b, []byte(`"assistant"`)) {
		if err := r.keep(); err != nil {
			return 0, err
		}
	}
	return r.out.Write(b)
}

// keepConversation copies the conversation of this process, and what it has in its folder.
func keepConversation(ledger, name string) error {
	i := max(slices.Index(os.Args, "--session-id"), slices.Index(os.Args, "--resume"))
	if i < 0 || i+1 >= len(os.Args) {
		return fmt.Errorf("no session in %q", os.Args)
	}
	found, err := filepath.Glob(filepath.Join(os.Getenv("HOME"), ".claude/projects/*", os.Args[i+1]+".jsonl"))
	if err != nil || len(found) != 1 {
		return fmt.Errorf("the conversation is %q: %w", found, err)
	}
	conversation, err := os.ReadFile(found[0])
	if err != nil {
		return err
	}
	done, err := os.ReadFile("done.txt")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(os.WriteFile(filepath.Join(ledger, name+".done"), done, 0o600),
		os.WriteFile(filepath.Join(ledger, name+".jsonl"), conversation, 0o600))
}
