package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
)

// This file is what happens to an answer before the agent reads it: it is stored beside the agent's own state, what the
// agent's snapshot names is looked for, and a command that the person wants to run first is asked about and run.

// unready says why the answers of a group, given by its first question, cannot be said yet; "" if they can.
func (s State) unready(first *Question) string {
	switch c := s.commandOf(first); {
	case first.Tool != nil && first.Kind != checkpoints.AskBlocker:
		return ""
	case first.File != nil && first.File.Polls:
		return "its script is given the answer"
	case first.File != nil && first.File.Drop != "":
		return "it is looked whether its script has taken the answer"
	case !first.Prepared && (first.Kind == checkpoints.AskBlocker || first.Kept != nil && first.Kept.Copy != ""):
		return "its answer is made ready"
	case c == nil || c.State == checkpoints.QuestionWithdrawn:
		return ""
	case c.State == checkpoints.QuestionOpen || c.State == checkpoints.QuestionAnswered:
		return "asks whether a command may run"
	case c.Ran != nil && !c.Ran.Done:
		return "a command runs for it: " + c.Context
	}
	return ""
}

// unsaid reports whether a question is the first of a group of whose answers the agent has not been told all. One of a
// run that has had many is passed over by it before anything is looked up.
func unsaid(q *Question) bool {
	return q.Index == 0 && q.State == checkpoints.QuestionAnswered && q.Kind != checkpoints.AskCommand
}

// preparing says why an agent's complete answers cannot be said yet; "" if there are none of the kind.
func (s State) preparing(agent string) string {
	for _, q := range s.FindQuestionsOf(agent, func(q *Question) bool {
		return unsaid(q) && (!q.Delivering || q.File != nil && (q.File.Polls || q.File.Drop != ""))
	}) {
		if why := s.unready(q); why != "" {
			return why
		}
	}
	return ""
}

// commandOf gives the question whether the command may run that the answer of a stop wants; nil if it wants none.
func (s State) commandOf(q *Question) *Question {
	commands := s.FindQuestionsOf(q.Agent, func(c *Question) bool { return c.Asker == q.ID })
	if len(commands) == 0 {
		return nil
	}
	return commands[0]
}

// planAnswers plans what the answers of agents need before they are said.
func (s State) planAnswers() []Effect {
	var plan []Effect
	do := func(kind EffectKind, key string, q *Question) {
		plan = append(plan, Effect{Do: kind, Key: key + " " + q.ID, Agent: q.Agent, Question: q.ID})
	}
	lives := func(q *Question) bool { return !s.Agents[q.Agent].Status.Ended() }
	for _, q := range s.FindQuestions(func(q *Question) bool { return unsaid(q) && lives(q) }) {
		if slices.ContainsFunc(s.Group(q.Group),
			func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		switch {
		case q.File != nil && q.File.Polls:
			if l := s.Live(q.Agent); q.File.Drop == checkpoints.DropBegun && l != nil && l.End == "" {
				do(DoDrop, "file", q)
			}
		case q.File != nil && q.File.Drop != "":
			do(DoReclaim, "file", q)
		case !q.Delivering && !q.Prepared && s.unready(q) != "":
			do(DoPrepare, "prepare", q)
		}
	}
	if s.Run.Leaving == LeavingInterrupted {
		return plan
	}
	for _, q := range s.FindQuestions(func(q *Question) bool {
		return q.Ran != nil && !q.Ran.Done && lives(q) && s.Agents[q.Agent].StopWanted == ""
	}) {
		do(DoRun, "run", q)
	}
	return plan
}

// unprepare takes back that a group's answers are ready: one of them has changed. A command that the old one wanted is
// not asked about any more. One that was decided about stays so; if it runs already, it runs to its end.
func (d *transition) unprepare(group string) {
	first := d.Questions[group]
	if first == nil || !first.Prepared {
		return
	}
	d.question(group).Prepared = false
	if c := d.commandOf(first); c != nil {
		c = d.question(c.ID)
		if c.Asker = ""; c.State != checkpoints.QuestionDelivered {
			c.State = checkpoints.QuestionWithdrawn
		}
	}
	dequeue(d.agent(first.Agent), group)
}

// decideCommands takes what a person answered to command questions. That a command is about to run is saved before it
// runs, so that it never runs twice.
func (d *transition) decideCommands(agent string) {
	for _, q := range d.FindQuestionsOf(agent, func(q *Question) bool {
		return q.Kind == checkpoints.AskCommand && q.State == checkpoints.QuestionAnswered
	}) {
		q = d.question(q.ID)
		q.State = checkpoints.QuestionDelivered // it needs no words
		if q.Answer == RunIt && !q.Skipped && q.Revoked == "" {
			q.Ran = &checkpoints.Ran{Epoch: d.Run.Epoch}
		}
	}
}

// AnswersInOne gives the answers of a group as one text, for a script that has room for one.
func AnswersInOne(group []*Question) string {
	if len(group) == 1 {
		return AnswerOf(group[0])
	}
	return string(AnswersByID(group))
}

// Prepared says that what an answer needs before it is said is done: it is stored beside the agent's state, what the
// snapshot names was looked for, and where a command is to run first, the question whether it may is named.
type Prepared struct {
	Question string   // the first of the group
	Gone     []string // of what the snapshot names
	Hand     string   // where the agent finds its state
	Problem  string   // why the answer could not be stored; it is said all the same
	Naming
}

var _ = kind[Prepared]("prepared")

func (e Prepared) apply(d *transition) error {
	q := d.Questions[e.Question]
	if q.State != checkpoints.QuestionAnswered || q.Delivering || d.Agents[q.Agent].Status.Ended() {
		return unwelcome("the answer of %s is not said any more", q.ID)
	}
	q = d.question(q.ID)
	q.Prepared, q.Gone = true, e.Gone
	if e.Hand != "" {
		kept := *q.Kept
		kept.Hand = e.Hand
		q.Kept = &kept
	}
	if q.Child == "" {
		q.Child = e.Child
	}
	if r := Resolve(q); r.How == RunCommand && len(e.IDs) == 1 && d.commandOf(q) == nil {
		asker := q.ID
		d.openQuestions(q.Agent, checkpoints.AskCommand,
			[]signals.Question{commandQuestion(r.words, d.Folder(q.Agent))}, e.Naming,
			func(c *Question) { c.Asker, c.Fingerprint = asker, "command "+asker })
	}
	return nil
}

// RanCommand says what came of a command that a person let run.
type RanCommand struct {
	Question string
	Ran      checkpoints.Ran
}

var _ = kind[RanCommand]("ran")

func (e RanCommand) apply(d *transition) error {
	q := d.Questions[e.Question]
	if q.Ran == nil || q.Ran.Done {
		return unwelcome("the command of %s has ended before", q.ID)
	}
	ran := e.Ran
	d.question(q.ID).Ran = &ran
	return nil
}
