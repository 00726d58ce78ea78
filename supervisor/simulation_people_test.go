package supervisor

import (
	"encoding/json"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
)

// nature is how this world is, apart from what happens in it.
type nature struct {
	config  Config
	policy  OnQuestion
	script  int    // requests in which the model does something else than to finish
	hooks   bool   // the release has a Stop hook
	reports bool   // the model reports when it is done
	version string // the release
	refuses string // a flag that the release does not know
	missing int    // how often the program is not there
	foreign int    // how often it is another program
	revives int    // how often the person revives what has failed
	treeNature
}

func newNature(w *simulation) nature {
	n := nature{
		policy: pick(w, Ask, Ask, Park, Park, Fail), script: w.rng.IntN(12), hooks: !w.one(5), reports: !w.one(4),
		revives: w.rng.IntN(3), version: pick(w, "2.1.329", "2.1.329", "2.1.7"),
		config: Config{
			Hold: pick(w, 0, 30*time.Second, DefaultHold, Forever), MaxHeld: pick(w, -1, -1, 0, 1),
			Relaunch: pick(w, Resume, Resume, Fresh), Retries: w.rng.IntN(4),
			SilentAfter: pick(w, 0, time.Minute), OnSilence: pick(w, "", RetrySilence, FailSilence),
		},
	}
	if w.one(4) {
		n.config.Notify = []string{"notify-send"}
	}
	if w.one(5) {
		n.config.Exec, n.hooks = []string{"/bin/agent"}, false
	}
	if n.policy == Fail && !w.one(3) {
		n.policy = Ask // a run that fails at its first question shows little
	}
	for range w.rng.IntN(3) {
		n.config.Answers = append(n.config.Answers, pick(w,
			Preset{Key: "Which of T1", Value: "given in advance"}, Preset{Key: "Write", Value: allow},
			Preset{Key: "Choice", Value: "the first"}, Preset{Key: "missing_info", Value: giveUp}))
	}
	chance := w.rng.IntN(20)
	if len(n.config.Exec) > 0 {
		chance = max(chance, 2) // a command has no flags, and is never the wrong program
		if chance == 3 {
			chance++
		}
	}
	n.grow(w)
	n.bound(w)
	switch chance {
	case 0:
		n.refuses = "--replay-user-messages"
	case 1:
		n.refuses = "--verbose"
	case 2:
		n.missing = pick(w, 1, 1, 1000) // for good
	case 3:
		n.foreign = 1
	}
	return n
}

func (n *nature) absent() bool { return n.takes(&n.missing) }

func (n *nature) takes(times *int) bool {
	if *times == 0 {
		return false
	}
	*times--
	return true
}

// begin starts the run.
func (w *simulation) begin() { w.supervise(State{}, Opened{Policy: w.nature.policy}) }

// resume takes it over, as Client.Resumable allows.
func (w *simulation) resume(policy OnQuestion, revive bool) bool {
	if w.engine != nil || w.disk.kept.Run == nil || w.disk.kept.Run.Packed != "" {
		return false
	}
	if a := w.root(); w.disk.kept.Run.EndedAt != nil && !Revivable(a) {
		return false
	}
	w.tell("PERSON resumes the run, policy %s, revive %v", policy, revive)
	w.supervise(w.disk.load(), Opened{Policy: policy, Revive: revive})
	return true
}

func (w *simulation) root() *Agent { return w.disk.kept.Agents[root] }

// crash is the end of the supervisor without a word: its terminal and pipes go with it.
func (w *simulation) crash() {
	w.tell("     the supervisor is killed")
	w.engine = nil
	for _, p := range w.processes {
		p.out, p.alone, p.eof = nil, true, true
	}
}

// pack ends what is left of a run that nobody supervises, and marks it, as Client.Pack does; false if it cannot be packed.
func (w *simulation) pack() bool {
	r := w.disk.kept.Run
	if w.engine != nil || r == nil || r.Packed != "" || r.EndedAt != nil && !Revivable(w.root()) {
		return false
	}
	for _, p := range w.processes {
		p.killed()
	}
	w.aside(Packed{File: "/tmp/run.pack"})
	return true
}

// unpack lets a packed run go on, where it was or elsewhere; false if it is not packed.
func (w *simulation) unpack() bool {
	r := w.disk.kept.Run
	if r == nil || r.Packed == "" {
		return false
	}
	cwd := pick(w, r.Cwd, r.Cwd+"/there")
	var cfg Config
	if err := json.Unmarshal(r.Config, &cfg); err != nil {
		panic(err)
	}
	w.aside(Unpacked{From: r.Cwd, Cwd: cwd, Same: w.one(2), Work: w.one(2), Config: cfg})
	return true
}

// aside saves an event of a run that nobody supervises, unless something lies in its inbox.
func (w *simulation) aside(b Body) {
	before, e := w.disk.load(), Event{At: w.wall, Body: b}
	after, err := w.step(before, e)
	w.must("a run can be packed and unpacked", err == nil, "%v", err)
	change := changes(before, after)
	change.Event, err = e.record(after.Run.ID, int64(len(w.disk.events)+1))
	w.must("every event can be written", err == nil, "%v", err)
	change.CheckInbox, change.IfInboxAt = true, before.Taken
	if w.disk.commit(change) == nil {
		w.stepped(before, after, e)
	}
}

// leave is the end of a supervisor that goes on purpose.
func (w *simulation) leave() {
	w.tell("     the supervisor leaves")
	w.engine = nil
}

// mayDie is a moment within the engine's work at which the supervisor can be killed.
func (w *simulation) mayDie() {
	if w.disturb > 0 && w.one(120) && w.drawn() {
		panic(supervisorDies{})
	}
}

// drawn counts a disturbance, and tells whether it happens.
func (w *simulation) drawn() bool {
	w.nth++
	w.disturb--
	return !w.dropped[w.nth]
}

// disturbance lets somebody interfere.
func (w *simulation) disturbance() {
	d := disturbances[w.rng.IntN(len(disturbances))]
	if !w.drawn() {
		return
	}
	w.quiet = 0
	w.tell("DISTURBANCE %d: %s", w.nth, d.name)
	w.reached.disturbances[d.name]++
	w.do(move{name: "     somebody interferes", do: func() { d.do(w) }})
}

// disturbances is all that others do to a run. Those that are not possible just then do nothing.
var disturbances = []struct {
	name string
	do   func(*simulation)
}{
	{"a person answers", func(w *simulation) { w.answer() }},
	{"a person answers", func(w *simulation) { w.answer() }},
	{"a person changes an answer", (*simulation).change},
	{"a second person answers", (*simulation).answerLate},
	{"a person stops an agent", (*simulation).stops},
	{"a person says something", (*simulation).says},
	{"a person writes an answer file", (*simulation).dropsAnswer},
	{"ctrl-C", (*simulation).interrupt},
	{"the supervisor is killed", func(w *simulation) {
		if w.engine != nil {
			w.crash()
		}
	}},
	{"the supervisor is killed", func(w *simulation) {
		if w.engine != nil {
			w.crash()
		}
	}},
	{"a process is killed", (*simulation).kill},
	{"a process is killed", (*simulation).kill},
	{"a process hangs", func(w *simulation) {
		if p := w.process(); p != nil {
			p.hangs = true
		}
	}},
	{"a process ends by itself", func(w *simulation) {
		if p := w.process(); p != nil {
			p.exits(procs.Exit{Code: pick(w, 0, 1, 3), Spoke: p.begun})
		}
	}},
	{"a request to the API fails", func(w *simulation) {
		if p := w.process(); p != nil && !p.raw {
			p.fails = &procs.Result{Subtype: "success", IsError: true, APIStatus: 529, Text: "API Error: 529 Overloaded"}
		}
	}},
	{"the account is at its end", func(w *simulation) {
		if p := w.process(); p != nil && !p.raw {
			p.fails = pick(w,
				&procs.Result{Subtype: "success", IsError: true, APIStatus: 401, Text: "Invalid API key"},
				&procs.Result{Subtype: "success", IsError: true, APIStatus: 429, Text: "You've hit your limit · resets 3am"},
				&procs.Result{Subtype: "error_max_budget_usd", IsError: true})
		}
	}},
	{"a call is withdrawn", func(w *simulation) {
		if p := w.process(); p != nil && len(p.calls) > 0 {
			c := p.calls[0]
			p.calls = slices.Clone(p.calls[1:])
			p.say(procs.AskCancelled{Request: c.request})
			p.keep(talkEntry{sub: c.from != nil, call: c.toolUse, said: unanswered(c)})
		}
	}},
	{"the conversation is deleted", func(w *simulation) {
		if w.disk.kept.Run == nil {
			return
		}
		if a := w.anAgent(); w.alive(a.ID) == 0 {
			delete(w.talks, a.SessionID)
		}
	}},
	{"the clock jumps", func(w *simulation) {
		w.wall = w.wall.Add(pick(w, -26*time.Hour, -time.Minute, time.Second, time.Hour, 400*24*time.Hour))
	}},
	{"the machine sleeps", func(w *simulation) { w.wall = w.wall.Add(pick(w, time.Minute, 9*time.Hour)) }},
	{"the machine is short of memory", (*simulation).isPressed},
	{"the run is packed", func(w *simulation) { w.pack() }},
	{"the run is unpacked", func(w *simulation) { w.unpack() }},
	{"a person resumes the run", func(w *simulation) { w.resume(pick(w, Ask, Park, Park, Fail), !w.one(3)) }},
}

// process gives a process that lives; nil if none does.
func (w *simulation) process() *simProcess {
	var living []*simProcess
	for _, p := range w.processes {
		if !p.dead {
			living = append(living, p)
		}
	}
	if len(living) == 0 {
		return nil
	}
	return pick(w, living...)
}

func (w *simulation) kill() {
	if p := w.process(); p != nil {
		p.killed()
	}
}

func (w *simulation) interrupt() {
	e := w.engine
	switch {
	case e == nil:
	case e.interrupted:
		for _, p := range w.processes {
			if !p.dead {
				p.killed()
			}
		}
		w.crash()
	default:
		e.interrupted = true
		e.apply(InterruptAsked{By: "a test"})
		e.carryOut()
	}
}

func (w *simulation) ring() {
	if w.engine != nil {
		w.engine.rung = true
	}
}

// answer lets a person answer one of the open questions; false if there is none.
func (w *simulation) answer() bool {
	open := w.disk.questions(func(q *Question) bool {
		_, given := w.truth.given[q.ID]
		return q.State == checkpoints.QuestionOpen && !given
	})
	if len(open) == 0 {
		return false
	}
	q := pick(w, open...)
	n := Note{Question: q.ID, By: "a test", Value: w.id("V")}
	switch {
	case q.Kind == checkpoints.AskPermission && !w.one(3):
		n.Value = allow
	case q.Kind == checkpoints.AskPermission:
		n.Value = deny + " " + n.Value
	case q.Kind == checkpoints.AskBlocker && w.one(4):
		n.Value = giveUp
	case q.Kind == checkpoints.AskDelegation:
		n.Value = w.decides(n.Value)
	case q.Kind == checkpoints.AskBudget:
		n.Value = w.decidesBudget(q)
	case q.Kind == checkpoints.AskBlocker && w.one(5):
		n.Value = delegateIt
	case q.Kind == checkpoints.AskBlocker && w.one(3):
		n.Value = runCommand + ": make " + n.Value
	case q.Kind == checkpoints.AskCommand:
		n.Value = pick(w, runIt, runIt, leaveIt)
	case w.one(6):
		n.Value, n.Skip = "", true
	}
	n.Alike = Sharable(q.Kind) && w.one(3)
	w.gives(noteAnswer, n)
	return true
}

// gives leaves an answer. One that is not refused has been acknowledged.
func (w *simulation) gives(kind string, n Note) {
	err := w.disk.answer(kind, n)
	w.tell("     PERSON leaves %s %q for %s: %v", kind, n.Value, n.Question, err)
	w.must("a client is refused only for a reason", err == nil || slices.Contains(refusals, err), "%v", err)
	if err == nil {
		w.truth.acknowledged(n)
		w.ring()
	}
}

// says leaves a message for an agent that can hear it.
func (w *simulation) says() {
	if r := w.disk.kept.Run; r != nil && r.EndedAt == nil && r.Packed == "" {
		a := w.anAgent()
		if a.Group || a.EndedAt != nil {
			return
		}
		n := Note{Kind: noteMessage, Value: w.id("V"), By: "a test", Agent: a.ID}
		w.disk.leave(n)
		w.truth.said = append(w.truth.said, n)
		w.ring()
	}
}

// change changes an answer that was given, if that is still possible.
func (w *simulation) change() {
	given := w.disk.questions(func(q *Question) bool {
		old, given := w.truth.given[q.ID]
		return given && !old.Skip && old.Value != allow && old.Value != giveUp && q.Kind != checkpoints.AskCommand && q.Kind != checkpoints.AskBudget
	})
	if len(given) > 0 {
		q := pick(w, given...)
		n := Note{Question: q.ID, By: "another test", Value: w.id("V")}
		switch q.Kind {
		case checkpoints.AskPermission:
			n.Value = deny + " " + n.Value
		case checkpoints.AskDelegation:
			n.Value = w.decides(n.Value)
		}
		w.gives(noteChange, n)
	}
}

// answerLate answers what has its answer: the first one wins.
func (w *simulation) answerLate() {
	for _, q := range w.disk.questions(func(q *Question) bool { _, given := w.truth.given[q.ID]; return given }) {
		err := w.disk.answer(noteAnswer, Note{Question: q.ID, Value: w.id("V"), By: "a third test"})
		w.must("the first answer wins", err != nil, "question %s took a second one", q.ID)
	}
}

// person brings a run that rests one step further; false if it has ended.
func (w *simulation) person() bool {
	switch {
	case w.disk.kept.Run == nil:
		w.begin()
		return true
	case w.engine != nil:
		w.must("an acknowledged answer is taken", w.answer(), "what is open has been answered, and the run still waits for it")
		return true
	case w.unpack(), w.one(30) && w.pack():
		return true
	case w.disk.kept.Run.EndedAt != nil:
		return w.revives()
	case w.one(2) && w.answer():
		return true
	}
	return w.resume(pick(w, Ask, Park), false)
}
