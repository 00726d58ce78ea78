package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func putFile(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

func hasText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); string(got) != want {
		t.Errorf("%s holds %q (%v), not %q", path, got, err, want)
	}
}

func TestAConversationThatWasRemovedIsLaidBackAsItWasLast(t *testing.T) {
	const session = "6f9619ff-8b86-4011-b42d-00c04fc964ff"
	config, kept := t.TempDir(), filepath.Join(t.TempDir(), "run [1]", "conversations")
	env := []string{"CLAUDE_CONFIG_DIR=" + config}
	transcript := filepath.Join(config, "projects", "-w", session+".jsonl")
	subagent := filepath.Join(config, "projects", "-w", session, "subagents", "agent-1.jsonl")
	if err := LayBackConversation(env, session, kept); err != nil {
		t.Fatalf("where there was none: %v", err)
	}
	putFile(t, transcript, "one\n")
	for range 2 {
		if err := KeepConversation(transcript, kept); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString("two\n") // what is written after that, when nobody looks any more
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	putFile(t, subagent, "sub\n")
	if err := KeepConversation(transcript, kept); err != nil {
		t.Fatal(err)
	}
	old := time.Now().AddDate(0, 0, -40)
	for _, path := range []string{transcript, subagent} {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.RemoveAll(filepath.Join(config, "projects")); err != nil {
		t.Fatal(err)
	}
	if err := LayBackConversation(env, session, kept); err != nil {
		t.Fatal(err)
	}
	hasText(t, transcript, "one\ntwo\n")
	hasText(t, subagent, "sub\n")
	for _, path := range []string{transcript, subagent, filepath.Dir(subagent)} {
		if time.Since(modTime(path)) > time.Hour {
			t.Errorf("%s is old: it is removed again", path)
		}
	}

	// Of a conversation of which the subagents alone are gone these come back. A transcript that lost its beginning is
	// not what is kept.
	if err := errors.Join(os.RemoveAll(filepath.Dir(subagent)), os.Remove(transcript)); err != nil {
		t.Fatal(err)
	}
	putFile(t, transcript, "3\n")
	if err := errors.Join(KeepConversation(transcript, kept), LayBackConversation(env, session, kept)); err != nil {
		t.Fatal(err)
	}
	hasText(t, transcript, "3\n")
	hasText(t, subagent, "sub\n")
	hasText(t, filepath.Join(kept, "-w", session+".jsonl"), "one\ntwo\n")
	if _, err := os.Lstat(filepath.Join(kept, "-w", ".next-"+session+".jsonl")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("something is left over")
	}
}

func TestAConversationIsCopiedToAnotherFileSystem(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	putFile(t, from, "text")
	when := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := copyFile(from, to, when); err != nil {
		t.Fatal(err)
	}
	hasText(t, to, "text")
	if !modTime(to).Equal(when) {
		t.Errorf("it is of %v", modTime(to))
	}
}
