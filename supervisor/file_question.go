package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// This file is the quick path of the hybrid document (000): an agent's own script has put a question file where people look
// for it, and polls for its answer file. While it does, that file is the only way in which it is answered; once it has given
// up and escalated, or is gone, the answer goes by a prompt as any other. Never both.

// byFile names who has answered by an answer file.
const byFile = "answer file"

// fileFound opens the questions of a script that waits.
func (d *draft) fileFound(b FileFound, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	fp := fingerprint(b.Signal)
	for _, q := range d.questionsOf(b.Agent, func(q *Question) bool { return q.Fingerprint == fp }) {
		if q.State != checkpoints.QuestionWithdrawn {
			return unwelcome("the same file as question %s", q.ID)
		}
	}
	doc, file := encode(b.Signal), checkpoints.FileAsked{ID: b.Signal.Field("question_id"), Polls: true}
	_, qs := asks(b.Signal)
	d.openQuestions(b.Agent, checkpoints.AskFile, qs, b.Naming, at, func(q *Question) {
		own := file
		q.Fingerprint, q.Signal, q.File = fp, doc, &own
	})
	return nil
}

// escalate takes the script's word that it does not wait any more: it has not seen an answer, and will not.
func (d *draft) escalate(group []*Question, n Named) error {
	for _, q := range group {
		q = d.question(q.ID)
		q.File, q.Delivering = &checkpoints.FileAsked{ID: q.File.ID}, false
		q.Kind, q.Signal = checkpoints.AskClarification, encode(n.Signal)
		if q.Index == 0 {
			d.leftState(q, n.Kept)
		}
	}
	return nil
}

// unpolled takes note that no script of the agent can be waiting any more: its turn is over, and nothing of it lives on.
func (d *draft) unpolled(agent string) {
	if l := d.live(agent); l != nil && (l.Turn || len(alive(l)) > 0 || l.State == checkpoints.LaunchIntended) {
		return
	}
	for _, q := range d.questionsOf(agent, func(q *Question) bool {
		return q.File != nil && q.File.Polls && (q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
	}) {
		q = d.question(q.ID)
		q.Kind, q.File = checkpoints.AskClarification, &checkpoints.FileAsked{ID: q.File.ID, Drop: q.File.Drop}
	}
}

// polled gives the questions whose answer a script waits for in the file of an id.
func (s State) polled(id string) []*Question {
	return s.questions(func(q *Question) bool {
		return q.File != nil && q.File.Polls && q.File.ID == id && (q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
	})
}

// fileGone takes note that a script has taken its answer: the one that was dropped for it, or one that somebody else had put
// there, of which nobody was told that it counts.
func (d *draft) fileGone(b FileGone, at time.Time) error {
	found := false
	for _, q := range d.polled(b.ID) {
		found = true
		q = d.question(q.ID)
		switch {
		case q.State == checkpoints.QuestionOpen && b.Answer == "":
			q.State = checkpoints.QuestionWithdrawn
		case q.State == checkpoints.QuestionOpen:
			q.State, q.Answer, q.AnsweredAt, q.AnsweredBy = checkpoints.QuestionDelivered, b.Answer, &at, byFile
		case q.File.Drop == "", b.Answer != "" && b.Answer != inLine(answersInOne(d.group(q.Group))): // it took another: this one goes by a prompt
			q.File, q.Delivering = &checkpoints.FileAsked{ID: q.File.ID}, false
		case q.File.Drop == checkpoints.DropDone, b.Answer != "": // it took this one
			q.State = checkpoints.QuestionDelivered
		default: // what it took may have been another: this one is looked for once it was put there
			q.File = &checkpoints.FileAsked{ID: q.File.ID, Drop: checkpoints.DropBegun}
		}
	}
	if !found {
		return unwelcome("no question waits for the file %s", b.ID)
	}
	return nil
}

// beginDrop is the moment from which the answers of a script that waits cannot be changed any more. It is saved before they
// are written where the script looks.
func (d *draft) beginDrop(group []*Question) {
	for _, q := range group {
		q = d.question(q.ID)
		q.File, q.Delivering = &checkpoints.FileAsked{ID: q.File.ID, Polls: true, Drop: checkpoints.DropBegun}, true
	}
}

func (d *draft) dropped(b Dropped) error {
	q := d.Questions[b.Question]
	if q.State != checkpoints.QuestionAnswered || !q.File.Polls || q.File.Drop != checkpoints.DropBegun {
		return unwelcome("%s is not answered by file any more", q.ID)
	}
	for _, q := range d.group(q.Group) {
		q = d.question(q.ID)
		q.File = &checkpoints.FileAsked{ID: q.File.ID, Polls: true, Drop: checkpoints.DropDone}
		if b.Problem != "" {
			q.File, q.Delivering = &checkpoints.FileAsked{ID: q.File.ID}, false
		}
	}
	return nil
}

func (d *draft) reclaimed(b Reclaimed) error {
	q := d.Questions[b.Question]
	if q.State != checkpoints.QuestionAnswered || q.File.Polls || q.File.Drop == "" {
		return unwelcome("%s does not lie in a file", q.ID)
	}
	for _, q := range d.group(q.Group) {
		q = d.question(q.ID)
		if q.File, q.Delivering = (&checkpoints.FileAsked{ID: q.File.ID}), !b.There; !b.There {
			q.State = checkpoints.QuestionDelivered
		}
	}
	return nil
}

// drop writes an answer where an agent's script looks for it. One that somebody else has put there yields: the database goes
// before it.
func (e *engine) drop(f Effect) func(context.Context) result {
	group := e.state.group(f.Question)
	id, answer := group[0].File.ID, answersInOne(group)
	return func(context.Context) result {
		if e.door == nil {
			return result{body: Dropped{Question: f.Question, Problem: "the folder of answer files cannot be used"}}
		}
		err := e.door.Answer(id, answer)
		if errors.Is(err, fs.ErrExist) {
			if _, err = e.door.Unanswer(id); err == nil {
				err = e.door.Answer(id, answer)
			}
		}
		if err != nil {
			return result{body: Dropped{Question: f.Question, Problem: err.Error()}}
		}
		e.keeper.see(id, inLine(answer)) // perhaps in the place of another
		return result{body: Dropped{Question: f.Question}}
	}
}

// reclaim looks whether a script has taken its answer: then the answer lies there no more, nor does the question, if it is not
// known that the answer has lain there at all. What lies there is left to the doorkeeper to clear away, once it is saved that
// the answer goes another way.
func (e *engine) reclaim(f Effect) func(context.Context) result {
	file := *e.state.Questions[f.Question].File
	return func(context.Context) result {
		there := e.door == nil || e.door.Answered(file.ID)
		if !there && file.Drop == checkpoints.DropBegun {
			_, err := e.door.Question(file.ID)
			there = err == nil
		}
		return result{body: Reclaimed{Question: f.Question, There: there}}
	}
}

// newsOfFile takes what the doorkeeper has seen of files that are not ours.
func (e *engine) newsOfFile(ctx context.Context, n fileNews) error {
	if n.told != "" {
		e.say(Notice{Time: now(), Run: e.run, Type: Progress, Trouble: true, Text: n.told})
		return nil
	}
	if n.gone {
		delete(e.unowned, n.id)
		return e.fileTaken(ctx, FileGone{ID: n.id, Answer: n.answer})
	}
	for _, a := range e.state.agents() {
		if l := e.state.live(a.ID); l != nil && namedIn(e.Dirs.AgentLog(e.run, a.ID), n.id) {
			return e.ownFile(ctx, a.ID, l.N, n.id)
		}
	}
	if !e.unowned[n.id] {
		e.unowned[n.id] = true
		e.tellUnowned(n.id)
	}
	return nil
}

// tellUnowned tells of a question file that has come while agents work, and that none has named: perhaps one of theirs asks.
func (e *engine) tellUnowned(id string) {
	if !slices.ContainsFunc(e.state.agents(), func(a *Agent) bool { return e.state.live(a.ID) != nil }) {
		return
	}
	f, err := e.questionFile(id)
	if err != nil || f.Ours() {
		return
	}
	q := questionsIn(f)[0]
	e.say(Notice{Time: now(), Run: e.run, Type: Progress, Text: fmt.Sprintf("a script, perhaps of this run, asks by file: %s\n  %s",
		firstLine(q.Question), AnswerCommand(&Question{ID: id}))})
}

// fileTaken takes note that a script has its answer, once all that was accepted before is known and under way.
func (e *engine) fileTaken(ctx context.Context, b FileGone) error {
	if len(e.state.polled(b.ID)) == 0 {
		return nil // it is none of ours
	}
	for {
		if err := e.takeInbox(ctx); err != nil {
			return err
		}
		if _, err := e.carryOut(ctx); err != nil {
			return err
		}
		err := e.once(ctx, []happening{{event: &Event{At: now(), Body: b}}})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}

// takenBy takes note of what the scripts of an agent have taken before its process ended. The doorkeeper would tell of it, but
// perhaps after the end; or never, where nobody kept the door at the time.
func (e *engine) takenBy(ctx context.Context, agent string) error {
	if e.door == nil {
		return nil
	}
	for _, q := range e.state.questions(func(q *Question) bool {
		return q.Agent == agent && q.File != nil && q.File.Polls && q.Index == 0 &&
			(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
	}) {
		id := q.File.ID
		if _, err := e.door.Question(id); !errors.Is(err, fs.ErrNotExist) || e.door.Answered(id) {
			continue
		}
		answer := ""
		if q.File.Drop == "" { // else what was seen may have made room for ours
			answer, _ = e.keeper.saw(id)
		}
		if err := e.fileTaken(ctx, FileGone{ID: id, Answer: answer}); err != nil {
			return err
		}
	}
	return nil
}

// names looks in what an agent says for the ids of question files that nobody owns yet.
func (e *engine) names(ctx context.Context, c *child, said string) error {
	for id := range e.unowned {
		if containsID(said, id) {
			if err := e.ownFile(ctx, c.agent, c.launch, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownFile makes a question file the question of the agent whose stream names it.
func (e *engine) ownFile(ctx context.Context, agent string, launch int, id string) error {
	f, err := e.questionFile(id)
	if err != nil {
		e.log.Info().Err(err).Str("id", id).Msg("question file")
		return nil
	}
	delete(e.unowned, id)
	sig := asked(signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: agent,
		Fields: []signals.Field{{Name: "question_id", Value: id}},
	}, f)
	kind, qs := asks(sig)
	return e.apply(ctx, FileFound{Agent: agent, Launch: launch, Named: Named{Signal: sig, Naming: e.naming(kind, qs, "")}})
}
