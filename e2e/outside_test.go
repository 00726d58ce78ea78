package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/machine"
	"claude-supervise/e2e/machinetest"
	procs "claude-supervise/procs/claude"
	outside "claude-supervise/supervisor/sessions"
	"claude-supervise/supervisor/view"
)

// opens starts an ordinary claude on a terminal of its own, in which a person has said a first word.
func (w *world) opens(scenario string, flags ...string) *screen {
	w.t.Helper()
	return w.opensAs(claude.Program(w.t), scenario, flags...)
}

// opensAs is opens of this program.
func (w *world) opensAs(program, scenario string, flags ...string) *screen {
	w.t.Helper()
	return w.seat(w.ordinary(program, scenario, append(flags, "--permission-mode", "default", "## BEGIN")...), nil)
}

// ordinary is a claude that nobody supervises, of a person who has used it before.
func (w *world) ordinary(program, scenario string, args ...string) *exec.Cmd {
	w.t.Helper()
	if why := outside.Below(w.t.Context()); why != "" {
		machinetest.Lacks(w.t, "these tests answer as a person does, and cannot below a claude: %s", why)
	}
	w.real(load(w.t, w.scenario(scenario)), nil)
	known, err := json.Marshal(map[string]any{"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"scripted"}},
		"projects":              map[string]any{w.Cwd: map[string]any{"hasTrustDialogAccepted": true}}})
	noError(w.t, err)
	noError(w.t, os.WriteFile(filepath.Join(w.Home, ".claude.json"), known, 0o600))
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = w.Cwd, w.Env
	return cmd
}

// asksHere waits until a session asks something with these words, and gives the question.
func (w *world) asksHere(words string) (q view.QuestionView) {
	w.t.Helper()
	waitUntil(w.t, words+" is asked", func() bool {
		for _, q = range parse[[]view.QuestionView](w.t, w.must("questions", "--json")) {
			if q.Session != nil && strings.Contains(q.Question, words) {
				return true
			}
		}
		return false
	})
	return q
}

// becomesOf waits until a question is open no more, and gives what is shown of it.
func (w *world) becomesOf(id string) string {
	w.t.Helper()
	waitUntil(w.t, id+" is closed", w.isClosed(id))
	return w.must("show", id)
}

// isClosed returns whether a question is, whenever it is called.
func (w *world) isClosed(id string) func() bool {
	return func() bool { return !strings.Contains(w.must("show", id), "State: open") }
}

const asksADatabase = `
name: database
about: asks, and runs a command
prompt: none
turns:
  - when: "## BEGIN"
    replies:
      - tools:
          - name: AskUserQuestion
            input:
              questions:
                - question: Which database?
                  header: DB
                  multiSelect: false
                  options:
                    - {label: PostgreSQL, description: big}
                    - {label: SQLite, description: small}
      - &makes {tools: [{name: Bash, input: {command: "touch made.txt && echo made", description: make it}}]}
      - &done {text: "All is done."}
  - when: "## CLARIFICATION RESPONSE" # where an answer cannot be the result of the call (2.1.100)
    replies: [*makes, *done]
expect: {status: succeeded}
`

func TestTheQuestionsOfASessionAreAnsweredHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(asksADatabase)
	q := w.asksHere("Which database?")
	if q.Run != "" || q.Cwd == "" || q.Session.PID != s.cmd.Process.Pid || !strings.HasPrefix(q.Session.Screen, "pts/") {
		t.Errorf("it is %+v of %+v", q, q.Session)
	}
	s.sees("PostgreSQL") // the screen asks, too
	if said := w.must("answer", q.ID, "2"); !strings.Contains(said, "a session on pts/") {
		t.Errorf("whoever answers is told %q", said)
	}
	s.sees("SQLite")
	if code, _, late := w.run("answer", q.ID, "1"); code != 1 || !strings.Contains(late, "SQLite") {
		t.Errorf("whoever is late has exit %d and is told %q", code, late)
	}
	call := w.asksHere("touch made.txt")
	if call.Kind != "permission" || call.Tool != "Bash" || !strings.Contains(w.must("ps"), call.ID) {
		t.Errorf("the call is %+v", call)
	}
	w.must("answer", call.ID, "allow")
	s.sees("All.is.done|All is done|done")
	waitUntil(t, "the call is made", func() bool { return w.exists("made.txt") })
	if said := w.API.Received(`"Which database?"="SQLite"`); !said {
		t.Error("the model has another answer")
	}
	if open := w.must("questions"); !strings.Contains(open, "No question is open") {
		t.Errorf("open are\n%s", open)
	}
	waitUntil(t, "the transcript has its end", func() bool {
		text, _ := os.ReadFile(parse[struct{ Transcript string }](t, w.askFile(call.ID)).Transcript)
		return strings.Contains(string(text), "All is done.")
	})
	noError(t, s.cmd.Process.Signal(syscall.SIGKILL)) // what it has written says whose answers it took
	waitUntil(t, "no process is left", func() bool { return len(machine.With(machine.InHome(w.Home))) == 0 })
	for _, id := range []string{q.ID, call.ID} {
		if shown := w.must("show", id); !strings.Contains(shown, "State: delivered") {
			t.Errorf("it is shown as\n%s", shown)
		}
	}
	told := w.must("report", "--since", "1h")
	if !strings.Contains(told, "Decided (2)") || !strings.Contains(told, "Which database? → SQLite") {
		t.Errorf("the report is\n%s", told)
	}
	if found := w.must("search", "sqlite", "database"); !strings.Contains(found, "show "+q.ID) {
		t.Errorf("found is\n%s", found)
	}
	if lines := w.must("decisions", "--lines"); !strings.Contains(lines, "Which database? SQLite (") {
		t.Errorf("the lines of decisions are\n%s", lines)
	}
	if all := w.must("decisions"); !strings.Contains(all, "### In sessions") || !strings.Contains(all, "touch made.txt") {
		t.Errorf("decided was\n%s", all)
	}
	w.must("init", "--sessions", "--user", "--undo", "--yes")
	if left, err := os.ReadFile(filepath.Join(w.Home, ".claude", "settings.json")); err == nil &&
		strings.Contains(string(left), "claude-supervise") {
		t.Errorf("of init is left %s", left)
	}
}

func TestAScreenThatAnswersFirstClosesTheQuestionHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(asksADatabase)
	q := w.asksHere("Which database?")
	s.sees("PostgreSQL")
	s.presses("\r", "the screen's answer is taken", func() bool { return w.API.Received(`"Which database?"="PostgreSQL"`) })
	if shown := w.becomesOf(q.ID); !strings.Contains(shown, "withdrawn (answered or turned down on its screen)") {
		t.Errorf("it is shown as\n%s", shown)
	}
	if code, _, late := w.run("answer", q.ID, "2"); code != 1 || !strings.Contains(late, "on its screen") {
		t.Errorf("whoever is late has exit %d and is told %q", code, late)
	}
	call := w.asksHere("touch made.txt")
	s.sees("touch")
	s.presses("\x1b", "the screen's refusal is taken", w.isClosed(call.ID))
	if shown := w.becomesOf(call.ID); !strings.Contains(shown, "on its screen") {
		t.Errorf("it is shown as\n%s", shown)
	}
	if w.exists("made.txt") || !w.API.Received(`"Which database?"="PostgreSQL"`) {
		t.Error("the screen's answer did not count")
	}
}

// A screen and a person here answer within a few milliseconds of each other: one answer counts, the model has that, and
// here it is shown as what became of the question.
func TestAScreenAndAnAnswerAtOnceAreOneAnswer(t *testing.T) {
	t.Parallel()
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	scenario := "\nname: rounds\nabout: asks often\nprompt: none\nturns:\n  - when: \"## BEGIN\"\n    replies:\n"
	for i := range rounds {
		scenario += fmt.Sprintf("      - tools: [{name: AskUserQuestion, input: {questions: [{question: \"Round %d?\", header: R, "+
			"multiSelect: false, options: [{label: Here, description: h}, {label: There, description: t}]}]}}]\n", i)
	}
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(scenario + "      - {text: \"All is done.\"}\nexpect: {status: succeeded}\n")
	took := map[string]int{}
	for i := range rounds {
		q := w.asksHere(fmt.Sprintf("Round %d?", i))
		time.Sleep(time.Second / 2) // for which the dialog takes no key
		answer := w.Command("answer", q.ID, "Here")
		noError(t, answer.Start())
		time.Sleep(time.Duration(rand.IntN(80)) * time.Millisecond) // about what it takes to say it
		s.types("2")
		_ = answer.Wait() // whoever is late is told so, if the screen has answered by then
		counts := ""
		waitUntil(t, "the model has an answer", func() bool {
			for _, label := range []string{"Here", "There"} {
				if w.API.Received(fmt.Sprintf(`"Round %d?"="%s"`, i, label)) {
					counts += label
				}
			}
			return counts != ""
		})
		took[counts]++
		if counts == "Here" {
			s.types("\x7f") // the key came to the prompt, where it would keep the next dialog from taking any
		}
		became, is := map[string]string{"Here": "State: delivered", "There": "State: withdrawn"}[counts]
		if !is {
			t.Fatalf("round %d: the model has the answers %s", i, counts)
		}
		waitUntil(t, "it is shown as answered "+counts, func() bool { return strings.Contains(w.must("show", q.ID), became) })
	}
	t.Logf("answered were %v", took)
	if !testing.Short() && len(took) < 2 {
		t.Error("one of them is always the first")
	}
}

// exists reports whether there is a file of this name in the folder.
func (w *world) exists(name string) bool {
	_, err := os.Stat(filepath.Join(w.Cwd, name))
	return err == nil
}

// A session that is killed leaves its question, and no process.
func TestASessionThatIsKilledLeavesItsQuestion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(asksADatabase)
	q := w.asksHere("Which database?")
	s.sees("PostgreSQL")
	waitUntil(t, "the transcript has the call", func() bool { return strings.Contains(w.askFile(q.ID), `"call"`) })
	noError(t, s.cmd.Process.Signal(syscall.SIGKILL))
	waitUntil(t, "it has ended", func() bool {
		return strings.Contains(w.must("show", q.ID), "State: open (its session ended while it asked; ")
	})
	waitUntil(t, "no process is left", func() bool { return len(machine.With(machine.InHome(w.Home))) == 0 })
	if now := w.asksHere("Which database?"); now.ID != q.ID || now.Session.PID != 0 {
		t.Errorf("it is %+v", now)
	}
	left := w.askFile(q.ID)
	_, said, also := w.run("answer", q.ID, "2", "--resume")
	run := w.ps()
	if said += also; !strings.Contains(said, run.ID) || !strings.Contains(said, "claude --resume "+q.Session.ID) {
		t.Errorf("whoever answers is told %s", said)
	}
	// Killed before it was put away, its question is the run's alone all the same.
	noError(t, os.WriteFile(filepath.Join(w.Dirs.State, "sessions", q.ID+".json"), []byte(left), 0o600))
	if open := w.must("questions"); !strings.Contains(open, "No question is open") {
		t.Errorf("open are\n%s", open)
	}
	w.must("wait", "--question", run.ID) // the call that follows is not made unasked
	call := w.questions()[0]
	if !strings.Contains(call.Question, "touch made.txt") {
		t.Errorf("it asks %+v", call)
	}
	w.must("answer", call.ID, "allow")
	w.run("wait", run.ID)
	if now := w.ps(); now.Status != "succeeded" && now.Status != "unreported" || !w.exists("made.txt") {
		t.Errorf("the run is %+v", now)
	}
	has := "A1: SQLite"
	if procs.ReleaseOf(procs.InstalledRelease(claude.Program(t))).AnswersInPlace {
		has = `"Which database?"="SQLite"`
	}
	if !w.API.Received(has) {
		t.Error("the model does not have the answer by", has)
	}
	// And opened on a terminal it is one conversation.
	cmd := exec.Command(claude.Program(t), "--resume", q.Session.ID)
	cmd.Dir, cmd.Env = w.Cwd, w.Env
	again := w.seat(cmd, nil)
	again.sees("All.is.done|All is done|done")
}

// What a session that was killed has asked leave for is allowed in the run that takes it up, once, for that very call.
func TestACallThatASessionAskedForIsAllowedInItsRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(strings.Replace(asksADatabase, "expect:", `  - when: "The person allows it"
    replies:
      - tools:
          - {name: Bash, input: {command: "touch made.txt && echo made", description: make it}}
          - {name: Bash, input: {command: touch more.txt, description: more}}
      - text: "All is made."
expect:`, 1))
	w.must("answer", w.asksHere("Which database?").ID, "2")
	call := w.asksHere("touch made.txt")
	waitUntil(t, "the transcript has the call", func() bool { return strings.Contains(w.askFile(call.ID), `"call"`) })
	noError(t, s.cmd.Process.Signal(syscall.SIGKILL))
	waitUntil(t, "it has ended", func() bool { return strings.Contains(w.must("show", call.ID), "ended while it asked") })
	if code, _, said := w.run("answer", call.ID, "allow-run"); code != 2 || !strings.Contains(said, `1 for "allow" or 2 for "deny"`) {
		t.Errorf("for good it exits %d and says %s", code, said)
	}
	w.must("answer", call.ID, "allow", "--resume")
	run := w.ps()
	w.must("wait", "--question", run.ID)
	if asked := w.questions(); !strings.Contains(asked[0].Question, "touch more.txt") || !w.exists("made.txt") {
		t.Errorf("it asks %+v", asked)
	}
	w.must("answer", w.questions()[0].ID, "deny")
	w.run("wait", run.ID)
	if w.exists("more.txt") {
		t.Error("what was denied was made")
	}
}

// askFile is what is kept of what a session asks.
func (w *world) askFile(id string) string {
	text, _ := os.ReadFile(filepath.Join(w.Dirs.State, "sessions", id+".json"))
	return string(text)
}

// An agent that leaves a loop behind that answers whatever its session asks: without its environment, its parents, its
// session and its terminal, in a tmux of its own, and before it asked for the first time. The same words of a person
// count.
func TestNoAgentAnswersForItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	var settings map[string]any
	text, err := os.ReadFile(filepath.Join(w.Home, ".claude", "settings.json"))
	noError(t, err)
	noError(t, json.Unmarshal(text, &settings))
	settings["permissions"] = map[string]any{"allow": []string{"Bash(sh:*)"}}
	text, err = json.Marshal(settings)
	noError(t, err)
	w.personSettings(string(text))
	env := "PATH=" + filepath.Dir(w.Program) + ":/usr/bin:/bin HOME=" + w.Home
	for _, e := range w.Env {
		if strings.HasPrefix(e, "XDG_RUNTIME_DIR=") {
			env += " " + e
		}
	}
	w.writes("loop.sh", `for i in $(seq 2000); do
  for f in `+w.Dirs.State+`/sessions/q-*.json; do
    q=$(basename "$f" .json); [ "$q" = "q-*" ] && continue
    claude-supervise answer "$q" 2 >>"$1" 2>&1; echo "exit $?" >>"$1"
  done
  [ $(grep -c exit "$1" 2>/dev/null || echo 0) -ge 3 ] && exit
  sleep 0.05
done`)
	// It speaks to the hook itself, once without waiting for what it says: who is gone cannot be looked at.
	w.writes("raw.sh", `say='my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit; $s->autoflush(1);
  print $s "{\"question\":\"$ARGV[1]\",\"answer\":\"SQLite\",\"by\":\"you\"}\n"; exit if $ARGV[2]; print scalar <$s>;'
for i in $(seq 2000); do
  for f in `+w.Dirs.State+`/sessions/q-*.json; do
    q=$(basename "$f" .json); [ "$q" = "q-*" ] && continue
    socket=$(sed 's/.*"socket":"\([^"]*\)".*/\1/' "$f")
    perl -MIO::Socket::UNIX -e "$say" "$socket" "$q" gone
    perl -MIO::Socket::UNIX -e "$say" "$socket" "$q" >>raw.log; echo exit >>raw.log
  done
  [ $(grep -c exit raw.log 2>/dev/null || echo 0) -ge 3 ] && exit
  sleep 0.05
done`)
	// It has found the page's token: first it is gone before it can be looked at, then it reads what it is told.
	page := w.serve()
	w.writes("page.sh", `say='my $s = IO::Socket::INET->new(PeerAddr => $ARGV[0]) or exit; $s->autoflush(1);
  print $s "POST /api/questions/$ARGV[1]/answer HTTP/1.1\r\nHost: $ARGV[0]\r\nAuthorization: Bearer $ARGV[2]\r\n",
    "Content-Type: application/json\r\nConnection: close\r\nContent-Length: 13\r\n\r\n{\"value\":\"2\"}"; exit if $ARGV[3]; print while <$s>;'
for i in $(seq 2000); do
  for f in `+w.Dirs.State+`/sessions/q-*.json; do
    q=$(basename "$f" .json); [ "$q" = "q-*" ] && continue
    [ "$2" ] || perl -MIO::Socket::INET -e "$say" `+strings.TrimPrefix(page.address, "http://")+` "$q" `+page.token+` gone
    perl -MIO::Socket::INET -e "$say" `+strings.TrimPrefix(page.address, "http://")+` "$q" `+page.token+` >>"$1"; echo exit >>"$1"
  done
  [ $(grep -c exit "$1" 2>/dev/null || echo 0) -ge ${2:-3} ] && exit
  sleep 0.05
done`)
	attacks := map[string]string{
		"page":    "(setsid env -i %s sh -c '(setsid sh ./page.sh page.log </dev/null >/dev/null 2>&1 &)' &)",
		"raw":     "(setsid env -i %s sh -c '(setsid sh ./raw.sh </dev/null >/dev/null 2>&1 &)' &)",
		"child":   "%s sh ./loop.sh child.log </dev/null >/dev/null 2>&1 &",
		"naked":   "(setsid env -i %s sh -c '(setsid sh ./loop.sh naked.log </dev/null >/dev/null 2>&1 &)' &)",
		"screen":  "(setsid env -i %s TERM=xterm script -qfc 'sh ./loop.sh screen.log' /dev/null </dev/null >/dev/null 2>&1 &)",
		"limited": "(ulimit -R 1000000000; setsid env -i %s sh -c '(setsid sh ./loop.sh limited.log </dev/null >/dev/null 2>&1 &)' &)",
	}
	script := "cd " + w.Cwd + "\n"
	for _, a := range attacks {
		script += fmt.Sprintf(a, env) + "\n"
	}
	w.writes("attack.sh", script)
	s := w.opens(strings.Replace(asksADatabase, "    replies:\n", "    replies:\n"+
		"      - tools: [{name: Bash, input: {command: sh ./attack.sh, description: begin}}]\n", 1))
	q := w.asksHere("Which database?")
	s.sees("PostgreSQL")
	for name := range attacks {
		log := ""
		waitUntil(t, name+" has tried three times", func() bool {
			text, _ := os.ReadFile(filepath.Join(w.Cwd, name+".log"))
			log = string(text)
			return strings.Count(log, "exit") >= 3
		})
		refused := "an agent does not answer for a session"
		if name == "raw" {
			refused = `"agent":"it descends from a claude`
		}
		if strings.Contains(log, "exit 0") || strings.Contains(log, `"ok":true`) ||
			strings.Contains(log, "200 OK") || !strings.Contains(log, refused) {
			t.Errorf("%s is told\n%s", name, log)
		}
	}
	if now := w.asksHere("Which database?"); now.ID != q.ID || w.API.Received(`"Which database?"=`) {
		t.Errorf("the question is %+v", now)
	}
	person := func(script, more, taken string) {
		control := exec.Command("sh", "-c", "env "+env+" sh ./"+script+".sh "+script+"-control.log "+more)
		control.Dir = w.Cwd
		noError(t, control.Run())
		if log := w.reads(script + "-control.log"); !strings.Contains(log, taken) {
			t.Errorf("the person is told\n%s", log)
		}
	}
	person("page", "1", "200 OK") // once, or the next question is answered, too
	s.sees("SQLite")
	w.asksHere("touch made.txt")
	person("loop", "", "exit 0")
	s.sees("All.is.done|All is done|done")
}

// An ordinary claude in a terminal asks, the phone rings, a button is pressed there, and it goes on.
func TestASessionIsAnsweredByAButtonOnThePhone(t *testing.T) {
	t.Parallel()
	w, n := newWorld(t), newNtfyServer(t)
	page := w.serve("--listen", "127.0.0.1:0")
	w.withPhone(n, page.address, "")
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(asksADatabase)
	asked := n.next(t)
	q := w.asksHere("Which database?")
	if asked.SequenceID != q.ID || !strings.Contains(asked.Message, "Which database?") ||
		!strings.Contains(asked.Message, "a session on pts/") || len(asked.Actions) != 2 {
		t.Fatalf("published is %+v", asked)
	}
	s.sees("PostgreSQL") // the screen asks, too
	if status, text := asked.Actions[1].press(t, nil); status != 200 {
		t.Fatalf("the button gets %d %s", status, text)
	}
	s.sees("SQLite")
	closed := n.next(t)
	if closed.SequenceID != q.ID || !strings.Contains(closed.Message, "SQLite") || len(closed.Actions) != 0 {
		t.Errorf("it is taken back by %+v", closed)
	}
	call := n.next(t) // to permit something takes a word of the person's config
	if len(call.Actions) != 1 || call.Actions[0].Label != "Deny" || !strings.Contains(call.Message, "touch made.txt") {
		t.Fatalf("the call is told by %+v", call)
	}
	s.sees("touch")
	s.presses("\r", "the screen's answer is taken", func() bool { return w.exists("made.txt") })
	if closed = n.next(t); closed.SequenceID != call.SequenceID || !strings.Contains(closed.Message, "on its screen") {
		t.Errorf("it is taken back by %+v", closed)
	}
	if status, text := call.Actions[0].press(t, nil); status != 410 {
		t.Errorf("who is late gets %d %s", status, text)
	}
	s.sees("All.is.done|All is done|done")
	if !w.API.Received(`"Which database?"="SQLite"`) || !w.exists("made.txt") {
		t.Error("the answers did not count")
	}
	waitUntil(t, "nobody tells any more", func() bool { return len(telling(w.Home)) == 0 })
}

// telling are the processes that tell what sessions ask.
func telling(home string) (all []int) {
	for _, pid := range machine.With(machine.InHome(home)) {
		if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), "\x00tell\x00q-") {
			all = append(all, pid)
		}
	}
	return all
}

// Settings that keep claude from calling hooks are named, and what to do: whoever made them. The screen asks alone.
func TestSettingsThatForbidTheHooksOfSessionsAreNamed(t *testing.T) {
	t.Parallel()
	const none = `{"disableAllHooks":true}`
	for says, c := range map[string]struct{ own, project, administrator string }{
		"disableAllHooks in %s/.claude/settings.json keeps claude from calling the hooks":                  {own: none},
		"disableAllHooks in %s/.claude/settings.local.json keeps claude from calling the hooks":            {project: none},
		"disableAllHooks in /etc/claude-code/managed-settings.json keeps claude from calling the hooks":    {administrator: none},
		"ask your administrator to add those hooks to that file; `init --sessions --dry-run` shows them\n": {administrator: `{"allowManagedHooksOnly":true}`},
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.personSettings(cmp.Or(c.own, "{}"))
			program, says := claude.Program(t), strings.ReplaceAll(says, "%s", w.Home)
			if c.project != "" {
				w.put(filepath.Join(w.Cwd, ".claude", "settings.local.json"), c.project)
				says = strings.ReplaceAll(says, w.Home, w.Cwd)
			}
			if c.administrator != "" {
				ours := w.Program
				w.Program = program
				w.administered("managed-settings.json", c.administrator)
				program, w.Program = w.Program, ours
				w.administered("managed-settings.json", c.administrator)
			}
			if said := w.must("init", "--sessions", "--yes"); !strings.Contains(said, says) {
				t.Errorf("init says\n%s", said)
			}
			if _, said, _ := w.run("doctor", "--claude", claude.Program(t)); !strings.Contains(said, says) {
				t.Errorf("doctor says\n%s", said)
			}
			s := w.opensAs(program, asksADatabase)
			s.sees("PostgreSQL")
			s.presses("\r", "the screen's answer is taken", func() bool { return w.API.Received(`"Which database?"="PostgreSQL"`) })
			s.sees("touch")
			if asked, _ := os.ReadDir(outside.Folder(w.Dirs)); len(asked) > 0 {
				t.Errorf("it asks here all the same: %v", asked)
			}
		})
	}
}

// What an MCP server asks in a session is asked here for some seconds, and then on the screen, which shows nothing
// meanwhile.
func TestWhatAServerAsksInASessionIsAskedHereFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+claude.Program(t))
	w.must("init", "--sessions", "--user", "--yes")
	doc, err := json.Marshal(shop{Revision: "2026-07-28", Forms: 1, Folder: w.Cwd})
	noError(t, err)
	doc, err = json.Marshal(object{"mcpServers": object{"shop": object{"command": os.Args[0], "env": object{shopVariable: string(doc)}}}})
	noError(t, err)
	s := w.opens(`
name: shop
about: orders twice
prompt: none
turns:
  - when: "## BEGIN"
    replies:
      - tools: [{name: mcp__shop__order, input: {}}]
      - tools: [{name: mcp__shop__order, input: {}}]
      - text: "All is done."
expect: {status: succeeded}
`, "--allowedTools=mcp__shop", "--mcp-config="+string(doc))
	q := w.asksHere("Size")
	if q.Kind != "elicitation" || q.Header != "shop" || q.Session.Tool != "shop" {
		t.Errorf("it asks %+v", q)
	}
	if code, _, said := w.run("answer", q.ID, "XXL"); code == 0 || !strings.Contains(said, "S") {
		t.Errorf("what its form does not take: exit %d, %s", code, said)
	}
	w.must("answer", q.ID, "M")
	waitUntil(t, "the server has it", func() bool { return w.told() == sizeM })
	again := w.asksHere("Size")
	if shown := w.becomesOf(again.ID); !strings.Contains(shown, "its screen decides") {
		t.Errorf("it is shown as\n%s", shown)
	}
	s.sees("Size")
	// Nobody chose.
	s.presses("\x1b", "the server is told by the screen", func() bool { return strings.Contains(w.told(), `"cancel"`) })
	s.sees("All.is.done|All is done|done")
	if shown := w.must("show", q.ID); !strings.Contains(shown, "State: delivered") {
		t.Errorf("it is shown as\n%s", shown)
	}
}

const hasASubagent = `
name: subagent
about: a subagent runs two commands
prompt: none
turns:
  - when: "## BEGIN"
    replies:
      - tools: [{name: Agent, input: {description: make both, subagent_type: general-purpose, prompt: "## PART"}}]
      - text: "The turn is over."
  - when: "## PART"
    replies:
      - tools: [{name: Bash, input: {command: touch one.txt, description: make one}}]
      - tools: [{name: Bash, input: {command: touch two.txt, description: make two}}]
      - text: "The part is done."
  - when: "<task-notification>"
    replies: [{text: "All is done."}]
expect: {status: succeeded}
`

// While a subagent in the background asks here its screen shows nothing; so that is for some seconds, and then the
// screen decides.
func TestASubagentOfASessionAsksHereFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	s := w.opens(hasASubagent)
	q := w.asksHere("touch one.txt")
	if q.Asker == nil || q.Asker.Type != "general-purpose" {
		t.Errorf("it is asked by %+v", q.Asker)
	}
	w.must("answer", q.ID, "allow")
	again := w.asksHere("touch two.txt")
	if !w.exists("one.txt") {
		t.Error("what was allowed here was not done")
	}
	if shown := w.becomesOf(again.ID); !strings.Contains(shown, "its screen decides") {
		t.Errorf("it is shown as\n%s", shown)
	}
	s.sees("touch.*two")
	s.presses("\r", "the screen's answer is taken", func() bool { return w.exists("two.txt") })
	s.sees("All.is.done|All is done|done")
}

// One that the main conversation waits for has its dialog meanwhile, and whoever answers first decides.
func TestASubagentInFrontIsAnsweredHereOrOnItsScreen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	w.Env = append(w.Env, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1")
	s := w.opens(hasASubagent)
	q := w.asksHere("touch one.txt")
	s.sees("touch.*one")
	s.presses("\r", "the screen's answer is taken", func() bool { return w.exists("one.txt") })
	if shown := w.becomesOf(q.ID); !strings.Contains(shown, "on its screen") {
		t.Errorf("it is shown as\n%s", shown)
	}
	q = w.asksHere("touch two.txt")
	s.sees("touch.*two")
	w.must("answer", q.ID, "allow")
	s.sees("The.turn.is.over|over")
	if !w.exists("two.txt") {
		t.Error("what was allowed here was not done")
	}
}

// A session of claude's own daemon has a screen that nobody may see. It asks here as others do, and goes on in a run
// once it was killed; the daemon does not begin it again.
func TestASessionInTheBackgroundIsAnsweredHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	cmd := w.ordinary(claude.Program(t), asksADatabase, "--bg", "--permission-mode", "manual", "## BEGIN")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	q := w.asksHere("Which database?")
	if q.Session.PID == 0 || !strings.HasPrefix(q.Session.Screen, "pts/") {
		t.Errorf("it is of %+v", q.Session)
	}
	w.must("answer", q.ID, "2")
	call := w.asksHere("touch made.txt")
	if !w.API.Received(`"Which database?"="SQLite"`) {
		t.Error("the model has another answer")
	}
	waitUntil(t, "the transcript has the call", func() bool { return strings.Contains(w.askFile(call.ID), `"call"`) })
	noError(t, syscall.Kill(call.Session.PID, syscall.SIGKILL))
	waitUntil(t, "it has ended", func() bool { return strings.Contains(w.must("show", call.ID), "ended while it asked") })
	w.must("answer", call.ID, "allow", "--resume")
	w.run("wait", w.ps().ID)
	if now := w.ps(); now.Status != "succeeded" && now.Status != "unreported" || !w.exists("made.txt") {
		t.Errorf("the run is %+v", now)
	}
}

// A program that runs claude, as an editor or the Agent SDK does, asks its own person too; the first answer counts, and
// the other side is told.
func TestASessionOfAnotherProgramIsAnsweredHereOrThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("init", "--sessions", "--user", "--yes")
	w.Env = append(w.Env, "CLAUDE_CODE_ENTRYPOINT=claude-vscode")
	cmd := w.ordinary(claude.Program(t), asksADatabase, "-p", "--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose", "--permission-prompt-tool", "stdio", "--permission-mode", "default")
	in, err := cmd.StdinPipe()
	noError(t, err)
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	fmt.Fprintln(in, `{"type":"user","message":{"role":"user","content":"## BEGIN"}}`)
	type line struct {
		Type, Subtype string
		ID            string `json:"request_id"`
		Request       struct {
			Subtype string
			Tool    string `json:"tool_name"`
			Input   json.RawMessage
		}
	}
	lines := json.NewDecoder(out)
	until := func(what string, is func(line) bool) (l line) {
		t.Helper()
		for !is(l) {
			l = line{}
			if err := lines.Decode(&l); err != nil {
				t.Fatalf("%s does not come: %v", what, err)
			}
		}
		return l
	}
	asks := until("its question", func(l line) bool { return l.Request.Subtype == "can_use_tool" })
	q := w.asksHere("Which database?")
	if q.Session.Screen != "" || q.Session.PID != cmd.Process.Pid || q.RunName != "a session of claude-vscode" {
		t.Errorf("it is %s, %+v", q.RunName, q.Session)
	}
	w.must("answer", q.ID, "2")
	until("that it is answered", func(l line) bool { return l.Type == "control_cancel_request" && l.ID == asks.ID })
	asks = until("its call", func(l line) bool { return l.Request.Subtype == "can_use_tool" })
	call := w.asksHere("touch made.txt")
	fmt.Fprintf(in, `{"type":"control_response","response":{"subtype":"success","request_id":%q,"response":`+
		`{"behavior":"allow","updatedInput":%s}}}`+"\n", asks.ID, asks.Request.Input)
	if shown := w.becomesOf(call.ID); !strings.Contains(shown, "on its screen") || !w.exists("made.txt") {
		t.Errorf("it is shown as\n%s", shown)
	}
	until("the end", func(l line) bool { return l.Type == "result" })
	if !w.API.Received(`"Which database?"="SQLite"`) {
		t.Error("the answer did not count")
	}
}

// A claude that has neither a screen nor a program to ask waits here for as long as it takes; for an address that a
// server wants opened, too.
func TestASessionWithoutAScreenWaitsHere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Env = append(w.Env, "CLAUDE_SUPERVISE_CLAUDE="+claude.Program(t))
	w.must("init", "--sessions", "--user", "--yes")
	cmd := w.ordinary(claude.Program(t), strings.Replace(asksADatabase, "    replies:\n",
		"    replies:\n      - tools: [{name: mcp__shop__order, input: {}}]\n", 1),
		append(load(t, "elicitation-url").ClaudeFlags, "-p", "## BEGIN")...)
	noError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	q := w.asksHere("Open the address")
	if !strings.Contains(q.Context, "https://pay.example/in?order=7") || q.Session.Screen != "" {
		t.Errorf("it asks %+v", q)
	}
	w.must("answer", q.ID, "Opened")
	w.must("answer", w.asksHere("touch made.txt").ID, "allow") // AskUserQuestion it does not have
	noError(t, cmd.Wait())
	if w.reads("order.txt") != "paid\n" || !w.exists("made.txt") {
		t.Error("the answers did not count")
	}
}
