package engine

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
)

// nature is how this world is, apart from what happens in it.
type nature struct {
	config  conf.Config
	policy  conf.OnQuestion
	script  int    // requests in which the model does something else than to finish
	inSubs  int    // how much its subagents have done
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
		policy: pick(w, conf.Ask, conf.Ask, conf.Park, conf.Park, conf.Fail),
		script: w.rng.IntN(12), hooks: !w.one(5), reports: !w.one(4),
		revives: w.rng.IntN(3), version: pick(w, "2.1.329", "2.1.329", "2.1.7"),
		config: conf.Config{
			Hold: pick(w, 0, 30*time.Second, conf.DefaultHold, conf.Forever), MaxHeld: pick(w, -1, -1, 0, 1),
			Relaunch: pick(w, conf.Resume, conf.Resume, conf.Fresh), Retries: w.rng.IntN(4),
			SilentAfter: pick(w, 0, time.Minute), OnSilence: pick(w, "", conf.RetrySilence, conf.FailSilence),
		},
	}
	if w.one(4) {
		n.config.Notify = []string{"notify-send"}
	}
	if w.refusing() {
		n.config.Permissions = conf.AskRefused
	}
	if w.planning() { // which approves none
		n.config.Answers = append(n.config.Answers, conf.Preset{Key: "Plan", Value: questions.Approve})
	}
	if w.one(5) {
		n.config.Exec, n.hooks = []string{"/bin/agent"}, false
	}
	if n.policy == conf.Fail && !w.one(3) {
		n.policy = conf.Ask // a run that fails at its first question shows little
	}
	for range w.rng.IntN(3) {
		n.config.Answers = append(n.config.Answers, pick(w,
			conf.Preset{Key: "Which of T1", Value: "given in advance"},
			conf.Preset{Key: "Write", Value: pick(w, supervisor.Allow, supervisor.Deny)},
			conf.Preset{Key: "Choice", Value: "the first"}, conf.Preset{Key: "missing_info", Value: giveUp}))
	}
	chance := w.rng.IntN(20)
	if !n.config.Abilities().TakesFlags {
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
func (w *simulation) begin() {
	w.rooted = false
	w.supervise(func(ctx context.Context, s Supervisor) (supervisor.Outcome, error) {
		t := w.nature.task()
		if w.forking() {
			w.asFork(&t)
		}
		return s.Start(ctx, t, w.nature.policy)
	})
}

// resume takes it over, as Client.Resumable allows.
func (w *simulation) resume(policy conf.OnQuestion, revive bool) bool {
	if w.engine != nil || w.disk.kept.Run == nil || w.disk.kept.Run.Packed != "" {
		return false
	}
	if a := w.root(); w.disk.kept.Run.EndedAt != nil && !a.Revivable() {
		return false
	}
	w.tell("PERSON resumes the run, policy %s, revive %v", policy, revive)
	w.takesOver(ResumeOptions{Policy: policy, Revive: revive})
	return true
}

// takenUp has the run go on at once after its supervisor was killed: while the processes of that live still.
func (w *simulation) takenUp() {
	if w.engine != nil {
		w.crash()
		w.resume(conf.Ask, false)
	}
}

func (w *simulation) takesOver(how ResumeOptions) {
	w.supervise(func(ctx context.Context, s Supervisor) (supervisor.Outcome, error) { return s.Resume(ctx, RunID, how) })
}

func (w *simulation) root() *supervisor.Agent { return w.disk.kept.Agents.Get(Root) }

// pack ends what is left of a run that nobody supervises, and marks it, as Client.Pack does; false if it cannot be
// packed.
func (w *simulation) pack() bool {
	r := w.disk.kept.Run
	if w.engine != nil || r == nil || r.Packed != "" || r.EndedAt != nil && !w.root().Revivable() {
		return false
	}
	for _, p := range w.processes {
		p.killed()
	}
	w.aside(supervisor.Packed{File: "/tmp/run.pack"}, true)
	return true
}

// unpack lets a packed run go on, where it was or elsewhere; false if it is not packed.
func (w *simulation) unpack() bool {
	r := w.disk.kept.Run
	if w.engine != nil || r == nil || r.Packed == "" {
		return false
	}
	cwd := pick(w, r.Cwd, r.Cwd+"/there")
	var cfg conf.Config
	if err := json.Unmarshal(r.Config, &cfg); err != nil {
		panic(err)
	}
	b := supervisor.Unpacked{From: r.Cwd, Cwd: cwd, Same: w.one(2), Work: w.one(2), File: "/tmp/run.pack", Keyed: true}
	b.Config, _ = pack.Harmless(cfg, nil, false)
	before := w.disk.load()
	for _, a := range before.AllAgents() {
		if !w.one(8) {
			b.Conversations = append(b.Conversations, a.SessionID)
		}
	}
	moved, err := w.step(before, supervisor.Happened{At: w.now(), Event: b})
	w.must("a run can be unpacked", err == nil, "%v", err)
	b.Seen = pack.SeenCalls(before,
		func(call *checkpoints.ToolCall, _ string) ask.CallView { return seen(call.Name, call.Input) })
	if !w.aside(b, false) {
		return false
	}
	after := w.disk.load()
	for id := range after.Agents.All() {
		if moved.Agents.Get(id) == nil {
			w.disk.kept.Agents.Delete(id) // what is imported takes the place of all that there was
		}
	}
	after = w.disk.load()
	for id, q := range after.Questions.All() {
		if q.IsOpen() && !before.Questions.Get(id).IsOpen() {
			delete(w.truth.given, id) // it is asked anew
		}
	}
	w.disk.inbox, _ = pack.HeldNotes(w.disk.inbox, after.Taken, after, false)
	w.lease.over = nil
	w.must("nothing that a pack file grants is granted", granted(after) == "", "%s", granted(after))
	return true
}

// aside saves an event of a run that nobody supervises; false if something lies in its inbox, where that matters.
func (w *simulation) aside(b supervisor.Event, alone bool) bool {
	before, e := w.disk.load(), supervisor.Happened{At: w.now(), Event: b}
	after, err := w.step(before, e)
	w.must("a run can be packed and unpacked", err == nil, "%v", err)
	change := records.Changes(before.Records, after.Records)
	change.Event, err = e.Record(after.Run.ID, int64(len(w.disk.events)+1))
	w.must("every event can be written", err == nil, "%v", err)
	change.CheckInbox, change.IfInboxAt = alone, before.Taken
	if w.disk.commit(change) != nil {
		return false
	}
	w.stepped(before, after, e)
	return true
}

// powerFails ends all that runs here, and undoes what the disk need not have kept. The transcripts stay.
func (w *simulation) powerFails() {
	if w.engine != nil {
		w.crash()
	}
	for _, p := range w.processes {
		p.killed()
	}
	w.disk.powerCut()
}

// mayDie is a moment within the engine's work at which the supervisor can be killed.
func (w *simulation) mayDie() {
	if w.disturb > 0 && w.one(120) && w.drawn() {
		w.crash()
		panic(supervisorDied{})
	}
}

// drawn counts a disturbance, and reports whether it happens.
func (w *simulation) drawn() bool {
	w.nth++
	w.disturb--
	return !w.dropped[w.nth]
}

// disturbance lets somebody interfere.
func (w *simulation) disturbance() {
	d := disturbances[w.rng.IntN(len(disturbances))]
	switch {
	case w.snapshots() && w.one(4):
		d = pick(w, leaseDisturbances...)
	case w.seed%16 == 9 && w.one(2): // the seeds of the other worlds stay as they are
		d.name, d.do = "the supervisor is killed, and the run resumed at once", (*simulation).takenUp
	case w.hooked() && w.one(8):
		d.name, d.do = "a hook of the person's own answers", (*simulation).hookAnswers
	}
	if !w.drawn() {
		return
	}
	w.quiet, w.lease.waited = 0, 0
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
	{"the power fails", (*simulation).powerFails},
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
				&procs.Result{Subtype: "success", IsError: true, APIStatus: 429, Text: "You've hit your limit", Resets: w.resets()},
				&procs.Result{Subtype: "error_max_budget_usd", IsError: true})
		}
	}},
	{"a call is withdrawn", func(w *simulation) {
		if p := w.process(); p != nil && len(p.calls) > 0 {
			c := p.calls[0]
			p.calls = slices.Clone(p.calls[1:])
			w.truth.withdrawn[c.request] = true
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
		w.drift += pick(w, -26*time.Hour, -time.Minute, time.Second, time.Hour, 400*24*time.Hour)
	}},
	{"the machine sleeps", func(w *simulation) { w.drift += pick(w, time.Minute, 9*time.Hour) }},
	{"the machine is short of memory", (*simulation).isPressed},
	{"the run is packed", func(w *simulation) { w.pack() }},
	{"the run is unpacked", func(w *simulation) { w.unpack() }},
	{"a person resumes the run", func(w *simulation) {
		w.resume(pick(w, conf.Ask, conf.Park, conf.Park, conf.Fail), !w.one(3))
	}},
}

// process returns a process that lives; nil if none does.
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

func (w *simulation) ring() {
	if w.engine != nil {
		w.engine.rung = true
	}
}

// answer lets a person answer one of the open questions; false if there is none.
func (w *simulation) answer() bool {
	open := w.disk.questions(func(q *supervisor.Question) bool {
		_, given := w.truth.given[q.ID]
		return q.State == checkpoints.QuestionOpen && !given
	})
	if len(open) == 0 {
		return false
	}
	q := pick(w, open...)
	n := supervisor.InboxEntry{Question: q.ID, By: "a test", Value: w.id("V")}
	switch {
	case questions.KindOf(q.Kind).Ruled && !w.one(3):
		n.Value = supervisor.Allow
	case questions.KindOf(q.Kind).Ruled:
		n.Value = supervisor.Deny + " " + n.Value
	case q.Kind == questions.AskPlan && !w.one(3):
		n.Value = questions.Approve
	case q.Kind == questions.AskPlan: // what is to be changed
	case q.Kind == questions.AskBlocker && w.one(4):
		n.Value = giveUp
	case q.Kind == questions.AskDelegation:
		n.Value = w.decides(n.Value)
	case q.Kind == questions.AskBudget:
		n.Value = w.decidesBudget(q)
	case q.Kind == questions.AskOverrun && w.one(2):
		n.Value = pick(w, "reduce: ", "delegate: ", "") + n.Value
	case q.Kind == questions.AskBlocker && w.one(5):
		n.Value = questions.DelegateIt
	case q.Kind == questions.AskBlocker && w.one(3):
		n.Value = questions.RunCommand + ": make " + n.Value
	case q.Kind == questions.AskCommand:
		n.Value = pick(w, questions.RunIt, questions.RunIt, leaveIt)
	case q.Assumed != nil && w.one(2):
		n.Value = q.Assumed.Text
	case w.one(6):
		n.Value, n.Skip = "", true
	}
	n.AllLike = records.Sharable(q.Kind) && w.one(3)
	w.gives(supervisor.EntryAnswer, n)
	return true
}

// gives leaves an answer. One that is not refused has been acknowledged.
func (w *simulation) gives(kind string, n supervisor.InboxEntry) {
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
		n := supervisor.InboxEntry{Kind: supervisor.EntryMessage, Value: w.id("V"), By: "a test", Agent: a.ID}
		w.disk.leave(n)
		w.truth.said = append(w.truth.said, n)
		w.ring()
	}
}

// change changes an answer that was given, if that is still possible.
func (w *simulation) change() {
	given := w.disk.questions(func(q *supervisor.Question) bool {
		old, given := w.truth.given[q.ID]
		return given && !old.Skip && old.Value != supervisor.Allow &&
			old.Value != giveUp && !(q.Kind == questions.AskPlan && old.Value == questions.Approve) && q.Kind != questions.AskCommand &&
			q.Kind != questions.AskBudget && q.Kind != questions.AskOverrun
	})
	if len(given) > 0 {
		q := pick(w, given...)
		n := supervisor.InboxEntry{Question: q.ID, By: "another test", Value: w.id("V")}
		switch q.Kind {
		case questions.AskPermission, questions.AskRefusal:
			n.Value = supervisor.Deny + " " + n.Value
		case questions.AskDelegation:
			n.Value = w.decides(n.Value)
		}
		w.gives(supervisor.EntryChange, n)
	}
}

// answerLate answers what has its answer: the first one wins.
func (w *simulation) answerLate() {
	for _, q := range w.disk.questions(func(q *supervisor.Question) bool {
		_, given := w.truth.given[q.ID]
		return given
	}) {
		err := w.disk.answer(supervisor.EntryAnswer,
			supervisor.InboxEntry{Question: q.ID, Value: w.id("V"), By: "a third test"})
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
		w.must("an acknowledged answer is taken",
			w.answer(), "what is open has been answered, and the run still waits for it")
		return true
	case w.unpack(), w.one(30) && w.pack():
		return true
	case w.disk.kept.Run.EndedAt != nil:
		return w.revives()
	case w.one(2) && w.answer():
		return true
	}
	return w.resume(pick(w, conf.Ask, conf.Park), false)
}
