package procs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestATranscriptIsFoundByItsSession(t *testing.T) {
	const session = "00000000-0000-4000-8000-000000000100"
	home, config := t.TempDir(), filepath.Join(t.TempDir(), "odd [name]*")
	write := func(dir, project string, age time.Duration) string {
		path := filepath.Join(dir, "projects", project, session+".jsonl")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := []string{"HOME=" + home}
	if _, err := Transcript(env, session); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before there is one: %v", err)
	}
	write(filepath.Join(home, ".claude"), "-old", time.Hour)
	newest := write(filepath.Join(home, ".claude"), "-new", 0)
	write(filepath.Join(home, ".claude"), "-older", 2*time.Hour)
	if got, err := Transcript(env, session); got != newest || err != nil {
		t.Errorf("in the home: %s, %v", got, err)
	}
	elsewhere := write(config, "-w", 0)
	if got, err := Transcript(append(env, "CLAUDE_CONFIG_DIR="+config), session); got != elsewhere || err != nil {
		t.Errorf("with a folder of its own: %s, %v", got, err)
	}
	for _, bad := range []string{"", "*", "../../secret", session + "/x"} {
		if got, err := Transcript(env, bad); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("session %q: %s, %v", bad, got, err)
		}
	}
}

func transcriptOf(name string) string { return filepath.Join("testdata/transcripts", name+".jsonl") }

func TestAMessageIsHeardIfItIsInTheConversation(t *testing.T) {
	const first, second, third = "00000000-0000-4000-8000-000000000001",
		"00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"
	for _, c := range []struct {
		name, transcript, uuid string
		want                   bool
	}{
		{"a prompt", "answered", first, true},
		{"one taken into a running turn", "taken_in", second, true},
		{"the same in 2.1.100", "taken_in_2.1.100", second, true},
		{"one only queued when the process was ended", "ended_waiting", second, false},
		{"one after the relaunch", "ended_waiting_resumed", third, true},
		{"one never sent", "answered", second, false},
		{"a uuid that is not a message's", "answered", "00000000-0000-4000-8000-000000000103", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, err := HeardIn(transcriptOf(c.transcript), c.uuid); got != c.want || err != nil {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestACallIsAnsweredIfItsResultCameOfAPerson(t *testing.T) {
	for _, c := range []struct {
		name, transcript, call string
		text                   string
		found                  bool
	}{
		{"an answer", "answered", "toolu_1",
			"Your questions have been answered: \"Which?\"=\"B\". You can now continue with these answers in mind.", true},
		{"a refusal with a reason", "denied", "toolu_1", "No, keep out", true},
		{"a refusal in a subagent", "subagent", "toolu_2", "No, keep out", true},
		{"an interrupt", "interrupted", "toolu_1", "", false},
		{"a process ended while it waited", "ended_waiting", "toolu_1", "", false},
		{"the same after a relaunch, with the CLI's own words for it", "ended_waiting_resumed", "toolu_1", "", false},
		{"no such call", "answered", "toolu_9", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, found, err := AnsweredIn(transcriptOf(c.transcript), c.call)
			if text != c.text || found != c.found || err != nil {
				t.Errorf("got %q, %v, %v", text, found, err)
			}
		})
	}
}

func TestATranscriptCutByACrashIsReadAsFarAsItGoes(t *testing.T) {
	data, err := os.ReadFile(transcriptOf("answered"))
	if err != nil {
		t.Fatal(err)
	}
	whole := string(data)
	end := strings.LastIndex(whole, `"tool_result"`) + 20 // in the middle of the answer's line
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	if err := os.WriteFile(path, []byte("garbage\n\n"+whole[:end]), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := AnsweredIn(path, "toolu_1"); found || err != nil {
		t.Errorf("the half line counts: %v, %v", found, err)
	}
	if heard, err := HeardIn(path, "00000000-0000-4000-8000-000000000001"); !heard || err != nil {
		t.Errorf("the lines before it do not: %v, %v", heard, err)
	}
	if _, err := HeardIn(filepath.Join(t.TempDir(), "missing.jsonl"), "u"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no transcript: %v", err)
	}
}
