package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

// This file is what happens to an answer before the agent reads it: it is stored beside the agent's own state, what the
// agent's snapshot names is looked for, and a command that the person wants to run first is asked about and run.

// unready says why the answers of a group, given by its first question, cannot be said yet; "" if they can.
func (s State) unready(first *Question) string {
	readies := questions.KindOf(first.Kind).Readies()
	switch c := s.further(first); {
	case s.momentDue(first):
		return keepingWork
	case first.Tool != nil && !readies:
		return ""
	case first.File != nil && first.File.Polls:
		return "its script is given the answer"
	case first.File != nil && first.File.Drop != "":
		return "it is looked whether its script has taken the answer"
	case !first.Prepared && (readies || mustLook(first) || first.Kept != nil && first.Kept.Copy != ""):
		return readying
	case c == nil || c.State == checkpoints.QuestionWithdrawn:
		return ""
	case c.State == checkpoints.QuestionOpen || c.State == checkpoints.QuestionAnswered:
		if questions.KindOf(c.Kind).Runs {
			return "asks whether a command may run"
		}
		return "asks: " + text.FirstLine(c.Text)
	case c.Ran != nil && !c.Ran.Done:
		return "a command runs for it: " + c.Context
	}
	return ""
}

// readying is why an answer is not said yet that is stored, or looked through for what it has the agent do.
const readying = "its answer is made ready"

// preparing says why an agent's complete answers cannot be said yet; "" if there are none of the kind.
func (s State) preparing(agent string) string {
	for _, q := range s.FindQuestionsOf(agent, func(q *Question) bool {
		return questions.Unsaid(q) && (!q.Delivering || q.File != nil && (q.File.Polls || q.File.Drop != ""))
	}) {
		if why := s.unready(q); why != "" {
			return why
		}
	}
	return ""
}

// preparation holds an agent back whose complete answers cannot be said yet.
var preparation = concern{
	name:    "preparation",
	decided: (*transition).decideFurther,
	planRun: State.planAnswers,
	tells: func(_, after State, e Event, tell notice.Teller) {
		if e, ok := e.(Prepared); ok && e.Problem != "" {
			tell(notice.Progress, after.Questions.Get(e.Question).Agent,
				notice.Notification{Text: "the answer is not stored with the agent's own state: " + e.Problem, Trouble: true})
		}
	},
	live: func(d *transition, of subject) bool { return d.prepares(of, checkpoints.Running) },
	idle: func(d *transition, of subject) bool { return d.prepares(of, checkpoints.Queued) },
}

func (d *transition) prepares(of subject, as Status) bool {
	why := d.preparing(of.ID)
	if why == "" {
		return false
	}
	if (why == readying || why == keepingWork) && as == checkpoints.Queued {
		why = startedAgain
	}
	d.setStatus(of.Agent, as, why)
	return true
}

// further returns the question that the answer of a stop has led to: whether the command may run that it wants, or what
// it leaves to be said; nil if it has led to none.
func (s State) further(q *Question) *Question {
	led := s.FindQuestionsOf(q.Agent, func(c *Question) bool { return c.Asker == q.ID })
	if len(led) == 0 {
		return nil
	}
	return led[0]
}

// planAnswers plans what the answers of agents need before they are said.
func (s State) planAnswers() []effect.Effect {
	var plan []effect.Effect
	do := func(kind effect.Kind, key string, q *Question) {
		plan = append(plan, effect.Effect{Do: kind, Key: key + " " + q.ID, Agent: q.Agent, Question: q.ID})
	}
	lives := func(q *Question) bool { return !s.Agents.Get(q.Agent).Status.Ended() }
	for _, q := range s.FindPending(func(q *Question) bool { return questions.Unsaid(q) && lives(q) }) {
		if slices.ContainsFunc(s.Group(q.Group),
			func(q *Question) bool { return q.State == checkpoints.QuestionOpen }) {
			continue
		}
		switch {
		case q.File != nil && q.File.Polls:
			if l := s.Live(q.Agent); q.File.Drop == checkpoints.DropBegun && l != nil && l.End == "" {
				do(effect.Drop, "file", q)
			}
		case q.File != nil && q.File.Drop != "":
			do(effect.Reclaim, "file", q)
		case !q.Delivering && !q.Prepared && s.unready(q) != "" && !s.momentDue(q):
			do(effect.Prepare, "prepare", q)
		}
	}
	if s.Run.Leaving == records.LeavingInterrupted {
		return plan
	}
	for _, q := range s.FindPending(func(q *Question) bool {
		return q.Ran != nil && !q.Ran.Done && lives(q) && s.Agents.Get(q.Agent).StopWanted == ""
	}) {
		do(effect.Run, "run", q)
	}
	return plan
}

// unprepare takes back that a group's answers are ready: one of them has changed. What the old one led to is not asked
// any more. A command that was decided about stays so; if it runs already, it runs to its end.
func (d *transition) unprepare(group string) {
	first := d.Questions.Get(group)
	if first == nil || !first.Prepared {
		return
	}
	d.question(group).Prepared = false
	if c := d.further(first); c != nil {
		c = d.question(c.ID)
		if c.Asker = ""; c.State != checkpoints.QuestionDelivered {
			c.State = checkpoints.QuestionWithdrawn
		}
	}
	d.agent(first.Agent).Dequeue(group)
}

// decideFurther takes what a person answered to questions that answers have led to. That a command is about to run is
// saved before it runs, so that it never runs twice.
func (d *transition) decideFurther(agent string) {
	for _, q := range d.FindQuestionsOf(agent, func(q *Question) bool {
		return questions.IsFurther(q) && q.State == checkpoints.QuestionAnswered
	}) {
		q = d.question(q.ID)
		q.State = checkpoints.QuestionDelivered // it needs no words of its own
		if questions.KindOf(q.Kind).Runs && q.Answer == questions.RunIt && !q.Skipped && q.Revoked == "" {
			q.Ran = &checkpoints.Ran{Epoch: d.Run.Epoch}
		}
	}
}

// Prepared says that what an answer needs before it is said is done: it is stored beside the agent's state, what the
// snapshot names was looked for, and where it leads to a further question, that is named.
type Prepared struct {
	Question string   // the first of the group
	Gone     []string // of what the snapshot names
	Hand     string   // where the agent finds its state
	Problem  string   // why the answer could not be stored; it is said all the same

	// What was made under an assumption that the answer contradicts, and what is not known of that.
	Made    []string `json:",omitempty"`
	Unknown string   `json:",omitempty"`
	Naming
}

var _ = kind[Prepared]("prepared")

func (e Prepared) apply(d *transition) error {
	q := d.Questions.Get(e.Question)
	if q.State != checkpoints.QuestionAnswered || q.Delivering || d.Agents.Get(q.Agent).Status.Ended() {
		return unwelcome("the answer of %s is not said any more", q.ID)
	}
	q = d.question(q.ID)
	q.Prepared, q.Gone = true, e.Gone
	q.SetMade(e.Made, e.Unknown)
	if e.Hand != "" {
		kept := *q.Kept
		kept.Hand = e.Hand
		q.Kept = &kept
	}
	if q.Child == "" {
		q.Child = e.Child
	}
	r := questions.Resolve(q)
	if len(e.IDs) != 1 || !r.Asks() || d.further(q) != nil || r.How != questions.RunCommand &&
		d.Config.Policy == conf.Fail {
		return nil // where nobody is asked, the agent decides itself what was left to be said
	}
	kind, asked := ask.Further(r, q, d.Folder(q.Agent))
	asker := q.ID
	d.openQuestions(q.Agent, kind, []signals.Question{asked}, e.Naming,
		func(c *Question) { c.Asker, c.Fingerprint = asker, string(kind)+" "+asker })
	return nil
}

// RanCommand says what came of a command that a person let run.
type RanCommand struct {
	Question string
	Ran      checkpoints.Ran
}

var _ = kind[RanCommand]("ran")

func (e RanCommand) apply(d *transition) error {
	q := d.Questions.Get(e.Question)
	if q.Ran == nil || q.Ran.Done {
		return unwelcome("the command of %s has ended before", q.ID)
	}
	ran := e.Ran
	d.question(q.ID).Ran = &ran
	return nil
}

// distrustCommand asks anew whether a command may run, of what the answer of the stop wants; else nobody is asked.
func (d *transition) distrustCommand(id string) {
	q := d.question(id)
	asker := d.Questions.Get(q.Asker)
	wanted := asker != nil && asker.Agent == q.Agent && questions.Resolve(asker).How == questions.RunCommand
	if asker == nil {
		q.Asker = ""
	}
	if q.Ran != nil {
		if ran := *q.Ran; !ran.Done {
			ran.Done, ran.Exit = true, "it was cut off when its supervisor ended; whether it took effect is not known"
			q.Ran = &ran
		}
		q.State, q.Revoked = checkpoints.QuestionDelivered, unpackedBy
		return
	}
	switch waits := wanted && asker.State == checkpoints.QuestionAnswered && !asker.Delivering; {
	case waits && (q.IsOpen() || questions.Grants(q)) && !d.Agents.Get(q.Agent).Status.Ended():
		d.askAnew(q)
		ask.Reshow(q, ask.Command(questions.Resolve(asker).Words, d.Folder(q.Agent)))
	case q.IsOpen():
		q.State = checkpoints.QuestionWithdrawn
	case questions.Grants(q):
		q.State, q.Revoked = checkpoints.QuestionWithdrawn, unpackedBy
	}
}
