package claude

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

const forked, forking = "b8c1d2e3-0000-4000-8000-000000000001", "b8c1d2e3-0000-4000-8000-000000000002"

// conversationOf writes a transcript that was begun in dir, and gives its path.
func conversationOf(t *testing.T, home, session, dir, text string) string {
	t.Helper()
	path := filepath.Join(home, ".claude", "projects", project(dir), session+".jsonl")
	noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	noError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// program makes a program that is installed as this release.
func program(t *testing.T, release string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "versions", release)
	noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	noError(t, os.WriteFile(path, nil, 0o700))
	return path
}

func TestAForkIsTheCLIsOwnOrACopyOfTheConversation(t *testing.T) {
	const line = `{"type":"user","sessionId":"` + forked + `","message":{"content":"\"sessionId\":\"` +
		forked + `\""}}` + "\n"
	copied := strings.Replace(line, `"sessionId":"`+forked, `"sessionId":"`+forking, 1)
	native := []string{"--resume", forked, "--fork-session", "--session-id", forking}
	resumed := []string{"--resume", forking}
	for _, c := range []struct {
		name, release string
		elsewhere     bool // it was begun in another directory
		text, there   string
		flags         []string
		want          string // the new conversation's transcript, "" for none
	}{
		{name: "in the same directory", release: "2.1.7", text: line, flags: native},
		{name: "in another directory", release: "2.1.200", elsewhere: true, text: line, flags: resumed, want: copied},
		{name: "while a line is being written", release: "2.1.7", elsewhere: true, text: line + line[:20],
			flags: resumed, want: copied},
		{name: "in another directory, by a release that finds it", release: "2.1.329", elsewhere: true,
			text: line, flags: native},
		{name: "by a program of which the release is not known", release: "claude", elsewhere: true,
			text: line, flags: resumed, want: copied},
		{name: "again, when the copy was made", release: "2.1.7", elsewhere: true, text: line, there: "{}\n",
			flags: resumed, want: "{}\n"},
		{name: "of what is gone", release: "2.1.7", elsewhere: true, flags: native},
	} {
		t.Run(c.name, func(t *testing.T) {
			home, dir, begun := t.TempDir(), resolved(t), resolved(t)
			if !c.elsewhere {
				begun = dir
			}
			source := ""
			if c.text != "" {
				source = conversationOf(t, home, forked, begun, c.text)
			}
			if c.there != "" {
				conversationOf(t, home, forking, dir, c.there)
			}
			link := filepath.Join(t.TempDir(), "link") // the CLI finds itself in what it leads to
			noError(t, os.Symlink(dir, link))
			s := procs.Spec{Path: program(t, c.release), Dir: link, Env: []string{"HOME=" + home}, SessionID: forking, Fork: forked}
			noError(t, (*launch)(&s).fork())
			if diff := cmp.Diff(c.flags, launch(s).conversation()); diff != "" {
				t.Errorf("flags, -want +got:\n%s", diff)
			}
			path := filepath.Join(home, ".claude", "projects", project(dir), forking+".jsonl")
			if data, _ := os.ReadFile(path); string(data) != c.want {
				t.Errorf("the new conversation: %q", data)
			}
			if data, _ := os.ReadFile(source); string(data) != c.text {
				t.Errorf("the other conversation: %q", data)
			}
			if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".fork-*")); left != nil {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func resolved(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	noError(t, err)
	return dir
}

func TestAForkThatCannotBeCopiedIsNoLaunch(t *testing.T) {
	home, dir := t.TempDir(), resolved(t)
	source := conversationOf(t, home, forked, resolved(t), "{}\n")
	s := procs.Spec{Path: program(t, "2.1.7"), Dir: dir, Env: []string{"HOME=" + home}, SessionID: "../../../x", Fork: forked}
	if err := (*launch)(&s).fork(); err == nil {
		t.Error("a session may have any name")
	}
	// A file where the folder of the project would be.
	noError(t, os.WriteFile(filepath.Join(filepath.Dir(filepath.Dir(source)), project(dir)), nil, 0o600))
	s.SessionID = forking
	if _, err := procs.Start(Agent{}, s, func(procs.Message) { t.Error("something was said") }); err == nil ||
		!strings.Contains(err.Error(), "fork a conversation") {
		t.Errorf("%v", err)
	}
}

// A launch that resumes forks no more.
func TestAConversationIsForkedWhenItBegins(t *testing.T) {
	for _, s := range []procs.Spec{{SessionID: forking, Fork: forked, Resume: true}, {SessionID: forking}} {
		if err := (*launch)(&s).fork(); err != nil || slices.Contains(launch(s).conversation(), "--fork-session") {
			t.Errorf("%+v: %v", launch(s).conversation(), err)
		}
	}
}

func FuzzCopySession(f *testing.F) {
	f.Add([]byte(`{"sessionId":"` + forked + `"}` + "\n"))
	f.Add([]byte("\n\n{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var there, back bytes.Buffer
		noError(t, copySession(&there, bytes.NewReader(data), forking, forked))
		if bytes.Contains(there.Bytes(), []byte(`"sessionId":"`+forked+`"`)) {
			t.Errorf("%q", there.Bytes())
		}
		if bytes.Contains(data, []byte(forking)) {
			return
		}
		if err := copySession(&back, &there, forked, forking); err != nil ||
			!bytes.Equal(back.Bytes(), data[:bytes.LastIndexByte(data, '\n')+1]) {
			t.Errorf("%q came back as %q (%v)", data, back.Bytes(), err)
		}
	})
}
