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
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
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
		noError(t, KeepConversation(transcript, kept))
	}
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	noError(t, err)
	_, err = f.WriteString("two\n") // what is written after that, when nobody looks any more
	noError(t, errors.Join(err, f.Close()))
	putFile(t, subagent, "sub\n")
	noError(t, KeepConversation(transcript, kept))
	old := time.Now().AddDate(0, 0, -40)
	for _, path := range []string{transcript, subagent} {
		noError(t, os.Chtimes(path, old, old))
	}
	noError(t, os.RemoveAll(filepath.Join(config, "projects")))
	noError(t, LayBackConversation(env, session, kept))
	hasText(t, transcript, "one\ntwo\n")
	hasText(t, subagent, "sub\n")
	for _, path := range []string{transcript, subagent, filepath.Dir(subagent)} {
		if time.Since(modTime(path)) > time.Hour {
			t.Errorf("%s is old: it is removed again", path)
		}
	}

	// Of a conversation of which the subagents alone are gone these come back. A transcript that lost its beginning is
	// not what is kept.
	noError(t, errors.Join(os.RemoveAll(filepath.Dir(subagent)), os.Remove(transcript)))
	putFile(t, transcript, "3\n")
	noError(t, errors.Join(KeepConversation(transcript, kept), LayBackConversation(env, session, kept)))
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
	noError(t, copyFile(from, to, when))
	hasText(t, to, "text")
	if !modTime(to).Equal(when) {
		t.Errorf("it is of %v", modTime(to))
	}
}
