package mcp

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"claude-supervise/supervisor/filedrop"
)

// hosted is a server with the host that asks by it, and the folders of its questions.
func hosted(t *testing.T, home string, wait time.Duration) (*filedrop.Folders,
	func(ctx context.Context, in map[string]any) (string, error)) {
	t.Helper()
	folders, err := filedrop.OpenFolders(home)
	if err != nil {
		t.Fatal(err)
	}
	here, there := sdk.NewInMemoryTransports()
	served, err := Server{Folders: folders, Version: "1", Wait: wait}.server().Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	host, err := sdk.NewClient(&sdk.Implementation{Name: "an editor", Version: "1"}, nil).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close(); _ = served.Wait() })
	return folders, func(ctx context.Context, in map[string]any) (string, error) {
		r, err := host.CallTool(ctx, &sdk.CallToolParams{Name: "ask_user", Arguments: in})
		if err != nil {
			return "", err
		}
		said := r.Content[0].(*sdk.TextContent).Text
		if r.IsError {
			return "", errors.New(said)
		}
		return said, nil
	}
}

// asked waits until one question lies there, and gives it.
func asked(t *testing.T, d *filedrop.Folders) filedrop.QuestionFile {
	t.Helper()
	for {
		if all, _, err := d.Pending(); err != nil {
			t.Fatal(err)
		} else if len(all) == 1 {
			return all[0]
		}
		time.Sleep(time.Millisecond)
	}
}

var which = map[string]any{"question": "Which way?", "header": "Way", "context": "Both are long.",
	"options": []any{map[string]any{"label": "Left", "description": "uphill"}, "Right"}} // a label alone, as agents write it

func TestAHostThatBreaksOffWaitsForTheSameAnswer(t *testing.T) {
	home := t.TempDir()
	d, ask := hosted(t, home, 0)
	ctx, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() { _, err := ask(ctx, which); left <- err }()
	q := asked(t, d)
	if q.Question != "Which way?" || q.Options[0] != "Left" || q.OptionDescriptions[0] != "uphill" || !q.OwnWords ||
		!strings.HasPrefix(q.AskedBy, "an editor in /") || q.Ours() {
		t.Errorf("it asks %+v", q)
	}
	leave()
	if err := <-left; err == nil {
		t.Error("whoever broke off was told something")
	}
	if err := d.Answer(q.ID, "Left, slowly"); err != nil {
		t.Fatal(err)
	}
	if said, err := ask(t.Context(), which); said != "Left, slowly" || err != nil {
		t.Errorf("who asks again is told %q, %v", said, err)
	}
	if all, _, _ := d.Pending(); len(all) != 0 || d.Answered(q.ID) {
		t.Errorf("what was taken lies there: %v", all)
	}
	if said, err := ask(t.Context(), map[string]any{"handle": q.ID}); said != "Left, slowly" || err != nil {
		t.Errorf("by its handle it is told %q, %v", said, err)
	}
	if said, err := ask(t.Context(), which); said != "Left, slowly" || err != nil { // it may have been told to nobody
		t.Errorf("at once it is told %q, %v", said, err)
	}
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(home, "questions", "answered", q.ID+".json"), long, long); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = ask(t.Context(), which) }() // after that, it is another question
	if again := asked(t, d); again.ID == q.ID {
		t.Error("a question that was answered is not asked again")
	}
}

func TestACallThatDoesNotWaitHasAHandle(t *testing.T) {
	d, ask := hosted(t, t.TempDir(), time.Millisecond)
	said, err := ask(t.Context(), which)
	q := asked(t, d)
	if !strings.Contains(said, "no answer yet") || !strings.Contains(said, q.ID) || err != nil {
		t.Fatalf("it is told %q, %v", said, err)
	}
	if err := d.Answer(q.ID, "Right"); err != nil {
		t.Fatal(err)
	}
	if said, err := ask(t.Context(), map[string]any{"handle": q.ID}); said != "Right" || err != nil {
		t.Errorf("by its handle it is told %q, %v", said, err)
	}
}

func TestWhatCannotBeAskedIsSaid(t *testing.T) {
	d, ask := hosted(t, t.TempDir(), time.Millisecond)
	for says, in := range map[string]map[string]any{
		"question is missing": {},
		"leave question out":  {"question": "a?", "handle": "ask-aaaaaaaaaaaaaaaa"},
		"there is no such":    {"handle": "ask-aaaaaaaaaaaaaaaa"},
		"never asked":         {"handle": "../../state"},
		"unexpected":          {"question": "a?", "answer": "yes"},
		"did not validate":    {"question": "a?", "options": []any{7}},
		"more than 1 MiB":     {"question": strings.Repeat("a", 2<<20)},
	} {
		if said, err := ask(t.Context(), in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q, %v", says, said, err)
		}
	}
	for i := range 100 {
		if _, err := ask(t.Context(), map[string]any{"question": strings.Repeat("a", i+1) + "?"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(t.Context(), map[string]any{"question": "One more?"}); err == nil || !strings.Contains(err.Error(), "100 questions") {
		t.Errorf("one more is told %v", err)
	}
	all, _, _ := d.Pending()
	if err := d.Discard(all[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), map[string]any{"handle": all[0].ID}); err == nil || !strings.Contains(err.Error(), "taken away") {
		t.Errorf("what was taken away is told %v", err)
	}
}

func TestAnAnswerThatCannotBeReadIsNone(t *testing.T) {
	home := t.TempDir()
	d, ask := hosted(t, home, time.Millisecond)
	if _, err := ask(t.Context(), which); err != nil {
		t.Fatal(err)
	}
	id := asked(t, d).ID
	answered := filepath.Join(home, "questions", "answered", id+".json")
	if err := os.WriteFile(answered, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := ask(t.Context(), map[string]any{"handle": id}); err == nil || !strings.Contains(err.Error(), "ask again") {
		t.Errorf("it is told %q, %v", said, err)
	}
}
