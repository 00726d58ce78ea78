package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor/questions"
)

// given is an answer on its way to a hook, a line of JSON.
type given struct {
	Question string `json:"question"`
	Given
}

// Given is an answer that a person gives.
type Given struct {
	Answer  string `json:"answer"`
	Decline bool   `json:"decline"`
	Skip    bool   `json:"skip"`
	By      string `json:"by"`
}

// taken is what the hook says to it.
type taken struct {
	OK      bool             `json:"ok"`
	Refused string           `json:"refused"`     // why it is no answer
	Reason  questions.Reason `json:"reason"`      // that of a *questions.Refusal
	Gone    bool             `json:"gone"`        // ErrGone
	Agent   string           `json:"agent"`       // why it is not a person's
	Answer  string           `json:"answer"`      // that it has already
	By      string           `json:"answered_by"` // whose that is
}

// An AgentError says that an answer was not taken, for it comes from below a claude.
type AgentError struct{ Why string }

// Error says what to do.
func (e *AgentError) Error() string {
	return "an agent does not answer for a session: " + e.Why + ". Answer on a terminal of your own that no claude has " +
		"started, on its screen, or on the page"
}

// patience is how long an answer may be on its way between two processes of this machine.
const patience = 10 * time.Second

// ErrGone means that nobody waits for an answer any more.
var ErrGone = errors.New("nobody waits for its answer here any more")

// Give gives a question of an ask that is open its answer. It returns once the hook has kept it and told claude. A
// *TakenError says whose the first was, an *AgentError that it was not taken, a *questions.Refusal that it is none.
func Give(ctx context.Context, d checkpoints.Dirs, a *Ask, question string, with Given) error {
	if why := Below(ctx); why != "" {
		return &AgentError{why}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", a.Socket)
	if err != nil {
		return fmt.Errorf("question %s: %w", question, ErrGone)
	}
	defer func() { _ = conn.Close() }() // all was said
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	var t taken
	err = json.NewEncoder(conn).Encode(given{question, with})
	if err == nil {
		err = json.NewDecoder(conn).Decode(&t)
	}
	switch {
	case err != nil && kept(d, a.ID, question, with):
		return nil // its hook was ended as soon as claude had the answer
	case err != nil:
		return fmt.Errorf("question %s: %w", question, errors.Join(ErrGone, err))
	case t.OK:
		return nil
	case t.Agent != "":
		return &AgentError{t.Agent}
	case t.By != "":
		return &TakenError{ID: question, Answer: t.Answer, By: t.By}
	case t.Gone:
		return fmt.Errorf("question %s: %w", question, ErrGone)
	case t.Reason != "":
		return &questions.Refusal{Reason: t.Reason, Message: t.Refused}
	}
	return errors.New(t.Refused)
}

// kept reports whether a question has this very answer, and claude has been there to take it.
func kept(d checkpoints.Dirs, id, question string, with Given) bool {
	a, err := load(d, id)
	if err != nil {
		return false
	}
	a.conclude(d)
	q := a.question(question)
	return q != nil && q.State == checkpoints.QuestionAnswered && q.Answer == with.Answer && q.AnsweredBy == with.By
}

// reply makes what is said to an answer that was refused with this error, or taken.
func reply(err error) taken {
	var refused *questions.Refusal
	var before *TakenError
	var agent *AgentError
	switch {
	case err == nil:
		return taken{OK: true}
	case errors.Is(err, ErrGone):
		return taken{Gone: true}
	case errors.As(err, &agent):
		return taken{Agent: agent.Why}
	case errors.As(err, &before):
		return taken{Answer: before.Answer, By: before.By}
	case errors.As(err, &refused):
		return taken{Refused: refused.Message, Reason: refused.Reason}
	}
	return taken{Refused: err.Error()}
}

// fromAPerson refuses what comes from below a claude, and from who has gone before that could be told.
func fromAPerson(c *net.UnixConn) error {
	who, err := procs.PeerOf(c)
	if err != nil {
		return &AgentError{"who answers cannot be told (" + err.Error() + ")"}
	}
	if why := procs.BelowClaude(who.PID); why != "" {
		return &AgentError{why}
	}
	if !who.Alive() { // what was looked at may have been another
		return &AgentError{"who answers is gone"}
	}
	return nil
}

// Below says why this process, or whose request it answers (From), counts as one that a claude has started, and so
// answers for no session; "": neither does.
func Below(ctx context.Context) string {
	if why := procs.BelowClaude(procs.This().PID); why != "" {
		return why
	}
	if from, is := ctx.Value(connection{}).([2]netip.AddrPort); is {
		return procs.BelowClaudeOver(from[0], from[1])
	}
	return ""
}

type connection struct{}

// From returns a context of what is done for who has sent a request by TCP, to this address of this process.
func From(ctx context.Context, who string, to net.Addr) context.Context {
	from, err := netip.ParseAddrPort(who)
	at, is := to.(*net.TCPAddr)
	if err != nil || !is {
		return ctx
	}
	return context.WithValue(ctx, connection{}, [2]netip.AddrPort{from, at.AddrPort()})
}
