package view

import (
	"context"
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/filedrop"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/sessions"
)

// A SessionView is the session, of an ordinary claude that nobody supervises, that asks a question.
type SessionView struct {
	ID     string `json:"id"` // claude's own
	Cwd    string `json:"cwd"`
	Screen string `json:"screen"` // the terminal on which it asks, too; "": it has none
	PID    int    `json:"pid"`    // 0: it has ended
	Tool   string `json:"tool"`
	State  string `json:"state"` // as package sessions has it

	Suggested string `json:"suggested"` // of a permission: what claude would permit for good; "": nothing

	program string
	shown   bool // it is answered on its screen alone
	far     bool // on another machine
}

// Ended reports whether there is a session which has ended while it asked: an answer has a run take it up.
func (s *SessionView) Ended() bool { return s != nil && s.State == string(sessions.Ended) }

// Answerable reports whether its question is answered here, too, while it asks.
func (s *SessionView) Answerable() bool { return !s.shown }

// Where says for people where a session is.
func (s SessionView) Where() string {
	switch {
	case s.far:
		return "a session on another machine"
	case s.PID == 0:
		return "a session that has ended"
	case s.Screen == "" && s.program != "" && s.program != "cli" && s.program != "sdk-cli": // those are claude -p
		return "a session of " + s.program
	case s.Screen == "":
		return "a session without a screen"
	}
	return "a session on " + s.Screen
}

// SessionQuestions returns the questions of outside sessions that a person can answer, the oldest first. What cannot be
// read is left out, and what is a run's by now. m may be nil.
func (r Reader) SessionQuestions(ctx context.Context, m *sessions.Memory) []QuestionView {
	all, err := sessions.All(r.Dirs, m)
	if err != nil {
		return nil
	}
	var open []QuestionView
	for _, a := range all {
		if !a.Waiting() || a.State == sessions.Ended && r.takenUp(ctx, a) {
			continue
		}
		for _, q := range a.Questions {
			if q.State == checkpoints.QuestionOpen {
				open = append(open, OfSession(a, q))
			}
		}
	}
	return open
}

// OfNoRun returns the open questions of no run: by file, and of outside sessions. problems says which files cannot be
// read, and err that none can; neither keeps the others from being returned. m may be nil.
func (r Reader) OfNoRun(ctx context.Context, m *sessions.Memory) (open []QuestionView, problems []string, err error) {
	byFile, problems, err := filedrop.Unowned(ctx, r.Store)
	for _, q := range byFile {
		open = append(open, View(q))
	}
	return append(open, r.SessionQuestions(ctx, m)...), problems, err
}

// takenUp reports whether a run has the questions of an ask: it has their ids.
func (r Reader) takenUp(ctx context.Context, a *sessions.Ask) bool {
	_, err := Question(ctx, r.Store, a.ID)
	return err == nil
}

// SessionQuestion returns a question of an outside session by its id, whatever became of it.
func SessionQuestion(d checkpoints.Dirs, id string) (QuestionView, bool) {
	a, q := sessions.Find(d, id)
	if q == nil {
		return QuestionView{}, false
	}
	return OfSession(a, q), true
}

// ViewIn is View, of a session's question, too.
func ViewIn(d checkpoints.Dirs, q *checkpoints.Question) QuestionView {
	if q.Run == "" {
		if v, is := SessionQuestion(d, q.ID); is {
			return v
		}
	}
	return View(q)
}

// OfSession returns a question of an outside session as it is shown.
func OfSession(a *sessions.Ask, q *checkpoints.Question) QuestionView {
	v := View(q)
	s := SessionView{ID: a.Session, Cwd: a.Cwd, Screen: a.Screen, Tool: a.Tool, State: string(a.State), Suggested: q.Rule,
		shown: a.Mode == sessions.ModeNotify || a.Far(), far: a.Far(), program: a.Program}
	if !s.far && a.Claude.Alive() {
		s.PID = a.Claude.PID
	}
	v.Session, v.RunName, v.Cwd, v.AllowRule = &s, s.Where(), a.Cwd, ""
	if a.Agent != "" {
		v.Asker = &AskerView{ID: a.Agent, Type: a.AgentType, Depth: 1}
	}
	switch {
	case s.far && a.Waiting():
		v.AnswerCommand, v.Remark = "", "it is asked on another machine, and answered there"
	case a.State == sessions.Ended:
		v.Remark = "its session ended while it asked; an answer has it go on without a screen"
		v.AnswerCommand += " --resume"
		v.Options = slices.DeleteFunc(slices.Clone(v.Options), func(o checkpoints.Option) bool {
			return q.Rule != "" && o.Label == questions.AllowRun // nothing is permitted for good in a session that is no more
		})
	case a.State == sessions.OnScreen && a.Server != "":
		v.State, v.Remark = checkpoints.QuestionWithdrawn, "its screen decides, or its session is gone"
	case a.State == sessions.OnScreen && q.AnsweredAt != nil:
		v.State, v.Remark = checkpoints.QuestionWithdrawn, "its screen was faster; this answer did not count"
	case a.State == sessions.OnScreen:
		v.State, v.Remark = checkpoints.QuestionWithdrawn, "answered or turned down on its screen"
	case a.State == sessions.Withdrawn:
		v.State, v.Remark = checkpoints.QuestionWithdrawn, "nobody waits for an answer here; its screen decides"
	case a.State == sessions.Answered && v.State == checkpoints.QuestionAnswered:
		v.State = checkpoints.QuestionDelivered
	case a.Mode == sessions.ModeNotify: // of one that waits
		v.AnswerCommand, v.Remark = "", "it is answered on its screen alone"
	}
	if v.State == checkpoints.QuestionWithdrawn {
		v.AnswerCommand = ""
	}
	return v
}
