package signals

import (
	"maps"
	"slices"
	"strings"
)

// Config says whose signals a scanner reads.
type Config struct {
	// AgentID is the agent's own id, which makes a signal genuine. With none, every id that is not a placeholder is:
	// that is for reading a file, not for an agent that runs.
	AgentID string
	// Accept are further ids that count as this agent's.
	Accept []string
	// Escalated reports whether a question file of that id exists which we did not write (000: questions/pending/ID.json).
	// It is asked while Bash, AtEnd and EndTurn run, with ids that are plain file names only. nil: there is none.
	Escalated func(id string) bool
	// AnyEscalation reads an escalation in text without its question file: for reading a text of long ago. In a Bash
	// result it still counts only if the command prints it, or if Escalated says so.
	AnyEscalation bool
	// Pauses reads what subagents end with, too (EndSubagent): a question or blocker without an id, or with one that is
	// nobody's. The documents' agents are subagents, and do not know the agent's id. A call of TaskUpdate with an id that
	// is nobody's counts as well.
	Pauses bool
}

// Source says whose text it is: of the conversation itself, or of an agent that the CLI runs inside it, by whatever
// tells that from others. Of those only signals with the agent's own id count.
type Source string

// Main is the conversation itself. Subagent is an agent inside it where nothing tells which one.
const (
	Main     Source = ""
	Subagent Source = "subagent"
)

// maxSubagents bounds how many subagents may speak by turns.
const maxSubagents = 64

// A Scanner finds the signals in what one agent prints. It is fed in the order in which things happen; it is not safe
// for use by several goroutines. A turn begins with the first input after the last EndTurn.
//
// Each method that can complete a signal returns those that count from that moment, in the order of their ends, and
// foreign ones ([Signal.Foreign]). The same signal is returned once a turn.
type Scanner struct {
	ids     []string
	met     map[string]bool      // ids of subagents, as the CLI calls them
	filed   func(id string) bool // a question file of that id exists
	anyone  bool                 // an escalation in text needs none
	pauses  bool                 // subagents may pause without this agent's id
	unheard []Source             // subagents that have ended with a pause that is not certain, since the last turn
	main    machine
	subs    []*subMachine   // those that spoke last, last
	now     Source          // whose message is the current one
	current string          // of the current message of the main conversation
	bash    []Signal        // without an id, from Bash results, not yet undone
	unfiled []string        // the ids of escalations in Bash results whose question files are not there
	seen    map[string]bool // fingerprints of this turn
	counts  map[bool]int    // signals returned in this turn, by Foreign
	out     []Signal        // to be returned by the next method that returns signals
	lost    []Problem       // of this turn, about signals that were dropped
	ended   bool            // the turn is over: the next input begins another
}

// NewScanner makes a scanner at the beginning of a turn.
func NewScanner(c Config) *Scanner {
	s := &Scanner{filed: c.Escalated, anyone: c.AnyEscalation, pauses: c.Pauses}
	for _, id := range append([]string{c.AgentID}, c.Accept...) {
		if id = strings.TrimSpace(id); id != "" {
			s.ids = append(s.ids, id)
		}
	}
	s.reset()
	return s
}

func (s *Scanner) reset() {
	s.main = newMachine(&tail{}, s.readMain)
	for _, m := range s.subs { // which may outlive the turn
		m.strays, m.machine.read = nil, map[[32]byte]int{}
	}
	if !s.pauses {
		s.subs = nil
	}
	s.current = ""
	s.now, s.bash, s.out, s.lost, s.ended = Main, nil, nil, nil, false
	s.seen, s.counts = make(map[string]bool), make(map[bool]int)
}

func (s *Scanner) begin() {
	if s.ended {
		s.reset()
	}
}

// A subMachine reads what one subagent says.
type subMachine struct {
	machine
	of      Source
	current string   // of its current message
	bash    []Signal // that its Bash calls have printed, not yet undone
}

// source returns the machine of a source, and the id of its current message.
func (s *Scanner) source(src Source) (*machine, *string) {
	if src == Main {
		return &s.main, &s.current
	}
	i := slices.IndexFunc(s.subs, func(m *subMachine) bool { return m.of == src })
	switch {
	case i >= 0:
		m := s.subs[i]
		s.subs = append(slices.Delete(s.subs, i, i+1), m)
		return &m.machine, &m.current
	case len(s.subs) == maxSubagents:
		s.subs[0].finish()
		s.lost = append(s.lost, s.subs[0].strays...)
		s.lost = s.lost[:min(len(s.lost), maxStrays)]
		s.subs = slices.Delete(s.subs, 0, 1)
	}
	m := &subMachine{machine: newMachine(nil, s.readSub(src)), of: src}
	if s.pauses {
		m.tail, m.late = &tail{}, s.isNobodys
	}
	s.subs = append(s.subs, m)
	return &m.machine, &m.current
}

// machineOf returns the machine of a subagent.
func (s *Scanner) machineOf(src Source) *subMachine {
	s.source(src)
	return s.subs[s.subagent(src)]
}

func (s *Scanner) machine(src Source) *machine {
	m, _ := s.source(src)
	return m
}

// BeginMessage begins a new message of the model. With the id of the source's current message it only makes that the
// one which Text goes on with; without an id it is always a new one. A signal without an id that stood in an earlier
// message no longer can count.
func (s *Scanner) BeginMessage(src Source, id string) {
	s.begin()
	s.now = src
	if m, current := s.source(src); m.message == 0 || id == "" || id != *current {
		m.beginMessage()
		*current = id
	}
}

// BeginBlock begins a new block of text in the current message: a new line. What the end of the last line completes
// is returned by the next method that returns signals; EndBlock returns it at once.
func (s *Scanner) BeginBlock() {
	s.begin()
	s.machine(s.now).endLine()
}

// EndBlock says that the current block of text is complete, so that a closing marker at its very end, with no newline
// after it, is read now and not at the next event.
func (s *Scanner) EndBlock() []Signal {
	s.BeginBlock()
	return s.take()
}

// Text takes text of the current message, split anywhere.
func (s *Scanner) Text(p string) []Signal {
	s.begin()
	s.machine(s.now).text(p)
	return s.take()
}

// ToolCall says that the main conversation called a tool. The agent goes on, so what it said without an id before the
// call is not the end of the turn; and a call of another tool than Bash takes back such signals in Bash results. input
// is the call's input, an object in JSON: a TaskUpdate call whose metadata asks for input (001) is a signal itself.
func (s *Scanner) ToolCall(name string, input []byte) []Signal {
	s.begin()
	s.main.goOn()
	if name != "Bash" {
		s.bash, s.unfiled = nil, nil
	}
	s.taskCall(Main, name, input)
	return s.take()
}

// SubagentToolCall says that a subagent called a tool. Of its calls only TaskUpdate can be a signal.
func (s *Scanner) SubagentToolCall(src Source, name string, input []byte) []Signal {
	s.begin()
	if i := s.subagent(src); i >= 0 && s.pauses {
		s.subs[i].goOn()
		if name != "Bash" {
			s.subs[i].bash = nil
		}
	}
	s.taskCall(src, name, input)
	return s.take()
}

func (s *Scanner) subagent(src Source) int {
	return slices.IndexFunc(s.subs, func(m *subMachine) bool { return m.of == src })
}

// SubagentBash takes the command and the result of a Bash call of a subagent. What it prints itself counts where the
// subagent ends with it, with the agent's own id at once.
func (s *Scanner) SubagentBash(src Source, command, output string, failed bool) []Signal {
	s.begin()
	printed := printedBy(command, failed)
	if !s.pauses || len(printed) == 0 && s.filed == nil {
		return s.take()
	}
	m := newMachine(nil, func(f finding) {
		switch sub := s.machineOf(src); {
		case !f.isPrinted(printed) && !(f.Dialect == Escalated && s.isFiled(f.Signal)):
		case f.AgentID != "" && !s.isNobodys(f.Signal):
			s.readSub(src)(f)
		case len(sub.bash) < maxPending:
			sub.bash = append(sub.bash, f.Signal)
		}
	})
	m.text(output)
	m.finish()
	return s.take()
}

// EndSubagent says that a subagent has come to its end. What it asks at the end of its last message, or by its last
// calls of Bash, counts though it lacks the agent's id.
func (s *Scanner) EndSubagent(src Source) []Signal {
	i := s.subagent(src)
	if i < 0 || !s.pauses {
		return nil
	}
	m := s.subs[i]
	m.finish()
	s.subs = slices.Delete(s.subs, i, i+1)
	asked := slices.Clone(m.bash)
	for _, e := range m.tail.pending {
		if e.Dialect != Escalated || len(e.Questions) > 0 || s.isFiled(e.Signal) {
			asked = append(asked, e.Signal)
		}
	}
	heard := false
	for _, sig := range asked {
		if (sig.Kind == Clarification || sig.Kind == Stop) && !sig.isTemplate() {
			sig.Inside, sig.By, heard = true, src, true
			s.emit(sig)
		}
	}
	if !heard && m.pausing && len(s.unheard) < maxSubagents {
		s.unheard = append(s.unheard, src)
	}
	return s.take()
}

// Unheard returns the subagents that have ended with something like a pause since the last turn, which nobody was
// asked.
func (s *Scanner) Unheard() []Source { return slices.Clone(s.unheard) }

// isNobodys reports whether a signal asks something with an id that is neither this agent's nor one that a supervisor
// gives: it is made up, as the documents' examples have it.
func (s *Scanner) isNobodys(sig Signal) bool {
	return (sig.Kind == Clarification || sig.Kind == Stop) && !slices.Contains(s.ids, sig.AgentID) &&
		!isTemplateID(sig.AgentID) && !supervisedID().MatchString(sig.AgentID)
}

var supervisedID = lazily(`^a-[0-9A-Za-z]{8,}$`)

// taskCall takes a call of TaskUpdate. Subagents give it the id that the CLI has given them (001). An id that is
// nobody's is made up, as in the documents' examples: a call is no quotation. That of another supervised agent stays
// foreign.
func (s *Scanner) taskCall(src Source, name string, input []byte) {
	if name != "TaskUpdate" || len(input) > MaxBlock {
		return
	}
	if sig, ok := taskCall(input); ok {
		sig.Inside, sig.By = src != Main, src
		if s.met[sig.AgentID] || s.pauses && sig.AgentID != "" && s.isNobodys(sig) && !sig.isTemplate() {
			s.emit(sig)
		} else {
			s.admit(sig)
		}
	}
}

// Meet says that the CLI itself calls a subagent of the conversation so, beside what that says: a call of TaskUpdate
// with this id is the agent's own.
func (s *Scanner) Meet(id string) {
	if id != "" && len(s.met) < maxMet {
		if s.met == nil {
			s.met = map[string]bool{}
		}
		s.met[id] = true
	}
}

// maxMet bounds how many subagents are remembered.
const maxMet = 10_000

// Bash takes the command and the result of one Bash call of the main conversation. Signals in the result count if the
// command itself prints their markers, an escalation also if its question file exists: those with an id at once, those
// without at the end of the turn. Lines are numbered within the result.
// failed says that the call has ended with an error.
func (s *Scanner) Bash(command, output string, failed bool) []Signal {
	s.begin()
	if printed := printedBy(command, failed); len(printed) > 0 || s.filed != nil {
		m := newMachine(nil, func(f finding) {
			switch {
			case f.isPrinted(printed) || f.Dialect == Escalated && s.isFiled(f.Signal):
				s.readBash(f.Signal)
			case s.lacksFile(f.Signal) && len(s.unfiled) < maxPending:
				s.unfiled = append(s.unfiled, f.Field("question_id"))
			}
		})
		m.text(output)
		m.finish()
	}
	return s.take()
}

func (s *Scanner) readBash(sig Signal) {
	switch {
	case sig.AgentID != "":
		s.admit(sig)
	case len(s.bash) == maxPending:
		s.drop(sig.Line, "too many signals without an agent_id in Bash results of one turn: this one is dropped")
	default:
		s.bash = append(s.bash, sig)
	}
}

// AtEnd returns what EndTurn would return if the turn ended here, and changes nothing.
func (s *Scanner) AtEnd() []Signal {
	return s.clone().EndTurn("")
}

// Unfiled returns the ids of the escalations that would count if the turn ended here, were their question files there.
func (s *Scanner) Unfiled() []string {
	c := s.clone()
	c.main.endLine()
	c.main.finish()
	ids := c.unfiled
	for _, e := range c.main.tail.pending {
		if s.lacksFile(e.Signal) {
			ids = append(ids, e.Field("question_id"))
		}
	}
	return ids
}

func (s *Scanner) clone() *Scanner {
	c := *s
	c.main, c.subs = s.main.clone(c.readMain), nil
	for _, m := range s.subs {
		c.subs = append(c.subs, &subMachine{machine: m.clone(c.readSub(m.of)), of: m.of, current: m.current,
			bash: slices.Clone(m.bash)})
	}
	c.bash, c.out, c.lost = slices.Clone(s.bash), slices.Clone(s.out), slices.Clone(s.lost)
	c.unfiled, c.unheard = slices.Clone(s.unfiled), slices.Clone(s.unheard)
	c.seen, c.counts = maps.Clone(s.seen), maps.Clone(s.counts)
	return &c
}

// EndTurn ends the turn: signals left open are closed, and those without an id count if they stand at the end of the
// last message. result is the text of the CLI's result line, which repeats the last message: it is read only if the
// turn had no text of its own.
func (s *Scanner) EndTurn(result string) []Signal {
	s.begin()
	s.main.endLine()
	if !s.main.wrote && result != "" {
		s.main.beginMessage()
		s.main.text(result)
	}
	s.main.finish()
	for _, m := range s.subs {
		m.finish()
	}
	for _, sig := range s.bash {
		s.admit(sig)
	}
	for _, e := range s.main.tail.pending {
		if e.Dialect != Escalated || s.anyone || len(e.Questions) > 0 || e.isTemplate() || s.isFiled(e.Signal) {
			s.admit(e.Signal)
		}
	}
	s.main.tail.clear()
	s.bash, s.unfiled, s.unheard = nil, nil, nil
	s.ended = true
	return s.take()
}

// problems returns the faults found in this turn that belong to no signal, such as a closing tag with nothing to
// close. After EndTurn it still speaks of the turn that ended, until the next begins.
func (s *Scanner) problems() []Problem {
	all := slices.Concat(s.main.strays, s.lost)
	for _, m := range s.subs {
		all = append(all, m.strays...)
	}
	slices.SortStableFunc(all, func(a, b Problem) int { return a.Line - b.Line })
	return all
}

func (s *Scanner) readMain(f finding) { s.admit(f.Signal) }

// readSub reads what a subagent says.
func (s *Scanner) readSub(src Source) func(finding) {
	return func(f finding) {
		if f.AgentID != "" {
			f.Inside, f.By = true, src
			s.admit(f.Signal)
		}
	}
}

// isFiled reports whether the question that an escalation names is in the folder of questions.
func (s *Scanner) isFiled(sig Signal) bool {
	id := sig.Field("question_id")
	return s.filed != nil && isFileName(id) && s.filed(id)
}

// lacksFile reports whether a signal is an escalation whose question file is not there.
func (s *Scanner) lacksFile(sig Signal) bool {
	return sig.Dialect == Escalated && s.filed != nil && !sig.isTemplate() && isFileName(sig.Field("question_id")) &&
		!s.isFiled(sig)
}

// admit decides whose signal it is.
func (s *Scanner) admit(sig Signal) {
	switch {
	case sig.AgentID != "" && !s.isOwn(sig.AgentID):
		sig.Foreign = true
		sig.problem(sig.Line, "foreign", "agent_id %s is not this agent's", sig.AgentID)
	case sig.isTemplate():
		sig.Foreign = true
		sig.problem(sig.Line, "foreign", "this is the template, not filled in")
	}
	s.emit(sig)
}

func (s *Scanner) isOwn(id string) bool {
	if len(s.ids) == 0 {
		return !isTemplateID(id)
	}
	return slices.Contains(s.ids, id)
}

// isTemplateID reports whether an id is what a template has in its place: <agent-id>, [id], {{id}}, $ID, or dots.
func isTemplateID(id string) bool {
	return id != "" && (strings.ContainsAny(id[:1], "<[{$") || strings.Trim(id, ".…") == "")
}

// isTemplate reports whether what the form requires is still what a template has in its place: <question>.
func (s Signal) isTemplate() bool {
	switch {
	case s.Dialect == Escalated:
		return isTemplateID(s.Field("question_id"))
	case s.Dialect == Paused && s.Field("state_file") != "" && isTemplatePath(s.Field("state_file")):
		return true
	}
	f := formNamed(string(s.Kind))
	if f == nil || len(f.required) == 0 {
		return false
	}
	for _, name := range f.required {
		if name != "questions" && !isBlank(s.Field(name)) {
			return false
		}
	}
	for _, q := range s.Questions {
		if !isBlank(q.Text) {
			return false
		}
	}
	return true
}

func isBlank(value string) bool {
	return strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">")
}

func (s *Scanner) emit(sig Signal) {
	key := sig.Fingerprint()
	if s.seen[key] {
		return
	}
	if s.counts[sig.Foreign] == MaxSignals {
		s.drop(sig.Line, "too many signals in one turn: this one and those after it are dropped")
		return
	}
	s.seen[key] = true
	s.counts[sig.Foreign]++
	s.out = append(s.out, sig)
}

func (s *Scanner) drop(line int, why string) {
	s.lost = appendStray(s.lost, newProblem(line, "truncated", "%s", why))
}

func (s *Scanner) take() []Signal {
	out := s.out
	s.out = nil
	return out
}

// Scan reads a whole text as one message and one turn, as far as the text alone can tell: an escalation counts without
// its question file. Signals come in the order of their lines.
func Scan(text, agentID string) []Signal {
	s := NewScanner(Config{AgentID: agentID, AnyEscalation: true})
	s.BeginMessage(Main, "")
	sigs := append(s.Text(text), s.EndTurn("")...)
	slices.SortStableFunc(sigs, func(a, b Signal) int { return a.Line - b.Line })
	return sigs
}
