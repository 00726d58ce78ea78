package e2e

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
)

// A spoiling is what may have become of a transcript while nobody looked, and what is said of it where its question is
// answered: "" where the answer is the result of its call nonetheless.
type spoiling struct {
	does     func(path string, text []byte) error
	restated string // why
	anew     bool   // and the agent goes on in another conversation
}

const noCall, goneNow = "the conversation does not have the call that asked", "the conversation is gone"

var spoilings = map[string]spoiling{
	"gone":    {func(path string, _ []byte) error { return os.Remove(path) }, goneNow, true},
	"emptied": {func(path string, _ []byte) error { return os.Truncate(path, 0) }, noCall, true},
	"no text": {func(path string, _ []byte) error {
		return os.WriteFile(path, bytes.Repeat([]byte{0, 255, 7}, 4000), 0o600)
	}, noCall, true},
	"cut in the line of the call": {func(path string, text []byte) error {
		return os.Truncate(path, int64(bytes.Index(text, []byte(`"tool_use"`))+30))
	}, noCall, false},
	"cut in its last line": {func(path string, text []byte) error {
		return os.Truncate(path, int64(len(text)-40))
	}, "", false},
	"a link": {func(path string, _ []byte) error {
		return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
	}, "", false},
	"with lines of a later release": {func(path string, text []byte) error {
		text = regexp.MustCompile(`"version":"[^"]*"`).ReplaceAll(text, []byte(`"version":"9.9.9"`))
		return os.WriteFile(path, append(text, `{"type":"hologram","uuid":"x","v":{"a":[1,2]}}`+"\n"...), 0o600)
	}, "", false},
	"with lines of an earlier release": {func(path string, text []byte) error {
		lacks := regexp.MustCompile(`,?"(version|entrypoint|promptSource|userType|gitBranch|requestId)":"[^"]*"`)
		return os.WriteFile(path, lacks.ReplaceAll(text, nil), 0o600)
	}, "", false},
}

// spoils spoils the conversation of a run, claude's own file and the one that is kept.
func (w *world) spoils(run string, how spoiling) (before map[string][]byte) {
	w.t.Helper()
	before = map[string][]byte{}
	kept, err := filepath.Glob(filepath.Join(w.Home, ".local/state/claude-supervise/runs", run, "conversations/*/*.jsonl"))
	noError(w.t, err)
	for _, path := range append(w.transcripts(), kept...) {
		text, err := os.ReadFile(path)
		noError(w.t, err)
		before[path] = text
	}
	for path, text := range before {
		noError(w.t, how.does(path, text))
	}
	return before
}

// Whatever has become of a conversation while its question was parked, the answer reaches the agent, once: as the result
// of its call, or in other words where that is not there any more. Which it is is said, and that another conversation
// begins where there is none.
func TestAnAnswerIsNotLostWithAConversationThatIsSpoiled(t *testing.T) {
	t.Parallel()
	for name, how := range spoilings {
		for _, agent := range []string{"stand-in", "real CLI"} {
			if !sample.Has("spoiled "+name, map[string]uint32{"stand-in": 2, "real CLI": 8}[agent]) {
				continue
			}
			t.Run(name+", "+agent, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				s := load(t, w.scenario(placed+restatedTurns))
				if w.agent = []string{"--demo", w.scenario(placed + restatedTurns), "--cwd", "."}; agent == "real CLI" {
					placing(t)
					w.real(s, func(messagesapi.Request) {})
				}
				w.exits(75, w.runArgs(s, "--hold", "0", "--on-question", "park", "--allow", "Bash")...)
				asked, run := w.questions()[0].ID, w.ps().ID
				w.spoils(run, how)
				w.must("answer", asked, "Black")
				code, _, said := w.run("resume", run, "--on-question", "park")
				if code != 75 || w.questions()[0].Question != "Which accent?" || w.reads("effects") != "beside\n" {
					t.Errorf("exit %d\n%s", code, said)
				}
				if how.restated != "" {
					lacksNone(t, "resume", said, "its answer is restated by a prompt: "+how.restated+"\n")
				} else if shown := w.must("show", run, "--json"); !strings.Contains(shown, "told as the result of its call") {
					t.Errorf("it is not told in place:\n%s", said)
				}
				if strings.Contains(said, "continues in a new conversation") != how.anew {
					t.Errorf("a new conversation: want %v\n%s", how.anew, said)
				}
				w.deliveredOnce(byPrompt[0], `Which ground?\"=\"Black`)
			})
		}
	}
}

// What is spoiled cannot be answered differently, and that is said before anything is started; the run and its
// conversation stay as they are. What still has the call can.
func TestASpoiledConversationIsNotContinuedWithAnotherAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent = []string{"--demo", w.scenario(placed), "--cwd", "."}
	w.inGit()
	run, asked := w.playsForks("--hold", "forever")
	all := w.left(run)
	for name, how := range spoilings {
		before := w.spoils(run, how)
		code, fork, said := w.run("answer", "--again", asked[0], "White")
		if refused := code == 1 && strings.Contains(said, asked[0]+" cannot be answered differently: "+how.restated+
			"; nothing was started"); refused != (how.restated != "") || !refused && code != 0 {
			t.Errorf("%s: exit %d\n%s", name, code, said)
		} else if !refused {
			w.asksAgain(strings.TrimSpace(fork)) // and rests: its conversation is spoiled with the others
		}
		for path, text := range before {
			noError(t, os.RemoveAll(path))
			noError(t, os.WriteFile(path, text, 0o600))
		}
	}
	w.untouched(run, all)
}
