package supervisor

import (
	"context"
	"errors"
	"fmt"

	"claude-supervise/checkpoints"
)

// This file is what a doorkeeper makes of what it sees in the folders.

// hear takes what was seen in the folders.
func (k *doorkeeper) hear(ctx context.Context, event checkpoints.DoorEvent) {
	q, single := k.named(event.ID)
	switch event.Kind {
	case checkpoints.DoorAnswer:
		k.answered(ctx, q, single, event)
	case checkpoints.DoorQuestion:
		if q == nil {
			k.send(ctx, fileNews{id: event.ID})
		}
	case checkpoints.DoorQuestionGone:
		k.questionGone(ctx, q, event)
	case checkpoints.DoorAnswerGone:
		k.answerGone(ctx, q, event)
	case checkpoints.DoorProblem:
		k.mu.Lock()
		k.useless[event.ID] = true
		k.mu.Unlock()
		if q != nil || event.ID == "" {
			k.tell(ctx, event.Problem)
		}
	}
}

// answerGone takes note that an answer file is there no more: its script has it. One that a person has put there himself counts
// once the script has taken its question away, too. A folder that was removed says nothing of what lay in it.
func (k *doorkeeper) answerGone(ctx context.Context, q *Question, event checkpoints.DoorEvent) {
	if event.Problem != "" {
		return
	}
	k.see(event.ID, event.Answer) // it may be ours, in the place of one that was seen
	if q != nil && q.File != nil && q.File.Polls && q.File.Drop != "" {
		k.gone(ctx, event.ID)
	}
}

// questionGone takes note that a question's file is there no more: a script that was not given an answer has taken it away,
// with the one that it has found. Ours are put up again for as long as they are open.
func (k *doorkeeper) questionGone(ctx context.Context, q *Question, event checkpoints.DoorEvent) {
	switch {
	case q == nil, q.File != nil && q.File.Polls && q.File.Drop == "" && event.Problem == "":
		k.gone(ctx, event.ID)
		k.see(event.ID, "")
	case posted(q) && k.up[q.ID]:
		delete(k.up, q.ID)
		k.again.Reset(folderSettles)
	}
}

// named gives the question that a file's id names, and whether it is the only one of its file.
func (k *doorkeeper) named(id string) (found *Question, single bool) {
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

// group gives the questions of the same signal, as they were saved last.
func (k *doorkeeper) group(of *Question) []*Question {
	return groupIn(k.questions(), of)
}

func groupIn(all []*Question, of *Question) (group []*Question) {
	for _, q := range all {
		if q.Group == of.Group {
			group = append(group, q)
		}
	}
	return group
}

// answered takes an answer file.
func (k *doorkeeper) answered(ctx context.Context, q *Question, single bool, event checkpoints.DoorEvent) {
	switch {
	case q == nil, // another run's, or nobody's yet
		q.File != nil && q.File.Polls:
		k.see(event.ID, event.Answer) // its script takes it
		return
	case q.File != nil && q.State != checkpoints.QuestionOpen && (q.File.Drop != "" || event.Answer == inLine(answersInOne(k.group(q)))):
		return // it was put there for the script, and is cleared away once it is known whether that has taken it
	case q.File == nil && !posted(q):
		k.reject(ctx, event.ID, fmt.Sprintf("a question of %s is not answered by file: claude-supervise answer %s", q.Kind, q.ID))
		return
	case !single && q.File != nil && q.State == checkpoints.QuestionOpen:
		k.reject(ctx, event.ID, "its file holds several questions: answer each with claude-supervise answer")
		return
	}
	value, err := k.choose(q, event.Answer)
	if err == nil && q.State == checkpoints.QuestionOpen {
		err = k.client.Answer(ctx, q.ID, Answer{Text: value, By: byFile})
	} else if err == nil {
		err = fmt.Errorf("question %s is %s already", q.ID, q.State)
		if q.AnsweredBy == byFile && q.Answer == value {
			err = nil // the supervisor died between taking it and clearing it away
		}
	}
	var taken *checkpoints.TakenError
	if errors.As(err, &taken) && taken.By == byFile && taken.Answer == value {
		err = nil
	}
	if err != nil && ctx.Err() != nil {
		return // it lies there for the next supervisor
	}
	if err != nil {
		k.reject(ctx, event.ID, err.Error())
		return
	}
	k.trouble(ctx, event.ID, k.door.Consume(event.ID))
}

// reject says why an answer file is of no use, there and to who watches the run.
func (k *doorkeeper) reject(ctx context.Context, id, why string) {
	k.tell(ctx, fmt.Sprintf("the answer file %s.txt was not taken: %s", id, why))
	k.trouble(ctx, id, k.door.Reject(id, why))
}

func (k *doorkeeper) send(ctx context.Context, n fileNews) {
	select {
	case k.news <- n:
	case <-ctx.Done():
	}
}

func (k *doorkeeper) trouble(ctx context.Context, id string, err error) {
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
func (k *doorkeeper) tell(ctx context.Context, text string) {
	k.log.Warn().Msg(text)
	k.send(ctx, fileNews{told: text})
}
