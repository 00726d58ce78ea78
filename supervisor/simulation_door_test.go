package supervisor

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

// A simDoor is the folders of question and answer files, and the doorkeeper of the run that is supervised. The files outlive
// every supervisor; what a keeper has seen does not.
type simDoor struct {
	w       *simulation
	pending map[string]string // question files of scripts: their text, by id
	askers  map[string]string // the agents whose scripts have written them
	answers map[string]string // answer files
	seen    map[string]string // by the present keeper: question files, and answer files with their answer
	news    []fileNews        // that the engine has not taken
}

func newSimDoor(w *simulation) *simDoor {
	return &simDoor{w: w, pending: map[string]string{}, askers: map[string]string{}, answers: map[string]string{}, seen: map[string]string{}}
}

// reopened is the door of a new supervisor.
func (d *simDoor) reopened() { d.seen, d.news = map[string]string{}, nil }

// moves lists what the keeper and the engine may do about the files.
func (d *simDoor) moves(e *simEngine, moves []move) []move {
	can := func(name string, weight int, do func()) {
		moves = append(moves, move{name: name, weight: weight, do: do})
	}
	if len(d.news) > 0 {
		can("the engine hears of a file", 4, func() {
			n := d.news[0]
			d.news = d.news[1:]
			e.newsOfFile(n)
			e.carryOut()
		})
	}
	for _, id := range slices.Sorted(maps.Keys(d.pending)) {
		if _, known := d.seen["question "+id]; !known {
			can("the doorkeeper sees question "+id, 3, func() {
				d.seen["question "+id] = ""
				if d.question(id) == nil {
					d.news = append(d.news, fileNews{id: id})
				}
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.answers)) {
		q := d.question(id)
		switch {
		case q == nil:
		case q.State != checkpoints.QuestionOpen && !q.File.Polls && q.File.Drop == "":
			can("the doorkeeper clears away "+id, 2, func() { delete(d.answers, id) })
		case q.File.Polls && d.seen["answer "+id] != d.answers[id]:
			can("the doorkeeper sees answer "+id, 3, func() { d.seen["answer "+id] = d.answers[id] })
		case q.State == checkpoints.QuestionOpen && !q.File.Polls:
			can("the doorkeeper takes answer "+id, 3, func() { d.takes(q, id) })
		}
	}
	return moves
}

// question gives the question that stands in a file, as it was saved last.
func (d *simDoor) question(id string) *Question {
	for _, q := range d.w.disk.kept.Questions {
		if q.File != nil && q.File.ID == id {
			return q
		}
	}
	return nil
}

// takes is the keeper's, of an answer file to an open question.
func (d *simDoor) takes(q *Question, id string) {
	n := Note{Question: q.ID, Value: d.answers[id], By: byFile}
	delete(d.answers, id)
	if d.w.disk.answer(noteAnswer, n) == nil { // else another was first
		d.w.truth.acknowledged(n)
		d.w.ring()
	}
}

// gone is a script that takes its answer.
func (d *simDoor) gone(id string) string {
	answer := d.answers[id]
	delete(d.answers, id)
	delete(d.pending, id)
	if d.w.engine != nil {
		d.news = append(d.news, fileNews{id: id, gone: true, answer: d.seen["answer "+id]})
	}
	return answer
}

// newsOfFile is the engine's.
func (e *simEngine) newsOfFile(n fileNews) {
	if n.gone {
		for {
			e.takeInbox()
			e.carryOut()
			if !errors.Is(e.once(FileGone{ID: n.id, Answer: n.answer}), checkpoints.ErrInboxMoved) {
				return
			}
		}
	}
	agent := e.w.door.askers[n.id]
	l := e.state.live(agent)
	text, there := e.w.door.pending[n.id]
	if l == nil || !there {
		return // nobody has named it
	}
	s := signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: agent,
		Fields:    []signals.Field{{Name: "question_id", Value: n.id}},
		Questions: []signals.Question{{ID: n.id, Text: text}},
	}
	e.apply(FileFound{Agent: agent, Launch: l.N, Named: Named{Signal: s, Naming: e.naming(checkpoints.AskClarification, s.Questions)}})
}

// read fills an escalation with the question of its file.
func (e *simEngine) read(s signals.Signal) signals.Signal {
	if s.Dialect == signals.Escalated && len(s.Questions) == 0 {
		id := s.Field("question_id")
		text, there := e.w.door.pending[id]
		if !there {
			text = "The file of " + id + " is gone."
		}
		s.Questions = []signals.Question{{ID: id, Text: text}}
	}
	return s
}

func (e *simEngine) drop(f *flight, effect Effect) {
	group := e.state.group(effect.Question)
	id, answer := group[0].File.ID, answersInOne(group)
	f.then(func() { e.w.door.answers[id] = answer })
	f.finish = func() Body { return Dropped{Question: effect.Question} }
}

func (e *simEngine) reclaim(f *flight, effect Effect) {
	file := *e.state.Questions[effect.Question].File
	f.then(func() {
		_, there := e.w.door.answers[file.ID]
		if !there && file.Drop == checkpoints.DropBegun {
			_, there = e.w.door.pending[file.ID]
		}
		f.finish = func() Body { return Reclaimed{Question: effect.Question, There: there} }
	})
}

func (e *simEngine) prepare(f *flight, effect Effect) {
	q := e.state.Questions[effect.Question]
	f.then(func() {})
	f.finish = func() Body {
		b := Prepared{Question: q.ID}
		if q.Kind == checkpoints.AskBlocker && resolve(q).how == runCommand {
			b.IDs = []string{e.w.id("q-")}
		}
		if q.Kind == checkpoints.AskBlocker && resolve(q).how == delegateIt {
			b.Child = e.w.childID()
		}
		return b
	}
}

// runCommand is the engine's; what a command does is nobody's business here, but that it begins once.
func (e *simEngine) runCommand(f *flight, effect Effect) {
	q := e.state.Questions[effect.Question]
	if q.Ran.Epoch != e.state.Run.Epoch {
		f.then(func() {})
		f.finish = func() Body {
			return RanCommand{Question: q.ID, Ran: checkpoints.Ran{Epoch: q.Ran.Epoch, Done: true, Exit: "cut off"}}
		}
		return
	}
	f.then(func() { e.w.truth.ran(e.w, q) })
	f.gives = true
	f.then(func() {})
	f.finish = func() Body {
		return RanCommand{Question: q.ID, Ran: checkpoints.Ran{Epoch: q.Ran.Epoch, Done: true, Exit: "exit 0"}}
	}
}

// ran counts how often a command was begun.
func (t *truth) ran(w *simulation, q *Question) {
	t.notices["ran "+q.ID]++
	w.must("a command that a person let run begins once", t.notices["ran "+q.ID] == 1, "%s", q.ID)
}

// A simScript is a call of Bash in which a script of the agent waits for its answer file (000).
type simScript struct {
	id, toolUse string
	patience    int
}

// waitsForFile lets a script ask by a file.
func (p *simProcess) waitsForFile() {
	id := fmt.Sprintf("workflow_%d", p.w.rng.IntN(1<<30))
	s := &simScript{id: id, toolUse: p.w.id("toolu_"), patience: p.w.rng.IntN(12)}
	if !p.raw {
		p.keep(talkEntry{said: procs.ToolUse{
			ID: s.toolUse, Name: "Bash", Input: fmt.Appendf(nil, `{"command":"ask %s; echo QUESTION_ESCALATED:%s"}`, id, id),
		}})
	}
	p.w.door.askers[id] = p.agent
	p.w.door.pending[id] = "Which file of " + p.w.id("T")
	p.script = s
}

// polls is one look for the answer file.
func (p *simProcess) polls() {
	s := p.script
	if _, there := p.w.door.answers[s.id]; there {
		p.script = nil
		question := p.w.door.pending[s.id]
		answer := p.w.door.gone(s.id)
		// It may have been another's answer, and the acknowledged one follows by a prompt: each answer is counted, not the question.
		p.keep(talkEntry{call: s.toolUse, read: question + ": " + answer, said: p.printed(s, "Quick response received: "+answer)})
		return
	}
	if s.patience--; s.patience < 0 {
		p.script = nil
		p.turn.over = true
		p.keep(talkEntry{said: p.printed(s, "QUESTION_ESCALATED:"+s.id)})
	}
}

// printed is what a script prints.
func (p *simProcess) printed(s *simScript, text string) procs.Message {
	if p.raw {
		return procs.Raw{Text: text + "\n"}
	}
	return procs.ToolResult{ToolUse: s.toolUse, Text: text}
}

// dropsAnswer lets a person answer a script's question by writing its answer file.
func (w *simulation) dropsAnswer() {
	for _, id := range slices.Sorted(maps.Keys(w.door.pending)) {
		if _, there := w.door.answers[id]; !there {
			w.door.answers[id] = w.id("V")
			return
		}
	}
}
