package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// drop writes an answer where an agent's script looks for it.
func (e *engine) drop(f effect.Effect) func(context.Context) result {
	group := e.state.Group(f.Question)
	id, answer := group[0].File.ID, prompts.AnswersInOne(group)
	return func(context.Context) result {
		if e.fileDrop == nil {
			return result{event: supervisor.Dropped{Question: f.Question,
				Problem: "the folder of answer files cannot be used"}}
		}
		if err := e.fileDrop.Put(id, answer); err != nil {
			return result{event: supervisor.Dropped{Question: f.Question, Problem: err.Error()}}
		}
		return result{event: supervisor.Dropped{Question: f.Question}}
	}
}

// reclaim looks whether a script has taken its answer: then the answer lies there no more, nor does the question, if it
// is not known that the answer has lain there at all; and no other answer was seen there, which it took in its place.
// What lies there is left to the syncer to clear away, once it is saved that the answer goes another way.
func (e *engine) reclaim(f effect.Effect) func(context.Context) result {
	q := e.state.Questions.Get(f.Question)
	file, launch := *q.File, e.state.Launch(q.Agent).N
	ours := prompts.InLine(prompts.AnswersInOne(e.state.Group(f.Question)))
	return func(context.Context) result {
		there := e.fileDrop == nil || e.fileDrop.Answered(file.ID)
		if !there && file.Drop == checkpoints.DropBegun {
			_, err := e.fileDrop.Question(file.ID)
			seen, _ := e.fileDrop.Saw(file.ID)
			there = err == nil || seen != "" && seen != ours
		}
		return result{event: supervisor.Reclaimed{Question: f.Question, There: there, Launch: launch}}
	}
}

// newsOfFile takes what the syncer has seen of files that are not ours.
func (e *engine) newsOfFile(ctx context.Context, n supervisor.FileEvent) error {
	if n.Told != "" {
		e.say(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress, Trouble: true,
			Text: n.Told})
		return nil
	}
	if n.Gone {
		delete(e.unowned, n.ID)
		return e.fileTaken(ctx, supervisor.FileGone{ID: n.ID, Answer: n.Answer})
	}
	if asker := e.asker(n.ID); asker != "" {
		return e.ownFile(ctx, asker, e.state.Live(asker).N, n.ID, asker)
	}
	for _, a := range e.state.AllAgents() {
		if l := e.state.Live(a.ID); l != nil && e.fileDrop.Printed(a.ID, n.ID) {
			return e.ownFile(ctx, a.ID, l.N, n.ID, "")
		}
	}
	if !e.unowned[n.ID] && !e.asked(n.ID) {
		e.unowned[n.ID] = true
		e.tellUnowned(n.ID)
	}
	return nil
}

// asker returns the agent whose process has put a question file there; "" where that cannot be told.
func (e *engine) asker(id string) string {
	f, err := e.questionFile(id)
	if err != nil || f.Ours() || !e.works() {
		return ""
	}
	found, err := read(&e.disk, func() ([]records.Asker, error) { return e.fileDrop.Askers(f) })
	if err != nil {
		e.log.Warn().Err(err).Str("id", id).Msg("who asks by a question file")
	}
	return e.state.AskerOf(found)
}

// asked reports whether a question file is that of a question of the run: ours, or of whichever agent, whose script may
// have escalated it before the syncer told of the file.
func (e *engine) asked(id string) bool {
	return e.state.Questions.Get(id) != nil || len(e.state.FindQuestions(func(q *supervisor.Question) bool {
		return q.File != nil && q.File.ID == id && q.State != checkpoints.QuestionWithdrawn
	})) > 0
}

// works reports whether an agent of the run has a process.
func (e *engine) works() bool {
	return slices.ContainsFunc(e.state.AllAgents(), func(a *supervisor.Agent) bool { return e.state.Live(a.ID) != nil })
}

// lies reports whether an answer lies in the answer file of an id, or may: of a disk that does not answer nobody knows.
func (e *engine) lies(id string) bool {
	there, err := read(&e.disk, func() (bool, error) { return e.fileDrop.Answered(id), nil })
	return there || err != nil
}

// tellUnowned tells of a question file that has come while agents work, and that none has named: perhaps one of theirs
// asks.
func (e *engine) tellUnowned(id string) {
	if !e.works() {
		return
	}
	f, err := e.questionFile(id)
	if err != nil || f.Ours() || e.lies(id) { // one that is answered waits for nobody
		return
	}
	q := f.Asked()[0]
	e.say(notice.Notification{Time: e.Now(), Run: e.run, Type: notice.Progress,
		Text: fmt.Sprintf("a script, perhaps of this run, asks by file: %s\n  %s",
			text.FirstLine(q.Question), view.AnswerCommand(&supervisor.Question{ID: id}))})
}

// fileTaken takes note that a script has its answer, once all that was accepted before is known and under way.
func (e *engine) fileTaken(ctx context.Context, b supervisor.FileGone) error {
	polled := e.state.Polled(b.ID)
	if len(polled) == 0 {
		return nil // it is none of ours
	}
	b.Launch = e.state.Launch(polled[0].Agent).N
	for {
		if err := e.takeInbox(ctx); err != nil {
			return err
		}
		if _, err := e.carryOut(ctx); err != nil {
			return err
		}
		if e.tookAnother(b, polled[0].ID) {
			return nil
		}
		err := e.once(ctx, []happening{{event: &supervisor.Happened{At: e.Now(), Event: b}}})
		if !errors.Is(err, checkpoints.ErrInboxMoved) {
			return err
		}
	}
}

// tookAnother reports whether the answer that was dropped for a script lies there still, though the script has one: it
// took what somebody else had put there before. What becomes of ours is known at the end of the turn, by reclaim.
func (e *engine) tookAnother(b supervisor.FileGone, question string) bool {
	q := e.state.Questions.Get(question)
	ours := prompts.InLine(prompts.AnswersInOne(e.state.Group(q.Group)))
	return q.File.Drop != "" && (b.Answer == "" || b.Answer == ours) && e.lies(b.ID)
}

// scriptsOf returns the first question of each file in which a script of an agent waits for its answer.
func (e *engine) scriptsOf(agent string) []*supervisor.Question {
	return e.state.FindQuestions(func(q *supervisor.Question) bool {
		return q.Agent == agent && q.Index == 0 && q.WaitsForFile()
	})
}

// taken takes note of which of these answers scripts have taken, before the turn or the process ends that ran them. The
// syncer would tell of it, but perhaps after the end; or never, where nobody kept the file drop at the time.
func (e *engine) taken(ctx context.Context, waiting []*supervisor.Question) error {
	if e.fileDrop == nil {
		return nil
	}
	for _, q := range waiting {
		id := q.File.ID
		if _, err := e.questionFile(id); !errors.Is(err, fs.ErrNotExist) || e.lies(id) {
			continue
		}
		answer := ""
		if q.File.Drop == "" { // else what was seen may have made room for ours
			answer, _ = e.fileDrop.Saw(id)
		}
		if err := e.fileTaken(ctx, supervisor.FileGone{ID: id, Answer: answer}); err != nil {
			return err
		}
	}
	return nil
}

// names looks in what an agent says for the ids of question files that nobody owns yet.
func (e *engine) names(ctx context.Context, c *child, said string) error {
	for _, id := range slices.Sorted(maps.Keys(e.unowned)) {
		if filedrop.NamesID(said, id) {
			if err := e.ownFile(ctx, c.Agent, c.Launch, id, e.asker(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ownFile makes a question file the question of an agent whose process, the asker's, has put it there, or whose stream
// names it.
func (e *engine) ownFile(ctx context.Context, agent string, launch int, id, asker string) error {
	f, err := e.questionFile(id)
	if err != nil {
		e.log.Info().Err(err).Str("id", id).Msg("question file")
		return nil
	}
	delete(e.unowned, id)
	if e.asked(id) {
		return nil
	}
	found := e.fileFound(agent, launch, f)
	found.Ran = asker == agent
	for _, lost := range e.lostFiles(found, f) {
		if err := e.apply(ctx, lost); err != nil {
			return err
		}
	}
	return e.apply(ctx, found)
}

// fileFound is what a question file asks of an agent.
func (e *engine) fileFound(agent string, launch int, f *filedrop.QuestionFile) supervisor.FileFound {
	sig := f.Signal(signals.Signal{
		Kind: signals.Clarification, Dialect: signals.Escalated, AgentID: agent,
		Fields: []signals.Field{{Name: "question_id", Value: f.ID}},
	})
	kind, qs := supervisor.ParseQuestions(sig)
	return supervisor.FileFound{Agent: agent, Launch: launch,
		Named: supervisor.Named{Signal: sig, Naming: e.naming(agent, kind, qs, "")}}
}

// lostFiles finds the question files that nobody owns and in which the script of an earlier process of the agent has
// asked the same: it ended before it was known whose they are. A file is taken for one only if it was written while
// such a process lived, and no other process than the agent's asks that.
func (e *engine) lostFiles(again supervisor.FileFound, f *filedrop.QuestionFile) []supervisor.FileFound {
	var lost []supervisor.FileFound
	for _, id := range slices.Sorted(maps.Keys(e.unowned)) {
		before, err := e.questionFile(id)
		if err != nil || before.Ours() || !before.AsksTheSame(f) || !e.state.Lived(again.Agent, before.WrittenAt) ||
			e.othersAsk(again.Agent, before) {
			continue
		}
		delete(e.unowned, id)
		found := e.fileFound(again.Agent, again.Launch, before)
		found.Ran, found.Lost = again.Ran, true
		if answer, _ := e.fileDrop.Saw(id); e.lies(id) {
			found.Answer = e.answers(found, answer)
		}
		lost = append(lost, found)
	}
	return lost
}

// othersAsk reports whether a process that is not the agent's may have put a question file there.
func (e *engine) othersAsk(agent string, f *filedrop.QuestionFile) bool {
	found, err := read(&e.disk, func() ([]records.Asker, error) { return e.fileDrop.Askers(f) })
	return err != nil || slices.ContainsFunc(found, func(a records.Asker) bool {
		return a.Asks && (a.Run != e.run || a.Agent != agent)
	})
}

// answers returns what a line of text answers to the question of a script; "" if it is no answer.
func (e *engine) answers(found supervisor.FileFound, line string) string {
	kind, qs := supervisor.ParseQuestions(found.Signal)
	if line == "" || len(qs) != 1 {
		return ""
	}
	q := ask.Question(kind, qs[0])
	q.Run, q.Agent, q.File = e.run, found.Agent, &checkpoints.FileAsked{ID: found.Signal.Field("question_id")}
	value, _ := e.judge(q, line)
	return value
}

// questionFile reads a question file by its id.
func (e *engine) questionFile(id string) (*filedrop.QuestionFile, error) {
	if e.fileDrop == nil {
		return nil, errors.New("the folder of question files cannot be used")
	}
	return read(&e.disk, func() (*filedrop.QuestionFile, error) { return e.fileDrop.Question(id) })
}

// escalated reports whether an id is that of a question file which some agent's script has put there: one that lies
// there still, whether it can be read or not, or was read before. It may be called by any goroutine.
func (e *engine) escalated(id string) bool {
	f, err := e.questionFile(id)
	switch {
	case err == nil:
		return !f.Ours()
	case errors.Is(err, filedrop.ErrBadQuestionFile):
		return true
	}
	return e.fileDrop != nil && e.fileDrop.Knows(id)
}
