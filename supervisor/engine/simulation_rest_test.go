package engine

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// The truth is what people and models saw, apart from all records: what was acknowledged, and what was read.
type truth struct {
	given    map[string]supervisor.InboxEntry // by question: the answer that was acknowledged last
	replaced map[string]string                // answers that were replaced, and those of which question
	notices  map[string]int                   // by epoch and question
	said     []supervisor.InboxEntry          // messages to agents that were acknowledged
	ends     map[string]int                   // by child: how often it has ended
	requests map[string]int                   // by agent: how many it has made
	owed     map[owed]int                     // the same while its parent lived to hear of it

	ending    map[string]bool   // agents that were about to end, or have ended
	withdrawn map[string]bool   // requests that claude itself has withdrawn
	results   map[string]int    // by process: ends of its turns of which a supervisor has heard
	told      map[string]string // by the call: the process that was told its result last, where its conversation continues
	spoke     map[string]bool   // by process: a supervisor has heard the model itself
}

func newTruth() truth {
	return truth{given: map[string]supervisor.InboxEntry{}, replaced: map[string]string{}, notices: map[string]int{},
		ends: map[string]int{}, owed: map[owed]int{}, requests: map[string]int{}, withdrawn: map[string]bool{},
		results: map[string]int{}, ending: map[string]bool{}, spoke: map[string]bool{}, told: map[string]string{}}
}

func (t *truth) acknowledged(n supervisor.InboxEntry) {
	if old, ok := t.given[n.Question]; ok && word(old) != "" && !old.AllLike { // else others may still have it
		t.replaced[old.Value] = n.Question
	}
	t.given[n.Question] = n
}

func (t *truth) noticed(w *simulation, q *supervisor.Question, epoch int) {
	key := fmt.Sprintf("%d %s", epoch, q.ID)
	t.notices[key]++
	w.must("a supervisor gives one notice of a question", t.notices[key] == 1, "%d of %s", t.notices[key], q.ID)
}

// word returns what an answer is known by; "" for those that say nothing of their own.
func word(n supervisor.InboxEntry) string {
	if i := strings.IndexByte(n.Value, 'V'); i >= 0 && !n.Skip {
		v, _, _ := strings.Cut(n.Value[i:], ".")
		return v + "."
	}
	return ""
}

// reads is what a model reads: the last that was acknowledged, and nothing twice in one conversation. What a subagent
// had read that is gone is told to the one in its place.
func (t *truth) reads(w *simulation, in *talk, e talkEntry) {
	if e.read == "" || strings.HasPrefix(e.read, notStartedText) { // who asks again in the same words is told the same
		return
	}
	for id, n := range t.given {
		if q := w.disk.kept.Questions.Get(id); q != nil && q.AnsweredBy == supervisor.ByHook && word(n) != "" && !n.AllLike {
			w.must("what a hook has answered is not answered again", !strings.Contains(e.read, word(n)), "%q for %s",
				n.Value, id)
		}
	}
	for old, q := range t.replaced {
		w.must("what is delivered is the answer acknowledged last", !strings.Contains(e.read, old), "%q for %s", old, q)
	}
	again := strings.Contains(e.read, "\nIt is gone.")
	for _, n := range t.given {
		v := word(n)
		has := func(read string) bool { return v != "" && strings.Contains(withoutCommand(read, v), v) }
		if has(e.read) {
			says := func(o talkEntry) bool {
				return has(o.read) && !o.idle && !(again && o.sub) && !strings.HasPrefix(o.read, notStartedText)
			}
			times, most := in.count(says), answeredSo(w.disk.kept, in.agent, n)
			if n.AllLike { // also who had asked in the conversation that its own begins with
				most += countOf(in.entries[:min(in.forked, len(in.entries))], says)
			}
			w.must("an answer is delivered once", times >= 1 && times <= most, "%q, of %s, %d times", v, n.Question, times)
		}
	}
	for _, n := range t.said {
		if v := n.Value; strings.Contains(e.read, v) {
			times := in.count(func(e talkEntry) bool { return strings.Contains(e.read, v) })
			w.must("a message is delivered once", times == 1, "%q, %d times", v, times)
		}
	}
	t.readsOfChildren(w, in, e)
	if e.call == "" {
		t.readsOfQuestion(w, in, e)
	}
}

// withoutCommand leaves out what is said of a child for which a command runs, or is asked about: it names the command
// that its answer wants, and tells nobody that answer.
func withoutCommand(read, word string) string {
	return strings.ReplaceAll(read, ": make "+word, "") // what is told of the answer has it in backquotes
}

// answeredSo counts how often an agent may read an answer: several questions have it, if it was given for all that are
// alike; and a script that starts over is given what the agent was told by a prompt.
func answeredSo(s supervisor.State, agent string, n supervisor.InboxEntry) int {
	if !n.AllLike {
		return 1 + len(s.FindQuestionsOf(agent, func(q *supervisor.Question) bool {
			before := s.Questions.Get(q.Like)
			return q.File != nil && before != nil && before.File != nil && q.Answer == n.Value && told(s, before)
		}))
	}
	return len(s.FindQuestionsOf(agent, func(q *supervisor.Question) bool { return q.Answer == n.Value }))
}

// told reports whether an agent was told the answer to a question by a prompt.
func told(s supervisor.State, q *supervisor.Question) bool {
	return len(s.FindDeliveries(q.Agent, func(v *supervisor.Delivery) bool {
		return v.Prompt() && v.State != checkpoints.DeliveryDropped && slices.Contains(v.Groups, q.Group)
	})) > 0
}

// readsOfQuestion counts by the question, since not every answer can be told from another: a prompt says of each
// question once what was answered, and it does so once.
func (t *truth) readsOfQuestion(w *simulation, in *talk, e talkEntry) {
	rows := map[string]int{}
	for q := range w.disk.kept.Questions.Values() {
		if q.Agent == in.agent {
			rows[wordOf(q)]++
		}
	}
	for q := range w.disk.kept.Questions.Values() {
		if q.Child != "" { // it is told again with the end of the child
			delete(rows, wordOf(q))
		}
	}
	for word, n := range rows {
		told := func(read string) bool { // the call in which it fell silent is named by what became of it
			return strings.Contains(strings.ReplaceAll(withoutEnds(read), "processor time: Write: /work/"+word, ""), word)
		}
		if told(e.read) {
			own := in.entries[min(in.forked, len(in.entries)):] // what came before, another was told
			times := countOf(own, func(e talkEntry) bool { return e.call == "" && told(e.read) })
			w.must("a question's answer is told once", times <= n, "%s, asked %d times, told %d times, here by %q",
				word, n, times, e.read)
		}
	}
}

// wordOf returns the word by which a question is known.
func wordOf(q *supervisor.Question) string {
	if questions.KindOf(q.Kind).Ruled {
		return wordIn(string(q.Tool.Input))
	}
	return wordIn(q.Text)
}

// replied is a reply to a call: each permission that was given lets one call through.
func (t *truth) replied(w *simulation, in *talk, c simCall, reply []byte) {
	if c.name == ask.AskUserQuestion || c.served || !bytes.Contains(reply, []byte(`"behavior":"allow"`)) {
		return
	}
	path, given, through := wordIn(string(c.input)), 0, 1
	for q := range w.disk.kept.Questions.Values() {
		kind := questions.KindOf(q.Kind)
		if (kind.Ruled && q.Answer == supervisor.Allow || kind.Plans && q.Answer == questions.Approve) && wordOf(q) == path &&
			q.State != checkpoints.QuestionOpen {
			given++
		}
	}
	through += in.count(func(e talkEntry) bool {
		return e.answered && strings.Contains(e.read, path) && strings.Contains(e.read, `"allow"`)
	})
	w.must("a permission lets one call through", through <= given, "%s: given %d times, through %d times",
		path, given, through)
}

func (t *talk) count(f func(talkEntry) bool) int { return countOf(t.entries, f) }

func countOf(entries []talkEntry, f func(talkEntry) bool) int {
	n := 0
	for _, e := range entries {
		if f(e) {
			n++
		}
	}
	return n
}

// afterStep looks at the world between two steps.
func (w *simulation) afterStep() {
	alive := map[string]int{}
	for _, p := range w.processes {
		if !p.dead {
			alive[p.agent]++
			w.must("one process of an agent lives at a time", alive[p.agent] == 1, "%d of %s", alive[p.agent], p.agent)
		}
	}
}

// atRest looks at a world in which nothing moves: with a supervisor, a person is waited for, and has been told.
func (w *simulation) atRest() {
	w.tell("-- the world rests")
	e := w.engine
	if e == nil {
		return
	}
	holds, state := false, e.real.state
	for id, a := range state.Agents.All() {
		if !a.Status.Ended() {
			w.must("a supervised run rests only where it waits for a person", w.waitsForPerson(state, a, 0),
				"%s is %s (%s), in flight: %v", id, a.Status, a.Reason, len(e.real.inflight))
			holds = holds || state.Live(id) != nil
		}
	}
	w.refusedAreAsked(state)
	open := state.FindQuestions((*checkpoints.Question).IsOpen)
	w.must("who waits for a person has a question open", len(open) > 0, "%s", state.Run.Reason)
	for _, q := range open {
		w.must("a supervisor gives notice of every open question", q.Noticed == state.Run.Epoch, "not of %s", q.ID)
	}
	w.must("under --on-question park the supervisor leaves a parked run", holds || state.Config.Policy != conf.Park,
		"it stays")
}

// waitsForPerson reports whether an agent waits for a person, or for another that does.
func (w *simulation) waitsForPerson(s supervisor.State, a *supervisor.Agent, depth int) bool {
	w.must("agents do not wait for each other in a circle", depth <= s.Agents.Len(), "%s", a.ID)
	switch a.Status {
	case checkpoints.Parked, checkpoints.Waiting:
		return len(s.Open(a.ID))+len(s.Assuming(a.ID)) > 0
	case checkpoints.Running:
		return atItsScript(s, a)
	case checkpoints.Queued:
		return slices.ContainsFunc(s.AllAgents(), func(o *supervisor.Agent) bool {
			return (o.Status == checkpoints.Running || o.Status == checkpoints.Waiting) && atItsScript(s, o)
		})
	case checkpoints.OverBudget:
		return len(s.FindQuestions((*checkpoints.Question).IsOpen)) > 0
	case checkpoints.Blocked:
		for other := range s.Agents.Values() {
			if !other.Status.Ended() && (comesBefore(s, other, a) || other.Parent == a.ID && waitedFor(other)) &&
				w.waitsForPerson(s, other, depth+1) {
				return true
			}
		}
	}
	return false
}

// atItsScript reports whether an agent is at work as long as a script of it has no answer.
func atItsScript(s supervisor.State, a *supervisor.Agent) bool {
	return slices.ContainsFunc(s.Open(a.ID), func(q *supervisor.Question) bool { return q.File != nil && q.File.Polls })
}

// comesBefore reports whether an agent that has not begun comes after another.
func comesBefore(s supervisor.State, first, a *supervisor.Agent) bool {
	return s.Launch(a.ID) == nil && a.Delegated != nil && slices.Contains(a.Delegated.After, first.ID)
}

// atEnd looks at a run that has ended: every answer that was acknowledged has reached its agent, unless that was
// stopped or failed; and the history explains the records.
func (w *simulation) atEnd() {
	s := w.disk.kept
	w.must("a run that has ended says so", s.Run.EndedAt != nil && s.Run.ExitCode != nil, "it is %s", s.Run.Status)
	for id, a := range s.Agents.All() {
		w.must("a run ends after all its agents", a.Status.Ended(), "%s is %s", id, a.Status)
	}
	for id, n := range w.truth.given {
		q := s.Questions.Get(id)
		a := s.Agents.Get(q.Agent)
		talk := w.talks[a.SessionID]
		if a.Fault != "" || a.StopWanted != "" || q.State == checkpoints.QuestionWithdrawn || n.Value == giveUp {
			continue
		}
		if q.AnsweredBy == supervisor.ByHook {
			w.must("the record says of an answer that came after a hook's that it is not used",
				strings.Contains(q.Remark, "not used"), "%s: %q", id, q.Remark)
			continue
		}
		w.must("an acknowledged answer is delivered", q.State == checkpoints.QuestionDelivered, "%s is %s", id, q.State)
		w.must("what the record says of an answer is what was acknowledged", q.Answer == n.Value &&
			q.Skipped == n.Skip, "%q, acknowledged %q", q.Answer, n.Value)
		if talk == nil || q.Kind == questions.AskCommand || q.Kind == questions.AskBudget ||
			questions.KindOf(q.Kind).Ruled && w.firstOf(a) > 1 {
			continue // a conversation that began afterwards has no use for a permission
		}
		if q.Kind == questions.AskElicitation {
			continue // it is the server's
		}
		if (q.Assumed != nil && questions.VerdictOf(q) != questions.Corrected || q.Kind == questions.AskRefusal) &&
			strings.Contains(q.Remark, goesByIt) {
			continue
		}
		if word(n) == "" && q.Tool != nil && q.Tool.Served && q.Kind != questions.AskDelegation {
			continue // what such a call returns does not repeat the question
		}
		if q.Nested != nil && (q.Skipped || q.Declined || !strings.HasPrefix(q.Answer, supervisor.Approve)) {
			continue // it was told in a turn that may be lost, and with it the call that it was the answer to
		}
		v := wordOf(q)
		if w := word(n); w != "" {
			v = w
		}
		if q.Kind == questions.AskDelegation && q.Child != "" && s.Agents.Get(q.Child) != nil {
			v = q.Child // the approval names it, or its end does
		}
		if v == noWord {
			continue // it was asked as others ask, too, and answered with nothing of its own
		}
		there := func(e talkEntry) bool { return strings.Contains(e.read, v) }
		w.must("an acknowledged answer is in the conversation",
			// it was read, and then reported on
			talk.count(there) > 0 || a.Report != nil && slices.ContainsFunc(talk.lost, there),
			"%q, of %s", v, id)
	}
	w.endsWereTold()
	for _, n := range w.truth.said {
		a, v := s.Agents.Get(n.Agent), n.Value
		if a == nil {
			continue // where the run continues it was never begun
		}
		talk := w.talks[a.SessionID]
		there := func(e talkEntry) bool { return strings.Contains(e.read, v) }
		if talk == nil || a.Fault != "" || a.StopWanted != "" || w.firstOf(a) > 1 {
			continue // an earlier conversation may have had it
		}
		w.must("a message that was acknowledged is in the conversation", talk.count(there) > 0 ||
			slices.ContainsFunc(talk.lost, there), "%q", v)
	}
	if w.seed%16 == 0 || w.trace != nil {
		w.folds()
	}
}

// firstOf returns the number of the launch with which the agent's present conversation began.
func (w *simulation) firstOf(a *supervisor.Agent) int {
	first := 1
	for _, l := range w.disk.kept.Launches.Get(a.ID) {
		if !l.Resume {
			first = l.N
		}
	}
	return first
}

// folds takes the history from its first event, as it was written.
func (w *simulation) folds() {
	var s supervisor.State
	for _, record := range w.disk.events {
		e, err := supervisor.Recorded(record)
		w.must("the history can be read", err == nil, "%v", err)
		s, err = w.step(s, e)
		w.must("the history can be folded", err == nil, "event %d, %s: %v", record.Seq, record.Type, err)
	}
	w.must("the history gives the records", bytes.Equal(text.JSON(s), text.JSON(w.disk.load())),
		"-history +records\n%s\n%s", text.JSON(s), text.JSON(w.disk.load()))
}
