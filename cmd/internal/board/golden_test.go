package board

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/cmd/internal/terminal/screentest"
	"claude-supervise/procs/pty"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/view"
)

// What a person has on the screen, in each state and size, as an emulator of a terminal shows what was written to it.
// After a change that is meant: go test ./cmd/internal/board -run Golden -update, and read the difference.
func TestGoldenScreens(t *testing.T) {
	for _, state := range []struct {
		name string
		of   view.Overview
		keys []string
	}{
		{"empty", view.Overview{}, nil},
		{"list", busy(), nil},
		{"log", busy(), []string{"end"}},
		{"filter", busy(), []string{"/", "o", "l", "d"}},
		{"diff", busy(), []string{"end", "up", "d"}},
		{"answered", busy(), []string{"/", "q", "-", "o", "l", "d", "enter"}},
		{"again", busy(), []string{"/", "q", "-", "o", "l", "d", "enter", "A", "G", "r", "e", "e", "n", "enter"}},
		{"forked", forks(), []string{"end"}},
		{"compare", forks(), []string{"end", "="}},
		{"keep", forks(), []string{"end", "K"}},
		{"worktrees", busy(), []string{"end", "up", "up", "tab", "tab"}},
		{"stop", busy(), []string{"end", "s"}},
		{"start", busy(), []string{"n", "F", "i", "x"}},
		{"help", busy(), []string{"?"}},
		{"form-options", asks1(options()), []string{"a"}},
		{"form-own", asks1(options()), []string{"a", "tab", "B", "o", "t", "h"}},
		{"form-several", asks1(several()), []string{"a", " ", "down"}},
		{"form-permission", asks1(permission()), []string{"a"}},
		{"form-permission-deny", asks1(permission()), []string{"a", "3", "enter", "N", "o"}},
		{"form-delegation", asks1(delegation()), []string{"a"}},
		{"form-delegation-help", asks1(delegation()), []string{"a", "?"}},
		{"form-budget", asks1(budget()), []string{"a", "1", "enter"}},
		{"form-assumed", asks1(assumed()), []string{"a"}},
		{"form-plan", asks1(plan()), []string{"a"}},
		{"form-plan-words", asks1(plan()), []string{"a", "tab", "5", " ", "a", " ", "m", "i", "n"}},
		{"form-image", asks1(imaged()), []string{"a"}},
		{"form-number", asks1(number()), []string{"a"}},
		{"form-number-wrong", asks1(number()), []string{"a", "1", "2", "enter"}},
	} {
		t.Run(state.name, func(t *testing.T) {
			t.Parallel()
			var got strings.Builder
			for _, size := range [][2]int{{40, 20}, {80, 24}, {140, 40}} {
				d := newTestBoard(t)
				d.columns, d.rows = size[0], size[1]
				d.config.Colours = true
				d.Update(state.of, d.at)
				d.types(state.keys...)
				d.ready()
				screen := drawnBy(t, d, size[0], size[1])
				fmt.Fprintf(&got, "-- %dx%d --\n%s", size[0], size[1], screentest.Rows(screen, screentest.Content))
				if size[0] == 80 {
					fmt.Fprintf(&got, "-- its looks --\n%s", screentest.Rows(screen, screentest.Look))
				}
			}
			screentest.Golden(t, state.name, got.String())
		})
	}
}

// still is a picture at one moment.
type still struct {
	*testBoard
	drawn chan struct{}
}

func (s *still) Rows(columns, rows int, _ time.Time) []string {
	return s.testBoard.Rows(columns, rows, s.at)
}

// Stands is asked for when the picture has been written.
func (s *still) Stands(time.Time) time.Duration {
	select {
	case s.drawn <- struct{}{}:
	default:
	}
	return time.Hour
}

// drawnBy is a terminal of such a size on which a board was drawn as the program draws it.
func drawnBy(t *testing.T, d *testBoard, columns, rows int) *vt.Emulator {
	t.Helper()
	person, own, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = person.Close() }()
	if err := pty.Setsize(own, &pty.Winsize{Rows: uint16(rows), Cols: uint16(columns)}); err != nil {
		t.Fatal(err)
	}
	written := make(chan []byte, 1)
	go func() {
		all, _ := io.ReadAll(person) // its end is an error
		written <- all
	}()
	ctx, cancel := context.WithCancel(t.Context())
	picture := &still{d, make(chan struct{}, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- terminal.NewFullScreen(own, own, func(string) string { return "xterm" }).Run(ctx, picture)
	}()
	<-picture.drawn
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	_ = own.Close()
	all := <-written
	screen := vt.NewEmulator(columns, rows)
	_, _ = screen.Write(all[:bytes.LastIndex(all, []byte(ansi.ResetModeMouseExtSgr))]) // before the terminal is given back
	return screen
}

// busy is a board with some of everything.
func busy() view.Overview {
	o := someRuns()
	o.Questions = []view.QuestionView{options(), permission()}
	o.Questions[0].Urgent = true
	failed := run("r-bad", "failed")
	failed.Name, failed.Reason = "nightly", "the tests do not pass: TestLogin fails"
	o.Ended = []view.RunView{failed}
	return o
}

// forks is a board with a run that continues from a question of another.
func forks() view.Overview {
	o := someRuns()
	o.Runs[1].Forked = &view.ForkView{Run: "r-one", Question: "q-1"}
	o.Questions = o.Questions[:1]
	return o
}

// asks1 is a board on which one question is open.
func asks1(q view.QuestionView) view.Overview {
	o := someRuns()
	o.Questions = []view.QuestionView{q}
	return o
}

// like returns an open question with such options: their labels and descriptions by turns.
func like(kind questions.Name, header, text, context string, options ...string) view.QuestionView {
	q := asked("q-1", "r-one")
	q.Kind, q.Header, q.Question, q.Context, q.Cwd, q.Options = kind, header, text, context, "/src/r-one", nil
	q.AskedAt, q.AnswerCommand = noon.Add(-3*time.Minute), "claude-supervise answer q-1 VALUE"
	q.Options = slices.Grow(q.Options, len(options)/2)[:len(options)/2]
	for i := range q.Options {
		q.Options[i].Label, q.Options[i].Description = options[2*i], options[2*i+1]
	}
	return q
}

func options() view.QuestionView {
	return like("clarification", "Login", "Which way of login should the service use?",
		"JWT needs no store; sessions can be ended at once.",
		"JWT", "a signed token that the browser keeps", "Sessions", "an id that the server looks up")
}

func several() view.QuestionView {
	q := like("clarification", "", "Which of them as well?", "", "metrics", "", "traces", "", "profiles", "")
	q.MultiSelect = true
	return q
}

func permission() view.QuestionView {
	q := like("permission", "Edit", "Allow Edit: version.txt?", "file: /src/r-one/version.txt\n--- version.txt\n"+
		"+++ version.txt\n@@ -1,2 +1,2 @@\n name=ledger\n-version=1.2\n+version=1.3",
		"allow", "this once", "allow-run", "always in this run: Edit(/version.txt)",
		"deny", "refuse it; add why, e.g. deny: use the test database", "deny-stop", "refuse it, and stop the agent")
	q.ID, q.AllowRule, q.Tool = "q-2", "Edit(/version.txt)", "Edit"
	return q
}

func delegation() view.QuestionView {
	q := like("delegation", "delegation", "Start another agent for: Write the ten chapters of the manual into chapters.txt?",
		"Task:\n    Write the ten chapters of the manual into chapters.txt.\n\nWhy: it is much to write\n"+
			"Independence: can_proceed_parallel\nPriority: P1\nEstimated: 1 hour\nIt lacks: success criteria\n\n"+
			"Before you approve:\n- Is it justified, against the agent continuing by itself?\n- Is the priority right?",
		"approve", "start it; add another task to change it, e.g. approve Refactor only src/auth",
		"deny", "add why, and what to do instead, e.g. deny too early instead: list it in the report")
	q.Task = "Write the ten chapters of the manual into chapters.txt."
	return q
}

func budget() view.QuestionView {
	return like("budget", "budget", "The budget of $1.00 of the run is used up ($1.02). Raise it, finish up, or stop?",
		"Nothing is lost: the conversations are kept, and nothing more is used before you answer.",
		"raise", "add the new bound, as in raise 5 (dollars); with + what is put on top",
		"finish", "what has begun is told to save its state and report, with 3 more requests each",
		"stop", "stop the work under this budget")
}

func number() view.QuestionView {
	q := like("clarification", "Nodes", "How many nodes should it start?", "Each costs $0.20 an hour.")
	q.Validate = `schema:{"type":"integer","minimum":1,"maximum":9,"unit":"nodes"}`
	return q
}

func plan() view.QuestionView {
	return like("plan", "Plan", "Approve the plan: Limit the login to 10 a minute?", "file: /src/.claude/plans/login.md\n\n"+
		"# Limit the login to 10 a minute\n\n1. Write `/login 10/m` into limits.txt.\n2. Say so in the manual.",
		"approve", "it leaves plan mode and carries this out; what was not asked about before plan mode is not asked about "+
			"any more")
}

func imaged() view.QuestionView {
	q := like("clarification", "Page", "Is this how the page is to look?", "", "Yes", "as it is drawn", "No", "draw it anew")
	i := view.ImageView{Path: "/home/ann/.local/state/claude-supervise/runs/r-one/a-one.image-" +
		strings.Repeat("0123456789abcdef", 4)}
	i.Name, i.Type, i.Width, i.Height, i.Bytes = "page\x1b[2J.png", "image/png", 160, 90, 12345
	q.Context = view.ShowsImage + i.String()
	return q
}

func assumed() view.QuestionView {
	q := options()
	q.Assumption, q.Affects = "JWT", []string{"auth/"}
	q.Context += "\nIt works on meanwhile, and assumes: JWT\nIts work under this is in auth/."
	return q
}
