package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sync/errgroup"

	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/supervisor"
)

// A killScenario is a way through a run that no kill may change.
type killScenario struct {
	name, scenario string
	agent          string // a script in testdata/kill that is run in claude's place; what else there is to know says play
	play           examples.Scenario
	flags          []string // of run
	answers        answering
	stops          bool // the person stops the run once it works, or asks
	changes        bool // the person thinks again, with an answer that says the same
	interrupts     bool // or leaves it by Ctrl-C, and resumes it
	says           bool // or says something to it while it works
	asksMore       bool // what was allowed may be lost with a killed process, and is then asked about again
	revokes        bool // the person gives a rule by the first permission, and takes it back when it is used
	wakes          bool // the person lets the work go on once it is said to be silent
	presses        bool // or once fewer agents may be at work, or a supervisor has died before that
	begins         func(w *world)
	between        func(w *world) // what happens while nobody supervises the run: after the first that died
	prelude        *pass          // the first supervisor is killed here in any case
	after          *pass          // nobody dies before
	at             []string       // points that are died at although earlier scenarios have passed them
	// what a person has said stands in the agent's conversation exactly once, in one of these forms
	once   []string
	status string // at the end; "": the scenario's
	exit   int
	state  string                    // of its questions then, where they need not be delivered
	ends   func(w *world, kills int) // what else holds then
	real   bool                      // it is played around the real CLI too
}

// story returns the scenario of a scenario.
func (t killScenario) story(in *testing.T) examples.Scenario {
	in.Helper()
	if t.agent != "" {
		return t.play
	}
	return load(in, t.scenario)
}

// answering says when the person of a scenario answers.
type answering int

const (
	atOnce answering = iota
	onceParked
	onceLeft
	whileDead      // by a file, before the first supervisor that died is followed by another
	takenWhileDead // the same, and the script takes it before
)

// mainScenarios is how many of the scenarios are died at all of their points, but in a short run.
const mainScenarios = 2

// byPrompt is how an answer is said where no call waits for it.
var byPrompt = []string{"## CLARIFICATION RESPONSE"}

var killScenarios = slices.Concat([]killScenario{
	{name: "a question", scenario: "ask", flags: []string{"--hold", "forever", "--on-question", "ask"}, once: byPrompt},
	{name: "a question parked after its hold", scenario: "ask", flags: []string{"--hold", "100ms", "--on-question", "ask"},
		answers: onceParked, once: byPrompt, real: true},
	{name: "a question in a call", scenario: "tool-ask", flags: []string{"--hold", "forever", "--on-question", "ask"},
		once: []string{byPrompt[0], `Which ground colour?\"=\"Black`}},
	{name: "an image with an answer", scenario: "ask", flags: []string{"--hold", "100ms", "--on-question", "ask"},
		answers: onceParked, once: byPrompt, begins: (*world).hasImage, ends: (*world).shownOnce, real: true},
	{name: "an image beside an answer in a call", scenario: "tool-ask", flags: []string{"--hold", "forever", "--on-question", "ask"},
		begins: (*world).hasImage, ends: (*world).shownOnce, real: true},
	{name: "a question that shows an image", scenario: "picture", flags: []string{"--hold", "forever", "--on-question", "ask"},
		ends: (*world).imagesWhole, real: true},
	{name: "a park and a resume", scenario: "ask", flags: []string{"--hold", "0", "--on-question", "park"},
		answers: onceLeft, once: byPrompt},
	{name: "a recovery", scenario: "ask", flags: []string{"--hold", "forever", "--on-question", "ask"},
		prelude: &pass{1, "after save noted", 1}, once: byPrompt, real: true},
	{name: "a question that is asked again", scenario: "asks-again",
		flags: []string{"--hold", "forever", "--on-question", "ask"}, ends: (*world).toldTwice, at: whileAskingAgain, real: true},
	{name: "a stop", scenario: "testdata/kill/waits.yaml", stops: true, status: "stopped", exit: 5},
	{name: "an end", scenario: "missing-deliverable", flags: []string{"--notify", "/bin/cat"}},
	{name: "an end without a report", scenario: "unreported"},
	{name: "a passing failure", scenario: "overloaded"},
	{name: "background work", scenario: "background"},
	{name: "a change of mind", scenario: "several", flags: []string{"--hold", "0", "--on-question", "park"},
		answers: onceLeft, changes: true, once: byPrompt},
	{name: "a crash", scenario: "crash"},
	{name: "a silence", scenario: "work", flags: []string{"--silent-after", "400ms"}, wakes: true},
	{name: "a stop while it asks", scenario: "tool-ask", flags: []string{"--hold", "forever", "--on-question", "ask"},
		stops: true, status: "stopped", exit: 5},
	{name: "an interrupt", scenario: "work", interrupts: true},
}, answerScenarios, callScenarios, budgetScenarios, nestedScenarios, treeScenarios)

// whileAskingAgain are the points between an answer and what it is asked again by.
var whileAskingAgain = []string{
	"after deliver", "after save received", "before save turn_begun", "after save turn_begun", "before save heard",
	"after save heard",
}

// toldTwice checks that each of two questions in the same words had its answer, once.
func (w *world) toldTwice(int) {
	w.t.Helper()
	w.delivered(2, byPrompt...)
}

// A killing is what one telling of a scenario has to endure.
type killing struct {
	at  pass
	who victim
}

// tell plays a scenario to its end, whatever is killed: a supervisor that died is resumed, as a person would.
func (w *world) tell(t killScenario, s examples.Scenario) (lives []*supervised) {
	w.t.Helper()
	args := w.runArgs(s, t.flags...)
	for len(lives) < 20 {
		run := w.start(args...)
		lives = append(lives, run)
		for e := range run.events {
			run.seen = append(run.seen, e)
			w.react(t, s, run, e, len(lives))
		}
		run.wait()
		r := w.theRun()
		switch {
		case r == nil:
			continue // it was killed before there was a run; nothing is lost but the command
		case len(lives) == 1 && (t.answers == whileDead || t.answers == takenWhileDead):
			w.answersByFile(t, s)
		case len(lives) == 1 && t.between != nil && r.ExitCode == nil:
			t.between(w)
		case t.agent != "" && r.Status == "failed": // its process was killed, and the person goes on as it is said
		case r.ExitCode != nil:
			return lives
		case t.stops:
			w.insists("stop", r.ID)
			if r = w.theRun(); r.ExitCode != nil {
				return lives
			}
		case t.answers == onceLeft && r.Status == "parked":
			w.answersAll(s)
			if t.changes {
				w.changesMind(s, r.ID)
			}
		}
		args = append([]string{"resume", r.ID}, t.policy()...)
	}
	w.t.Fatalf("the run does not end\n%s", lives[len(lives)-1].stderr)
	return nil
}

// policy repeats --on-question for resume.
func (t killScenario) policy() []string {
	if i := slices.Index(t.flags, "--on-question"); i >= 0 {
		return t.flags[i : i+2]
	}
	return nil
}

// react does what the person of a scenario does on an event.
func (w *world) react(t killScenario, s examples.Scenario, run *supervised, e event, life int) {
	w.t.Helper()
	works := e.Type == "progress" && strings.Contains(e.Text, "Bash: echo started")
	switch {
	case e.Type == "question" && t.stops:
		w.insists("stop", e.Run)
	case t.wakes && strings.Contains(e.Text, "silent since"),
		t.presses && (life > 1 || strings.Contains(e.Text, "may be at work for now")):
		w.letsGo()
	case e.Type == "question" && (t.answers == atOnce || t.answers == onceParked && life > 1):
		w.gives(s, *e.Question)
	case t.revokes && strings.HasPrefix(e.Text, "allowed by the rule "):
		w.revokes(e.Run)
	case e.Type == "parked" && t.answers == onceParked:
		w.answersAll(s)
	case works && t.stops:
		w.insists("stop", e.Run)
	case works && t.says:
		w.says(e.Run)
	case works && t.interrupts:
		run.interrupt() // it begins the work anew only where that was lost
	}
}

// answersAll answers every open question, as a person does who does not give up.
func (w *world) answersAll(s examples.Scenario) {
	w.t.Helper()
	for _, q := range w.questions() {
		w.gives(s, q)
	}
}

// changesMind gives the answer to the first question once more. It may be on its way already.
func (w *world) changesMind(s examples.Scenario, run string) {
	w.t.Helper()
	shown := parse[struct{ Questions []questionView }](w.t, w.must("show", run, "--json"))
	if len(shown.Questions) > 0 {
		w.insists("answer", shown.Questions[0].ID, "--change", answerTo(w.t, s, shown.Questions[0].Question))
	}
}

// insists gives a command until it is not killed.
func (w *world) insists(args ...string) {
	w.t.Helper()
	for range 3 {
		switch code, stdout, stderr := w.run(args...); {
		case code == -1:
		case code == 0, strings.Contains(stderr, "answered"), strings.Contains(stderr, "withdrawn"):
			return
		default:
			w.t.Errorf("%q exits %d: %s%s", args, code, stdout, stderr)
			return
		}
	}
}

// theRun returns the only run, nil if there is none.
func (w *world) theRun() *runView {
	w.t.Helper()
	runs := parse[[]runView](w.t, w.must("ps", "-a", "--json"))
	if len(runs) == 0 {
		return nil
	}
	return &runs[0]
}

// endures checks what holds at the end of a scenario, whatever was killed.
func (w *world) endures(t killScenario, s examples.Scenario, lives []*supervised, kills int) {
	w.t.Helper()
	want, code := s.Expect.Status, s.Expect.ExitCode
	if t.status != "" {
		want, code = t.status, t.exit
	}
	r := w.ps()
	if r.Status != want || r.ExitCode == nil || *r.ExitCode != code {
		w.t.Errorf("the run is %s (%s), want %s\n%s", r.Status, r.Reason, want, history(lives))
	}
	for name, content := range s.Expect.Files {
		got, err := os.ReadFile(filepath.Join(w.Cwd, name))
		if want == s.Expect.Status && (err != nil || string(got) != content) {
			w.t.Errorf("%s holds %q (%v), want %q", name, got, err, content)
		}
	}
	if want == s.Expect.Status {
		w.asked(t, s, r.ID, lives, kills)
	}
	if len(t.once) > 0 {
		w.deliveredOnce(t.once...)
	}
	if t.ends != nil {
		t.ends(w, kills)
	}
	if _, err := os.Stat(w.twoAtOnce()); err == nil {
		w.t.Errorf("two processes of the agent lived at once\n%s", history(lives))
	}
	if left := machine.Marked(r.ID); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
}

// asked checks that there is one row for each question, and at least one notice, repeated only by a new supervisor:
// that is for a new terminal, and after a kill between the notice and the saving of its end ("after notify", "before
// save noticed") nobody can know that it was given.
func (w *world) asked(t killScenario, s examples.Scenario, run string, lives []*supervised, kills int) {
	w.t.Helper()
	shown := parse[struct{ Questions []questionView }](w.t, w.must("show", run, "--json"))
	shown.Questions = slices.DeleteFunc(shown.Questions, func(q questionView) bool {
		return strings.HasPrefix(q.AnsweredBy, "--delegate ") // nobody was asked
	})
	// a rule may be taken back once more, or too late
	if len(shown.Questions) != len(s.Answers) && (!t.revokes && !t.asksMore || kills == 0) {
		w.t.Errorf("%d questions for %d answers: %+v\n%s", len(shown.Questions), len(s.Answers),
			shown.Questions, history(lives))
	}
	for _, q := range shown.Questions {
		if q.State != "delivered" && q.State != t.state {
			w.t.Errorf("question %s is %s", q.ID, q.State)
		}
		total := 0
		for i, life := range lives {
			n := 0
			for _, e := range life.seen {
				if e.Type == "question" && e.Question.ID == q.ID {
					n++
				}
			}
			if n > 1 {
				w.t.Errorf("supervisor %d gave %d notices of %s", i+1, n, q.ID)
			}
			total += n
		}
		if total == 0 && t.answers < whileDead { // else it was answered before
			w.t.Errorf("nobody was told of question %s\n%s", q.ID, history(lives))
		}
	}
}

func history(lives []*supervised) string {
	var b strings.Builder
	for i, life := range lives {
		fmt.Fprintf(&b, "supervisor %d, %v: %s\n%s\n", i+1, life.cmd.ProcessState, life.types(), life.stderr)
	}
	return b.String()
}

// endure tells a scenario in a world of its own with one killing, or with none. It gives what was passed, and whether
// the killing took place.
func endure(w *world, tl killScenario, s examples.Scenario, k *killing) (passed []pass, killed bool) {
	w.recorded(tl, s)
	if tl.begins != nil {
		tl.begins(w)
	}
	var prelude sync.Once
	var done, due atomic.Bool
	due.Store(tl.after == nil)
	l := w.watches(func(pid int, p pass) {
		if tl.after != nil && p == *tl.after {
			due.Store(true)
		}
		switch {
		case tl.prelude != nil && p.life == 1:
			if p == *tl.prelude {
				prelude.Do(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
			}
		case k != nil && p == k.at && due.Load() && done.CompareAndSwap(false, true):
			w.kill(k.who, pid)
		}
	})
	lives := w.tell(tl, s)
	kills := 0
	if done.Load() {
		kills = 1
	}
	w.endures(tl, s, lives, kills)

	return l.seen(), done.Load()
}

// Every point of every scenario is a place to die, for the supervisor, for the agent's process or for both. The points
// are those that the scenario passes when nobody dies. No point of the program can be forgotten: each is passed by a
// scenario, or it stands here why it is not.
func TestWhoeverDiesAtAnyPointTheEndIsTheSame(t *testing.T) {
	t.Parallel()
	told := tellAll(t)
	known := map[bool]map[string]bool{false: {}, true: {}} // of claude, and of commands in its place
	for i, tl := range killScenarios {
		passes, main := told[i], i < mainScenarios && !testing.Short()
		if tl.after != nil {
			passes = passes[slices.Index(passes, *tl.after)+1:]
		}
		if !everyKill && !main { // what earlier scenarios have passed, they have died at
			passes = slices.DeleteFunc(passes, func(p pass) bool {
				return known[tl.agent != ""][p.point] && !slices.Contains(tl.at, p.point)
			})
		}
		for _, p := range passes {
			known[tl.agent != ""][p.point] = true
		}
		passes = slices.DeleteFunc(passes, func(p pass) bool { return !sample.Has("dies "+p.String(), 16) })
		t.Run(tl.name, func(t *testing.T) {
			dieAll(t, tl, tl.story(t), killings(tl, passes, main), func(t *testing.T) *world {
				return newWorldWith(t, plainProgram)
			})
		})
	}
}

// tellAll tells each scenario without a kill, several at a time, and gives the points that it passes, in their order.
func tellAll(t *testing.T) [][]pass {
	t.Helper()
	told := make([][]pass, len(killScenarios))
	var tellings errgroup.Group
	tellings.SetLimit(atATime)
	for i, tl := range killScenarios {
		tellings.Go(func() error {
			t.Run(tl.name+", and nobody dies", func(t *testing.T) {
				s := tl.story(t)
				passes, _ := endure(newWorldWith(t, plainProgram), tl, s, nil)
				if everyKill { // what happens at once passes in this order or that: only what is passed again is sure to come
					again, _ := endure(newWorldWith(t, plainProgram), tl, s, nil)
					passes = slices.DeleteFunc(passes, func(p pass) bool { return !slices.Contains(again, p) })
				}
				told[i] = passes
			})
			return nil
		})
	}
	_ = tellings.Wait() // each tells by its own test
	if slices.ContainsFunc(told, func(passes []pass) bool { return passes == nil }) {
		t.Log("not every scenario was told: that each point is on one is not looked at")
		return told
	}
	for _, point := range supervisor.Points() {
		dying := isOfCommand(point) ||
			strings.HasSuffix(point, " prompt_refused") || strings.HasSuffix(point, " session_message") || // the simulation does
			strings.HasSuffix(point, " decided_by_hook") || strings.HasSuffix(point, " ask_cancelled")
		if !dying && !slices.ContainsFunc(told, func(passes []pass) bool {
			return slices.ContainsFunc(passes, func(p pass) bool { return p.point == point })
		}) {
			t.Errorf("no scenario passes %q", point)
		}
	}
	return told
}

// everyKill is set to kill every victim at every passing of a point. Else a point is died at when it is first passed:
// by one of the victims, the next point by the next; in the main scenarios by the supervisor, too.
var everyKill = os.Getenv("CLAUDE_SUPERVISE_TEST_EVERY_KILL") != ""

// killings returns the kills that a scenario has to endure: at each point that it passes.
func killings(tl killScenario, passes []pass, main bool) []killing {
	var all []killing
	for i, p := range passes {
		if tl.prelude != nil && p.life == 1 || !everyKill && p.n > 1 {
			continue
		}
		victims := []victim{theSupervisor, theChild, both}
		switch {
		case p.life == 0:
			victims = victims[:1] // the command itself
		case everyKill:
		case main:
			victims = []victim{theSupervisor, victims[1+i%2]}
		default:
			victims = victims[i%3:][:1]
		}
		for _, who := range victims {
			all = append(all, killing{p, who})
		}
	}
	return all
}

// dieAll tells a scenario once for each killing, several at a time.
func dieAll(t *testing.T, tl killScenario, s examples.Scenario, kills []killing, in func(*testing.T) *world) {
	t.Helper()
	var tellings errgroup.Group
	tellings.SetLimit(atATime)
	for _, k := range kills {
		tellings.Go(func() error {
			t.Run(fmt.Sprintf("%s dies %s", k.who, k.at), func(t *testing.T) {
				for range 10 { // what a process says and what it was sent may pass each other
					if _, killed := endure(in(t), tl, s, &k); killed {
						return
					}
				}
				// That it comes there again may be by chance, for a save that the inbox is ahead of is tried again; and so may the
				// order of what subagents do beside each other.
				if k.at.n == 1 && tl.after == nil {
					t.Errorf("it never comes to %s any more", k.at)
				}
			})
			return nil
		})
	}
	_ = tellings.Wait() // each tells by its own test
}

// atATime is how many scenarios are told at once. They mostly wait.
const atATime = 6

// realPoints are those at which it matters what the real CLI does: the launch, what is said to it, and its end.
var realPoints = []string{
	"launch", "deliver", "end", "recover", "confirm", "survey", "save started", "save sent", "save received",
	"save hold_ended",
	"save ended", "save confirmed", "save surveyed", "save heard",
}

func TestWhoeverDiesAroundTheRealCLITheEndIsTheSame(t *testing.T) {
	t.Parallel()
	var around []killScenario
	for i, tl := range killScenarios {
		if tl.real || everyKill && i < 5 {
			around = append(around, tl)
		}
	}
	for _, tl := range sample.Part("around", around, 8) {
		t.Run(tl.name, func(t *testing.T) {
			s := load(t, tl.scenario)
			in := func(t *testing.T) *world { return newWorldWith(t, plainProgram).real(s, nil) }
			passes, _ := endure(in(t), tl, s, nil)
			passes = slices.DeleteFunc(passes, func(p pass) bool {
				return p.life == 0 || !slices.ContainsFunc(realPoints, func(point string) bool {
					return strings.HasSuffix(p.point, " "+point)
				})
			})
			dieAll(t, tl, s, slices.DeleteFunc(killings(tl, passes, false), func(k killing) bool {
				return !sample.Has(tl.name+k.at.String(), 10)
			}), in)
		})
	}
}
