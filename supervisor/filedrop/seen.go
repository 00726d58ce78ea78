package filedrop

import (
	"context"
	"errors"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is what a FileDrop makes of what it sees in the folders.

// read takes what was seen in the folders.
func (k *FileDrop) read(ctx context.Context, event Event) {
	q, single := k.named(event.ID)
	switch event.Kind {
	case AnswerFound:
		k.answered(ctx, q, single, event)
	case QuestionFound:
		if q == nil {
			k.send(ctx, supervisor.FileEvent{ID: event.ID})
		}
	case QuestionGone:
		k.questionGone(ctx, q, event)
	case AnswerGone:
		k.answerGone(ctx, q, event)
	case Problem:
		if q != nil && event.Garbled != "" {
			k.reject(ctx, event.ID, event.Garbled+"; save it as UTF-8, or answer with: claude-supervise answer "+q.ID+" VALUE")
			return
		}
		k.mu.Lock()
		k.useless[event.ID] = true
		k.mu.Unlock()
		if q != nil || event.ID == "" {
			k.tell(ctx, event.Problem)
		}
	}
}

// answerGone takes note that an answer file is there no more: its script has it. One that a person has put there
// himself counts once the script has taken its question away, too. A folder that was removed says nothing of what lay
// in it.
func (k *FileDrop) answerGone(ctx context.Context, q *supervisor.Question, event Event) {
	if event.Problem != "" {
		return
	}
	k.see(event.ID, event.Answer) // it may be ours, in the place of one that was seen
	if q != nil && q.File != nil && q.File.Polls && q.File.Drop != "" {
		k.gone(ctx, event.ID)
	}
}

// questionGone takes note that a question's file is there no more: a script that was not given an answer has taken it
// away, with the one that it has found. Ours are put up again for as long as they are open.
func (k *FileDrop) questionGone(ctx context.Context, q *supervisor.Question, event Event) {
	switch {
	case q == nil, q.File != nil && q.File.Polls && q.File.Drop == "" && event.Problem == "":
		k.gone(ctx, event.ID)
		k.see(event.ID, "")
	case questions.Posted(q) && k.up[q.ID]:
		delete(k.up, q.ID)
		k.again.Reset(folderSettles)
	}
}

// named returns the question that a file's id names, and whether it is the only one of its file.
func (k *FileDrop) named(id string) (found *supervisor.Question, single bool) {
	n := 0
	for _, q := range k.questions() {
		if q.ID == id || q.File != nil && q.File.ID == id {
			if n++; found == nil || q.State == checkpoints.QuestionOpen && found.State != checkpoints.QuestionOpen {
				found = q
			}
		}
	}
	return found, n == 1
}

// groupIn returns the questions of the same signal.
func groupIn(all []*supervisor.Question, of *supervisor.Question) (group []*supervisor.Question) {
	for _, q := range all {
		if q.Group == of.Group {
			group = append(group, q)
		}
	}
	return group
}

// answered takes an answer file.
func (k *FileDrop) answered(ctx context.Context, q *supervisor.Question, single bool, event Event) {
	polled := q != nil && q.File != nil && q.File.Polls && q.File.ID == event.ID // else it goes by the question's own id
	switch {
	case q == nil: // another run's, or nobody's yet
		k.see(event.ID, event.Answer)
		return
	case polled && (!single || q.State != checkpoints.QuestionOpen || k.taken(ctx, q, event)):
		k.see(event.ID, event.Answer) // its script takes it
		return
	case q.File != nil && q.State != checkpoints.QuestionOpen &&
		(q.File.Drop != "" || event.Answer == prompts.InLine(prompts.AnswersInOne(groupIn(k.questions(), q)))):
		return // it was put there for the script, and is cleared away once it is known whether that has taken it
	case q.File == nil && !questions.Posted(q):
		k.reject(ctx, event.ID, fmt.Sprintf("a question of %s is not answered by file: claude-supervise answer %s",
			q.Kind, q.ID))
		return
	case !single && q.File != nil && q.State == checkpoints.QuestionOpen:
		k.reject(ctx, event.ID, "its file holds several questions: answer each with claude-supervise answer")
		return
	}
	value, err := k.judge(ctx, q, event.Answer)
	if err == nil && q.State == checkpoints.QuestionOpen {
		err = k.config.Inbox.Answer(ctx, q.ID, value)
	} else if err == nil {
		err = fmt.Errorf("question %s is %s already", q.ID, q.State)
		if q.AnsweredBy == supervisor.ByFile && q.Answer == value {
			err = nil // the supervisor died between taking it and clearing it away
		}
	}
	var taken *checkpoints.TakenError
	if errors.As(err, &taken) && taken.By == supervisor.ByFile && taken.Answer == value {
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		return // it lies there for the next supervisor
	}
	if err != nil {
		k.reject(ctx, event.ID, err.Error())
		return
	}
	if !polled { // else the answer itself takes its place there
		k.trouble(ctx, event.ID, k.Consume(event.ID))
	}
}

// judge returns what the text of an answer file answers.
func (k *FileDrop) judge(ctx context.Context, q *supervisor.Question, text string) (string, error) {
	at, err := k.config.Inbox.PlaceOf(ctx, q)
	if err != nil {
		return "", err
	}
	return questions.Judge(q, text, at)
}

// taken reports whether a script may take an answer as it stands in its file.
func (k *FileDrop) taken(ctx context.Context, q *supervisor.Question, event Event) bool {
	value, err := k.judge(ctx, q, event.Answer)
	return err == nil && value == event.Answer && !event.Differs
}

// reject says why an answer file is of no use, there and to who watches the run.
func (k *FileDrop) reject(ctx context.Context, id, why string) {
	k.tell(ctx, fmt.Sprintf("the answer file %s.txt was not taken: %s", id, why))
	k.trouble(ctx, id, k.Reject(id, why))
}

func (k *FileDrop) send(ctx context.Context, n supervisor.FileEvent) {
	select {
	case k.config.News <- n:
	case <-ctx.Done():
	}
}

func (k *FileDrop) trouble(ctx context.Context, id string, err error) {
	text := ""
	if err != nil {
		text = fmt.Sprintf("the files of question %s: %v", id, err)
	}
	if text != "" && text != k.told[id] { // it is tried again whenever something happens
		k.tell(ctx, text)
	}
	k.told[id] = text
}

// tell tells who watches the run, while there is a supervisor to do so.
func (k *FileDrop) tell(ctx context.Context, text string) {
	k.config.Log.Warn().Msg(text)
	k.send(ctx, supervisor.FileEvent{Told: text})
}
