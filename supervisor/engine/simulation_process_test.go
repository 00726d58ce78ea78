package engine

import (
	"encoding/json"
	"slices"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
)

// A simProcess is one process of the CLI in stream-json mode. What it does of its own accord is in moves; the messages
// that it prints lie in out until somebody reads them.
type simProcess struct {
	w       *simulation
	agent   string
	launch  int
	pid     int
	resume  bool
	fork    string   // the conversation that its own begins with; "": none
	at      []string // the calls at which it is continued
	notAt   string   // why it is not
	without []string
	talk    *talk

	stdin []simInput
	eof   bool
	term  bool // SIGTERM is on its way
	alone bool // nobody reads it, nobody writes to it
	out   []procs.Message

	read    func(procs.Message) // the engine; nil: nobody
	reading bool                // it is at a message
	asking  map[string]bool     // requests that it has heard of, and that wait for an answer

	begun  bool
	dead   bool
	hangs  bool
	doomed bool       // it will be killed soon after it is told something
	queue  []simInput // prompts that wait for their turn
	turn   *simTurn
	calls  []simCall // that wait
	// keys of the calls that the hook before a call asks about
	expected []string
	subs     []*simSub
	raw      bool         // any command, which was started with its prompt
	script   *simScript   // that waits for its answer file
	nested   *simNested   // the run that it has started, and that it waits for
	gate     string       // the hook's request that waits
	tasks    []procs.Task // in the background
	alarms   []string     // wake-ups that are scheduled
	woken    bool         // by one of both: a turn begins by itself
	fails    *procs.Result

	shareUSD float64 // what it may cost
	maxTurns int     // requests that a turn may make
	billed   int     // requests of turns that have ended
}

// A simInput is a line on stdin.
type simInput struct {
	uuid, text string             // a prompt
	results    []procs.CallResult // in the place of its text
	request    string             // the call that reply answers
	reply      json.RawMessage    //
	gate       string             // the hook's request that text answers
	interrupt  bool
}

// A simTurn is a turn under way.
type simTurn struct {
	prompt   string // uuid, "" if it began by itself
	absorbed []string
	said     string
	over     bool // the model has nothing more to say
	requests int
	reported bool
}

// A simCall is a control request that waits.
type simCall struct {
	request, toolUse, name string
	input                  json.RawMessage
	served                 bool            // of a tool of ours
	from                   *procs.Subagent // nil: the main conversation
}

// exec starts the process of a launch.
func (w *simulation) exec(s supervisor.State, a *supervisor.Agent, l *supervisor.Launch) *simProcess {
	t := w.talks[a.SessionID]
	if t == nil {
		t = &talk{agent: a.ID, session: a.SessionID}
		w.talks[a.SessionID] = t
	}
	w.ids++
	p := &simProcess{
		w: w, agent: a.ID, launch: l.N, pid: w.ids, resume: l.Resume, without: a.Without, talk: t,
		doomed: w.one(5), asking: map[string]bool{}, shareUSD: l.ShareUSD, maxTurns: l.MaxTurns,
	}
	if a.From != "" && !s.Begun(a.ID) && s.Abilities().Resumes {
		p.fork = a.From
	}
	w.processes = append(slices.DeleteFunc(w.processes, func(p *simProcess) bool { return p.dead && len(p.out) == 0 }), p)
	w.must("one process of an agent lives at a time", w.alive(a.ID) == 1, "%d of %s", w.alive(a.ID), a.ID)
	return p
}

// alive counts an agent's processes.
func (w *simulation) alive(agent string) int {
	n := 0
	for _, p := range w.processes {
		if p.agent == agent && !p.dead {
			n++
		}
	}
	return n
}

// moves lists what the process may do next.
func (p *simProcess) moves(moves []move) []move {
	if p.dead {
		return moves
	}
	can := func(name string, weight int, do func()) {
		moves = append(moves, move{name: p.name() + " " + name, weight: weight, do: do})
	}
	if p.term {
		can("ends by SIGTERM", 3, func() { p.exits(procs.Exit{Code: 143, Spoke: p.begun}) })
	}
	if p.alone {
		can("loses its terminal", 1, func() { p.exits(procs.Exit{Code: 129, Spoke: p.begun}) })
	}
	if p.doomed && p.w.disturb > 0 && p.justTold() {
		can("is killed", 2, func() {
			p.doomed = false
			if p.w.drawn() {
				p.killed()
			}
		})
	}
	if p.hangs {
		return append(moves, move{name: p.name() + " hangs no more", weight: 1, do: func() { p.hangs = false }, idle: true})
	}
	if !p.begun {
		can("begins", 3, p.begin)
		return moves
	}
	if p.raw {
		switch {
		case p.script == nil:
			can("continues", 3, p.goesOnRaw)
		case !p.w.folders.waitsForPerson(p.script):
			can("looks for its answer file", 3, p.polls)
		}
		return moves
	}
	if len(p.stdin) > 0 {
		can("reads its input", 3, p.takeIn)
	}
	for _, s := range p.subs {
		if !p.waits(s) {
			can("has a subagent continue", 3, func() { p.subGoesOn(s) })
		}
	}
	switch {
	case p.gate != "" || p.turn != nil && p.inFront() || p.eof && len(p.calls) > 0:
		if p.eof && len(p.stdin) == 0 {
			can("gives up its request at the end of its input", 3, p.unanswered)
		}
	case p.turn != nil && p.nested != nil:
		can("looks for what became of its nested run", 2, p.watches)
	case p.turn != nil && p.script != nil && p.w.folders.waitsForPerson(p.script):
	case p.turn != nil && p.script != nil:
		can("looks for its answer file", 3, p.polls)
	case p.turn != nil:
		can("continues", 3, p.goOn)
	case len(p.queue) > 0:
		can("begins a turn", 3, p.beginTurn)
	case p.woken:
		can("begins a turn by itself", 2, p.beginTurn)
	case p.eof && len(p.stdin) == 0 && len(p.tasks) == 0:
		can("ends at the end of its input", 3, func() { p.exit(procs.Exit{Spoke: true}) })
	}
	if slices.ContainsFunc(p.tasks, isShell) || len(p.alarms) > 0 {
		can("has a task ended", 1, p.taskEnds)
	}
	return moves
}

// justTold reports whether the transcript may still lack what the process was told last.
func (p *simProcess) justTold() bool {
	return slices.ContainsFunc(p.talk.entries[p.talk.written:], func(e talkEntry) bool {
		return e.read != "" && p.w.mono()-e.at < late
	})
}

// stuck reports whether the process does nothing more by itself.
func (p *simProcess) stuck() bool { return len(p.moves(nil)) == 0 }

func (p *simProcess) say(m procs.Message) {
	if !p.alone {
		p.out = append(p.out, m)
	}
}

func (p *simProcess) keep(e talkEntry) {
	e.at = p.w.mono()
	e.request = p.talk.requested
	if e.said != nil {
		p.say(e.said)
	}
	p.talk.entries = append(p.talk.entries, e)
	p.w.truth.reads(p.w, p.talk, e)
}

// begin is what the CLI checks before its first turn.
func (p *simProcess) begin() {
	p.begun = true
	n := &p.w.nature
	exists := len(p.talk.entries) > 0
	switch {
	case n.refuses != "" && !slices.Contains(p.without, n.refuses):
		p.exit(procs.Exit{Code: 1, Stderr: "error: unknown option '" + n.refuses + "'"})
	case n.takes(&n.foreign):
		p.exit(procs.Exit{Code: 2, Stderr: "usage: cat FILE"})
	case p.resume && !exists:
		p.say(procs.Result{Subtype: "error_during_execution", IsError: true,
			Text: "No conversation found with session ID: " + p.talk.session})
		p.exit(procs.Exit{Code: 1, Stderr: "No conversation found with session ID: " + p.talk.session, Spoke: true})
	case !p.resume && exists:
		p.exit(procs.Exit{Code: 1, Stderr: "Error: Session ID " + p.talk.session + " is already in use."})
	case p.fork != "" && !p.resume:
		p.forks()
	case len(p.at) > 0:
		p.resumesAt()
	default:
		p.talk.unreplied()
	}
}

func (p *simProcess) takeIn() {
	in := p.stdin[0]
	p.stdin = p.stdin[1:]
	switch {
	case in.interrupt:
		p.cut()
	case in.gate != "":
		if in.gate == p.gate {
			p.gateOpens(in.text)
		}
	case in.request != "":
		p.answered(in)
	case p.talk.has(in.uuid):
		if p.turn == nil || p.turn.prompt != in.uuid && !slices.Contains(p.turn.absorbed, in.uuid) {
			p.say(procs.Receipt{UUID: in.uuid, State: "completed"})
		}
	case !slices.ContainsFunc(p.queue, func(q simInput) bool { return q.uuid == in.uuid }):
		p.say(procs.Receipt{UUID: in.uuid, State: "queued"})
		p.queue = append(p.queue, in)
	}
}

func (p *simProcess) beginTurn() {
	p.turn = &simTurn{}
	if len(p.queue) > 0 {
		in := p.queue[0]
		p.queue = p.queue[1:]
		p.turn.prompt = in.uuid
		p.say(procs.Receipt{UUID: in.uuid, State: "started"})
		p.say(procs.Init{SessionID: p.talk.session, Version: p.w.nature.version})
		switch {
		case p.refusesResults(in):
		case len(in.results) > 0:
			p.isToldResults(in)
		default:
			p.keep(talkEntry{uuid: in.uuid, read: in.text})
			p.told(in.text)
		}
		return
	}
	p.woken = false
	p.say(procs.Init{SessionID: p.talk.session, Version: p.w.nature.version})
	p.keep(talkEntry{read: "a task has ended"})
	if len(p.talk.entries)%4 == 0 {
		p.say(procs.Peer{From: "another session", Text: "hello"})
	}
}

// absorb takes what has been said meanwhile into the running turn.
func (p *simProcess) absorb() {
	for _, in := range p.queue {
		p.say(procs.Receipt{UUID: in.uuid, State: "started"})
		if in.uuid[0]%2 == 1 { // which one a hook of the person's refuses does not matter
			p.say(procs.PromptRefused{UUID: in.uuid, Reason: "not now"})
			continue
		}
		p.turn.absorbed = append(p.turn.absorbed, in.uuid)
		p.keep(talkEntry{uuid: in.uuid, read: in.text})
		p.told(in.text)
	}
	p.queue = nil
}

// goOn is one request to the model.
func (p *simProcess) goOn() {
	p.w.lasts(time.Duration(p.w.rng.IntN(200)) * time.Millisecond)
	if p.fails != nil {
		r := *p.fails
		p.fails = nil
		p.endTurn(r)
		if p.w.one(3) {
			p.exit(procs.Exit{Code: 1, Spoke: true})
		}
		return
	}
	if !p.requests() {
		return
	}
	if len(p.queue) > 0 && p.w.one(2) {
		p.absorb()
	}
	if p.woken && !p.turn.over && p.w.one(2) { // it looks at something, and is told with what it sees
		use := p.w.id("toolu_")
		p.keep(talkEntry{said: procs.ToolUse{ID: use, Name: "Read"}})
		p.keep(talkEntry{said: procs.ToolResult{ToolUse: use, Text: "read"}})
		p.woken = false
	}
	if !p.turn.over {
		p.talk.requested++
		p.act()
		return
	}
	if p.w.nature.hooks {
		p.gate = p.w.id("gate-")
		p.say(procs.StopHook{
			Request: p.gate, Transcript: p.talk.session, LastMessage: p.turn.said,
			Background: slices.Clone(p.tasks), Crons: slices.Clone(p.alarms),
		})
		return
	}
	p.endTurn(procs.Result{Subtype: "success", Text: p.turn.said})
}

func (p *simProcess) gateOpens(block string) {
	p.gate = ""
	if block != "" {
		p.turn.over = false
		p.keep(talkEntry{read: block})
		return
	}
	p.endTurn(procs.Result{Subtype: "success", Text: p.turn.said})
}

// endTurn prints the result, and the receipts as the stand-in and 2.1.329 do.
func (p *simProcess) endTurn(r procs.Result) {
	r = p.bill(r)
	t := p.turn
	p.cutSubs()
	p.calls = slices.DeleteFunc(p.calls, func(c simCall) bool { return c.from == nil })
	p.turn, p.script, p.nested, p.gate = nil, nil, nil, ""
	state := "completed"
	if claude.Classify(r, nil).Kind != "" {
		state = "cancelled"
	}
	receipt := func(uuid string) {
		if uuid != "" {
			p.say(procs.Receipt{UUID: uuid, State: state})
		}
	}
	if state == "completed" {
		for _, uuid := range t.absorbed {
			receipt(uuid)
		}
		p.say(r)
	} else {
		p.say(r)
		for _, uuid := range t.absorbed {
			receipt(uuid)
		}
	}
	receipt(t.prompt)
}

// cut is an interrupt request.
func (p *simProcess) cut() {
	if p.turn == nil {
		return
	}
	for _, c := range p.calls {
		if c.from == nil {
			p.keep(talkEntry{call: c.toolUse, said: unanswered(c)})
		}
	}
	p.endTurn(procs.Result{Subtype: "error_during_execution", IsError: true, TerminalReason: "aborted_tools"})
}

// unanswered is what becomes of requests at the end of input: they fail, and the model goes on.
func (p *simProcess) unanswered() {
	if p.gate != "" {
		p.gateOpens("")
		return
	}
	for _, c := range p.calls {
		p.keep(talkEntry{sub: c.from != nil, call: c.toolUse, said: unanswered(c)})
	}
	p.calls = nil
}

func (p *simProcess) taskEnds() {
	if i := slices.IndexFunc(p.tasks, isShell); i >= 0 {
		p.tasks = slices.Delete(slices.Clone(p.tasks), i, i+1)
		p.say(procs.Background{Tasks: slices.Clone(p.tasks)})
	} else {
		p.alarms = p.alarms[1:]
	}
	if p.turn == nil && p.w.one(3) { // the CLI only takes notice; the turn that tells the model comes after
		p.say(procs.Init{SessionID: p.talk.session, Version: p.w.nature.version})
		p.say(procs.Result{Subtype: "success", Origin: "task-notification"})
	}
	p.woken = true
}

// asks takes note of what the engine hears of requests.
func (p *simProcess) asks(m procs.Message) {
	switch m := m.(type) {
	case procs.Ask:
		p.asking[m.Request] = true
	case procs.Call:
		p.asking[m.Request] = true
	case procs.StopHook:
		p.asking[m.Request] = true
	case procs.AskCancelled:
		delete(p.asking, m.Request)
	}
}

// isShell tells a command in the background from a subagent, which ends by itself when it is done.
func isShell(t procs.Task) bool { return !t.Subagent }

// isGiven makes the process that of a command, which has its prompt from its beginning on.
func (p *simProcess) isGiven(prompt string) {
	p.raw, p.begun, p.turn = true, true, &simTurn{}
	p.keep(talkEntry{read: prompt})
}

// goesOnRaw is what a command does next, until it is done.
func (p *simProcess) goesOnRaw() {
	if !p.turn.over {
		p.act()
		return
	}
	p.exits(procs.Exit{Code: pick(p.w, 0, 0, 0, 0, 3)})
}

// exits ends the process by itself. The end of a command is the end of its turn.
func (p *simProcess) exits(x procs.Exit) {
	if p.raw && !p.dead {
		p.say(procs.Result{Subtype: "success"})
		x.Command = true
	}
	p.exit(x)
}

// exit ends the process in good order: its transcript is whole.
func (p *simProcess) exit(x procs.Exit) {
	if p.dead {
		return
	}
	p.dead = true
	if p.script != nil {
		p.w.folders.loses(p)
	}
	x = p.lastBill(x)
	p.talk.written = len(p.talk.entries)
	p.w.tell("     process %d ends: exit %d %s", p.launch, x.Code, x.Signal)
	p.say(x)
}

// killed ends it at once.
func (p *simProcess) killed() {
	if !p.raw { // which writes no transcript
		p.talk.forget(p.w, p.turn != nil)
	}
	p.exits(procs.Exit{Code: -1, Signal: "SIGKILL", Spoke: p.begun})
}

// unanswered is the result of a call that was broken off before a person's answer came.
func unanswered(c simCall) procs.ToolResult {
	parent := ""
	if c.from != nil {
		parent = c.from.ToolUse
	}
	return procs.ToolResult{ToolUse: c.toolUse, Parent: parent, Text: "[Request interrupted by user for tool use]",
		IsError: true, BrokenOff: true}
}
