package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/procs"
	cli "claude-supervise/procs/claude"
)

// ages makes the conversations of a home as old as those that the CLI removes.
func (w *world) ages(config string) {
	w.t.Helper()
	old := time.Now().AddDate(0, 0, -40)
	err := filepath.WalkDir(filepath.Join(config, "projects"), func(path string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, old, old))
	})
	noError(w.t, err)
}

// cleansUp starts another session of the same home, which removes old conversations, and waits until one is gone.
func (w *world) cleansUp(gone string) {
	w.t.Helper()
	api := messagesapi.Serve(examples.Scenario{Name: "other", Turns: []examples.Turn{{When: "OTHER", Replies: []examples.Reply{
		{Text: "hi"}}}}}, nil)
	defer api.Close()
	ended := make(chan struct{})
	p, err := procs.Start(cli.Agent{}, procs.Spec{Path: claude.Program(w.t), Dir: w.t.TempDir(),
		Env:       append(slices.Clone(w.Env), "ANTHROPIC_BASE_URL="+api.URL),
		SessionID: "6f9619ff-8b86-4011-b42d-00c04fc964f1",
		Marker:    procs.Marker{Run: "r-other", Agent: "a-7Qm2xK9fWb4T", Launch: 1}}, func(m procs.Message) {
		if _, is := m.(procs.Exit); is {
			close(ended)
		}
	})
	noError(w.t, err)
	noError(w.t, p.Send("9f9619ff-8b86-4011-b42d-00c04fc964f1", "OTHER"))
	waitUntil(w.t, "the CLI has removed "+gone, func() bool {
		_, err := os.Stat(gone)
		return errors.Is(err, os.ErrNotExist)
	})
	if err := p.CloseInput(); err != nil {
		w.t.Error(err)
	}
	<-ended
}

// waitUntil looks again until it is so; in two minutes it ends the test, so that what hangs is named.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if t.Context().Err() != nil || time.Since(began) > 2*time.Minute {
			t.Fatalf("never: %s", what)
		}
	}
}

// A run that waited for more than 30 days, parked or after its supervisor was killed, goes on in its conversation though
// the CLI has removed that meanwhile; also from a shell that lacks the variable by which it is found.
func TestARunOutlivesTheCleanUpOfConversations(t *testing.T) {
	t.Parallel()
	s := load(t, filepath.Join("testdata", "permission", "questions.yaml"))
	for name, leave := range map[string]func(w *world) (run, question string){
		"parked": func(w *world) (string, string) {
			code, _, stderr := w.run(w.runArgs(s, "--on-question", "park", "--hold", "0")...)
			if code != 75 {
				t.Fatalf("exit %d\n%s", code, stderr)
			}
			return w.ps().ID, w.questions()[0].ID
		},
		"killed": func(w *world) (string, string) {
			run := w.start(w.runArgs(s, "--hold", "5s")...)
			q := run.until("question").Question.ID
			id := w.ps().ID
			waitUntil(t, "the conversation is kept", func() bool {
				kept, err := filepath.Glob(filepath.Join(w.Home, ".local/state/claude-supervise/runs", id, "conversations/*/*.jsonl"))
				return err == nil && len(kept) == 1
			})
			run.kill9()
			waitUntil(t, "its processes are gone", func() bool { return len(machine.Marked(id)) == 0 })
			return id, q
		},
	} {
		if !sample.Has("cleaned up "+name, 2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fresh := false
			w := newWorld(t).real(s, func(r messagesapi.Request) {
				fresh = fresh || strings.Contains(textOf(r), "## CHECKPOINT") // what a new conversation begins with
			})
			config := filepath.Join(w.Home, "elsewhere")
			shell := slices.Clone(w.Env)
			w.Env = append(w.Env, "CLAUDE_CONFIG_DIR="+config, "AWS_SECRET_ACCESS_KEY=s3cret")
			run, q := leave(w)
			session := w.ps().Agents[0].SessionID
			transcript, err := cli.Transcript(w.Env, session)
			noError(t, err)
			before, err := os.ReadFile(transcript)
			noError(t, err)
			w.ages(config)
			w.cleansUp(transcript)

			w.Env = shell
			w.must("answer", q, "Black")
			code, _, stderr := w.run("resume", run, "--on-question", "park")
			lacksNone(t, "resume", stderr, "CLAUDE_CONFIG_DIR="+config, "not here: AWS_SECRET_ACCESS_KEY")
			if code != 75 || strings.Contains(stderr, "s3cret") {
				t.Errorf("exit %d\n%s", code, stderr)
			}
			after, err := os.ReadFile(transcript)
			if err != nil || !strings.HasPrefix(string(after), string(before)) {
				t.Errorf("the conversation does not go on in %s: %v", transcript, err)
			}
			if got := w.ps().Agents[0].SessionID; got != session || fresh {
				t.Errorf("a new conversation was begun: %s after %s", got, session)
			}
			if db := stateText(t, w); strings.Contains(db, "s3cret") {
				t.Error("the value of a key is in the state")
			}
		})
	}
}

func textOf(r messagesapi.Request) (all string) {
	for _, m := range r.Conversation {
		all += strings.Join(m.Texts, "\n")
	}
	return all
}

// stateText is all that the program keeps, as text.
func stateText(t *testing.T, w *world) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir(filepath.Join(w.Home, ".local", "state"), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		all.Write(data)
		return err
	})
	noError(t, err)
	return all.String()
}
