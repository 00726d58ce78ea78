package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
)

// A simFolders is the folders of question and answer files, and the syncer of the run that is supervised. The files
// outlive every supervisor; what a keeper has seen does not.
type simFolders struct {
	w       *simulation
	pending map[string]string      // question files of scripts: their text, by id
	written map[string]time.Time   // when
	lost    map[string]string      // by agent: the text in which its script asked that is gone, and has no answer
	askers  map[string]string      // the agents whose scripts have written them
	answers map[string]string      // answer files
	late    map[string]bool        // answer files that were put there while the engine's present save was under way
	seen    map[string]string      // by the present keeper: question files, and answer files with their answer
	news    []supervisor.FileEvent // that the engine has not taken
	to      chan<- supervisor.FileEvent
}

func newSimFolders(w *simulation) *simFolders {
	return &simFolders{w: w, pending: map[string]string{}, askers: map[string]string{}, answers: map[string]string{},
		late: map[string]bool{}, seen: map[string]string{}, written: map[string]time.Time{}, lost: map[string]string{}}
}

// reopened is the file drop of a new supervisor.
func (d *simFolders) reopened() { d.seen, d.news, d.to = map[string]string{}, nil, nil }

// saving takes note that a save begins. The engine has looked into the folders before it, if it has to.
func (d *simFolders) saving() {
	defer d.w.enter()()
	d.late = map[string]bool{}
}

// moves lists what the keeper and the engine may do about the files.
func (d *simFolders) moves(e *simEngine, moves []move) []move {
	can := func(name string, weight int, do func()) {
		moves = append(moves, move{name: name, weight: weight, do: do})
	}
	if len(d.news) > 0 && d.to != nil && !e.busy() {
		can("the engine hears of a file", 4, func() {
			event := d.news[0]
			d.news = d.news[1:]
			e.w.yields(func() {
				select {
				case d.to <- event:
				case <-e.real.done:
				}
			})
			e.w.settle()
		})
	}
	for _, id := range slices.Sorted(maps.Keys(d.pending)) {
		if _, known := d.seen["question "+id]; !known {
			can("the syncer sees question "+id, 3, func() {
				d.seen["question "+id] = ""
				if d.question(id) == nil {
					d.news = append(d.news, supervisor.FileEvent{ID: id})
				}
			})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(d.answers)) {
		q := d.question(id)
		switch {
		case q == nil:
		case q.State != checkpoints.QuestionOpen && (q.File == nil || !q.File.Polls && q.File.Drop == ""):
			can("the syncer clears away "+id, 2, func() { delete(d.answers, id) })
		case q.File == nil:
			can("the syncer takes answer "+id, 3, func() { d.takes(q, id) })
		case q.File.Polls && d.seen["answer "+id] != d.answers[id]:
			can("the syncer sees answer "+id, 3, func() { d.seen["answer "+id] = d.answers[id] })
		case q.State == checkpoints.QuestionOpen && !q.File.Polls:
			can("the syncer takes answer "+id, 3, func() { d.takes(q, id) })
		}
	}
	return moves
}

// question returns the question that stands in a file, as it was saved last.
func (d *simFolders) question(id string) *supervisor.Question {
	for _, q := range d.w.disk.questions(func(*supervisor.Question) bool { return true }) {
		if q.File != nil && q.File.ID == id || questions.Posted(q) && q.ID == id {
			return q
		}
	}
	return nil
}

// takes is the keeper's, of an answer file to an open question.
func (d *simFolders) takes(q *supervisor.Question, id string) {
	n := supervisor.InboxEntry{Question: q.ID, Value: d.answers[id], By: supervisor.ByFile}
	delete(d.answers, id)
	if d.w.disk.answer(supervisor.EntryAnswer, n) == nil { // else another was first
		d.w.truth.acknowledged(n)
		d.w.ring()
	}
}

// gone is a script that takes its answer.
func (d *simFolders) gone(id string) string {
	answer := d.answers[id]
	delete(d.answers, id)
	delete(d.pending, id)
	if d.w.engine != nil {
		d.news = append(d.news, supervisor.FileEvent{ID: id, Gone: true, Answer: d.seen["answer "+id]})
	}
	return answer
}

// A simDrop is the folders as one supervisor has them.
type simDrop struct {
	e *simEngine
	*simFolders
}

// OpenFileDrop opens the folders.
func (e *simEngine) OpenFileDrop(_ string, news chan<- supervisor.FileEvent) (FileDrop, error) {
	defer e.w.enter()()
	e.w.folders.to = news
	return simDrop{e, e.w.folders}, nil
}

func (d simDrop) Set([]*supervisor.Question) {}
func (d simDrop) Run(ctx context.Context)    { <-ctx.Done() }

func (d simDrop) Saw(id string) (string, bool) {
	defer d.w.enter()()
	answer, seen := d.seen["answer "+id]
	return answer, seen
}

func (d simDrop) Knows(id string) bool {
	defer d.w.enter()()
	q := d.question(id)
	return q != nil && q.File != nil
}

func (d simDrop) Answered(id string) bool {
	defer d.w.enter()()
	_, there := d.answers[id]
	return there
}

// Awaited returns the ids under which an answer to open questions may lie.
func (d simDrop) Awaited(open []*supervisor.Question) (ids []string) {
	for _, q := range open {
		switch {
		case d.w.blind:
		case q.File != nil:
			ids = append(ids, q.File.ID)
		case questions.Posted(q):
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// Loosen changes nothing: files are noticed sooner or later.
func (d simDrop) Loosen(bool) {}

// TakeLying takes what lies there when a supervisor comes.
func (d simDrop) TakeLying(_ context.Context, all []*supervisor.Question) {
	defer d.w.enter()()
	for _, q := range all {
		id := q.ID
		if q.File != nil {
			id = q.File.ID
		}
		if _, there := d.answers[id]; there && q.IsOpen() &&
			(questions.Posted(q) || q.File != nil && !q.File.Polls) {
			d.takes(q, id)
		}
	}
}

// Question reads a question file of a script.
func (d simDrop) Question(id string) (*filedrop.QuestionFile, error) {
	defer d.w.enter()()
	text, there := d.pending[id]
	if !there {
		return nil, fs.ErrNotExist
	}
	return &filedrop.QuestionFile{ID: id, Question: text, WrittenAt: d.written[id]}, nil
}

// Put writes an answer for a script.
func (d simDrop) Put(id, answer string) error {
	err := d.answer(id, answer)
	if errors.Is(err, fs.ErrExist) {
		d.e.waits("drop "+id, func() { delete(d.answers, id) })
		err = d.answer(id, answer)
	}
	if err == nil {
		defer d.w.enter()()
		d.seen["answer "+id] = prompts.InLine(answer)
	}
	return err
}

func (d simDrop) answer(id, answer string) (err error) {
	d.e.waits("drop "+id, func() {
		if _, there := d.answers[id]; there {
			err = fs.ErrExist
			return
		}
		d.answers[id] = answer
	})
	return err
}

// Askers returns the agents whose scripts wait for their answer files.
func (d simDrop) Askers(f *filedrop.QuestionFile) (found []records.Asker, err error) {
	defer d.w.enter()()
	for _, p := range d.w.processes {
		if p.script != nil && !p.dead {
			found = append(found, records.Asker{Run: d.e.real.run, Agent: p.agent, Asks: p.script.id == f.ID})
		}
	}
	return found, nil
}

// Printed reports whether an agent has named a question file. A command prints nothing of it.
func (d simDrop) Printed(agent, id string) bool {
	defer d.w.enter()()
	return d.askers[id] == agent && !(d.w.startsOver() && !d.e.real.state.Abilities().TakesInput)
}

// ran counts how often a command was begun.
func (t *truth) ran(w *simulation, q *supervisor.Question) {
	t.notices["ran "+q.ID]++
	w.must("a command that a person let run begins once", t.notices["ran "+q.ID] == 1, "%s", q.ID)
}

// A simScript is a call of Bash in which a script of the agent waits for its answer file (000).
type simScript struct {
	id, toolUse string
	patience    int
	patient     bool // it looks until it has its answer, or nobody is asked any more
}

// startsOver reports whether this is a world in which scripts that were lost are run again. The seeds of the others
// stay as they are.
func (w *simulation) startsOver() bool { return w.seed%8 == 3 }

// loses takes note of the script that dies with its process.
func (d *simFolders) loses(p *simProcess) {
	if text, asks := d.pending[p.script.id]; asks && d.w.startsOver() {
		d.lost[p.agent] = text
	}
}

// again runs the script once more that was lost, and reports that.
func (p *simProcess) again() bool {
	if p.w.folders.lost[p.agent] == "" || !p.w.one(2) {
		return false
	}
	p.waitsForFile()
	return true
}

// waitsForFile lets a script ask by a file.
func (p *simProcess) waitsForFile() {
	id := fmt.Sprintf("workflow_%d", p.w.rng.IntN(1<<30))
	s := &simScript{id: id, toolUse: p.w.id("toolu_"), patience: p.w.rng.IntN(12), patient: p.w.one(3)}
	if !p.raw {
		p.keep(talkEntry{said: procs.ToolUse{
			ID: s.toolUse, Name: "Bash", Input: fmt.Appendf(nil, `{"command":"ask %s; echo QUESTION_ESCALATED:%s"}`, id, id),
		}})
	}
	p.w.folders.askers[id] = p.agent
	text := p.w.folders.lost[p.agent]
	if delete(p.w.folders.lost, p.agent); text == "" {
		text = "Which file of " + p.w.id("T")
	}
	p.w.folders.pending[id], p.w.folders.written[id] = text, p.w.now()
	p.script = s
}

// waitsForPerson reports whether the script only looks again and again: it has the patience while the engine knows that
// it looks, which it may not of one that has begun in a turn of which it has yet to hear.
func (d *simFolders) waitsForPerson(s *simScript) bool {
	_, there := d.answers[s.id]
	q := d.question(s.id)
	return s.patient && !there && q != nil && q.IsOpen() && q.File.Polls
}

// polls is one look for the answer file.
func (p *simProcess) polls() {
	s := p.script
	if _, there := p.w.folders.answers[s.id]; there {
		p.script = nil
		question := p.w.folders.pending[s.id]
		answer := p.w.folders.gone(s.id)
		// It may have been another's answer, and the acknowledged one follows by a prompt: each answer is counted, not the
		// question.
		p.keep(talkEntry{call: s.toolUse, read: question + ": " + answer,
			said: p.printed(s, "Quick response received: "+answer)})
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
	ids := slices.Sorted(maps.Keys(w.folders.pending))
	for _, q := range w.disk.questions(func(q *supervisor.Question) bool {
		return q.IsOpen() && questions.Posted(q)
	}) {
		ids = append(ids, q.ID)
	}
	for _, id := range ids {
		if _, there := w.folders.answers[id]; !there {
			w.folders.answers[id], w.folders.late[id] = w.id("V"), true
			return
		}
	}
}
