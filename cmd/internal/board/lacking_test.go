package board

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"claude-supervise/supervisor/service"
	"claude-supervise/supervisor/view"
)

// A key for what the program of a board cannot do is in no text, and does nothing but say so.
func TestTheBoardHasNoKeyForWhatItsProgramCannotDo(t *testing.T) {
	d := newTestBoard(t)
	d.config.Service = struct{ service.Service }{d.config.Service}
	d.config.Changes = false
	d.config.Program = "claude-supervise fleet"
	o := someRuns()
	o.Runs[0].Worker = "builder-7"
	d.Update(o, d.at)
	d.shows("claude-supervise fleet · 2 questions", "builder-7")
	for _, on := range []string{"r-one", "q-1"} {
		d.selected = on
		for _, key := range []string{"w", "r", "R", "p", "o", "m", "d", "n", "A", "=", "K", "S"} {
			d.types(key)
			d.shows("This board has no key " + key)
			d.did()
		}
		for _, name := range []string{"w write", "r resume", "n new", "o folder", "worktrees"} {
			if screen := ansi.Strip(d.screen(120, 40)); strings.Contains(screen, name) {
				t.Errorf("on %s it shows %q:\n%s", on, name, screen)
			}
		}
	}
	d.types("tab", "tab", "tab", "tab")
	if d.Board.shows() == worktreePane {
		t.Error("there is a pane of worktrees")
	}
	d.types("?")
	help := ""
	for range 40 {
		help += ansi.Strip(d.screen(80, 16))
		d.press("down")
	}
	for _, text := range []string{"writes to the agent", "resumes the run", "tries again", "deletes the records", "opens its folder",
		"worktrees", "can be changed", "differently", "compares such", "keeps it"} {
		if strings.Contains(help, text) {
			t.Errorf("the help has %q", text)
		}
	}
	d.types("x", "a", "1", "enter")
	d.did("answer q-1 Red")
	if len(d.trail) > 0 {
		t.Errorf("an answer that cannot be changed can be gone back to: %v", d.trail)
	}
}

func TestAPersonIsAskedByNameWhatToStop(t *testing.T) {
	d := newTestBoard(t)
	o := someRuns()
	o.Runs[0].Name = "nightly"
	o.Runs[0].Agents[1].Who = "a part"
	d.Update(o, d.at)
	for id, asks := range map[string]string{"r-one": "Stop r-one (nightly)", "a-kid": "Stop a-kid (a part)",
		"r-two": "Stop r-two (the task of r-two)"} {
		d.selected = id
		d.types("s")
		d.shows(asks)
		d.types("n")
	}
	if called(entry{id: "q-x", question: &view.QuestionView{ID: "q-x", Agent: "a-gone"}}) != "a-gone" {
		t.Error("an agent of which nothing is known has no name")
	}
}

// A run can have ended by the look that finds its question closed.
func TestWhoAnswersIsToldWhoWasFirstThoughTheRunHasEnded(t *testing.T) {
	d := newTestBoard(t)
	d.types("a")
	o := someRuns()
	closed, answer := o.Questions[0], "Red"
	closed.State, closed.Answer, closed.AnsweredBy = "answered", &answer, "ann@there"
	o.Closed, o.Questions = []view.QuestionView{closed}, o.Questions[1:]
	o.Ended, o.Runs = []view.RunView{run("r-one", "succeeded")}, o.Runs[1:]
	d.Update(o, d.at)
	d.shows("q-1 was answered by ann@there: Red")
}
