package supervisor

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

func (d *transition) turnBegun(b TurnBegun) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
		l.Turn, l.Begun, l.TurnDue, l.StopAllowed, l.BackgroundEndUnreported, l.ReportWaived, l.Version = true, true, false, false, false, false, b.Version
	})
}

func (d *transition) turnEnded(b TurnEnded, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	l, a := d.last(b.Agent), d.agent(b.Agent)
	d.billed(a, l, b)
	if d.Execs() {
		return nil // its turn ends with the process, whose exit tells how
	}
	l.TurnDue = l.TurnDue || l.BackgroundEndUnreported
	if len(l.Background) == 0 {
		d.clientsGone(a.ID, at)
	}
	l.Turn, l.StopAllowed, l.BackgroundEndUnreported, l.Gate = false, false, false, nil
	if endsByItself(b.Failure) {
		return nil
	}
	l.Turns++
	switch {
	case b.Failure.Kind == "":
		a.Failures, a.Rejected = 0, 0
	case l.End == endBudget, l.End == "" && byOurBound(l, b):
		a.GoOn = true
		d.end(a.ID, endBudget, b.Failure.Reason)
	case l.End != "":
	case IsLimit(b.Failure):
		d.rejected(a, b.Failure.Reason, b.Resets, at)
	default:
		d.failure(a, b.Failure, at)
	}
	return nil
}

// endsByItself tells a failure after which the process exits by itself, and which its end is judged by.
func endsByItself(f procs.Failure) bool {
	return f.Kind == procs.SessionGone || f.Kind == procs.SessionTaken || f.Kind == procs.RefusedFlag
}

func (d *transition) gateAsked(b GateAsked, at time.Time) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
		l.Background, l.WakeUps, l.Transcript = b.Background, b.WakeUps, b.Transcript
		l.Gate = &checkpoints.Gate{Request: b.Request}
		l.StopAllowed, l.BackgroundEndUnreported = true, b.Untold
		if len(b.Background) == 0 {
			d.clientsGone(b.Agent, at)
		}
		a := d.Agents[b.Agent]
		if b.Report || b.Ask || a.Report != nil || a.ReportRequested || a.StopWanted != "" || l.End != "" || len(b.Background)+len(b.WakeUps) > 0 {
			return
		}
		undelivered := d.FindDeliveries(a.ID, func(v *Delivery) bool { return v.State == checkpoints.DeliveryPending })
		if l.ReportWaived = len(d.waitsFor(a.ID)) > 0 || len(d.Open(a.ID)) > 0 || d.preparing(a.ID) != "" ||
			len(a.Outbox) > 0 || len(undelivered) > 0; l.ReportWaived {
			return
		}
		d.agent(a.ID).ReportRequested = true
		l.Gate.Block = gateReason(a.ID)
		l.StopAllowed, l.BackgroundEndUnreported = false, false
	})
}

func (d *transition) gateReplied(b GateReplied) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
		if l.Gate != nil && l.Gate.Request == b.Request {
			l.Gate = nil
		}
	})
}

func (d *transition) heard(b Heard, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	return d.signal(b.Agent, b.Named, at)
}

// signal takes what an agent says of its work.
func (d *transition) signal(agent string, n Named, at time.Time) error {
	a, l := d.agent(agent), d.Launch(agent)
	switch n.Signal.Kind {
	case signals.Completion, signals.WorkflowComplete:
		a.Report = report(n.Signal)
	case signals.Clarification:
		return d.ask(agent, n, at)
	case signals.Stop:
		if n.Signal.Field("stop_reason") == "completion" {
			return d.stoppedComplete(a, l, at)
		}
		return d.ask(agent, n, at)
	case signals.Delegate:
		return d.delegate(a, n, nil, at)
	case signals.Progress:
		a.Progress = progress(n.Signal, at)
	case signals.Message:
		d.pass(a, nil, n.Signal, fmt.Sprintf("message %d.%d %.12s", l.N, l.Turns, n.Signal.Fingerprint()), at)
	default:
		return unwelcome("%s changes nothing", n.Signal.Kind)
	}
	return nil
}

// ask opens the questions of a text signal, unless they are already open or their answer is not yet delivered.
func (d *transition) ask(agent string, n Named, at time.Time) error {
	fp := fingerprint(n.Signal)
	if same := d.FindQuestionsOf(agent, func(q *Question) bool {
		return q.Fingerprint == fp && q.Tool == nil && (q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered)
	}); len(same) > 0 {
		if q := same[0]; q.File != nil && q.File.Polls {
			return d.escalate(d.Group(q.Group), n)
		}
		return unwelcome("the same signal as question %s", same[0].ID)
	}
	doc := text.JSON(n.Signal)
	kind, qs := ParseQuestions(n.Signal)
	var file *checkpoints.FileAsked
	if n.Signal.Dialect == signals.Escalated {
		file = &checkpoints.FileAsked{ID: n.Signal.Field("question_id")}
	}
	d.openQuestions(agent, kind, qs, n.Naming, at, func(q *Question) {
		q.Fingerprint, q.Signal, q.File = fp, doc, file
		if q.Index == 0 {
			d.leftState(q, n.Kept)
		}
	})
	return nil
}

// leftState takes note of the checkpoint that a signal names. Where it cannot be used, the person is told.
func (d *transition) leftState(q *Question, kept *checkpoints.Kept) {
	switch {
	case kept == nil:
	case kept.Copy != "":
		q.Kept, d.agent(q.Agent).Kept = kept, kept
	default:
		q.Kept = kept
		q.Context = strings.TrimSpace(q.Context + "\nIts checkpoint cannot be used: " + kept.Problem + ".\nAnswered, it goes on without it.")
	}
}

// fingerprint is the same for the same signal sent again. That of an escalation is its id: its file may have moved.
func fingerprint(s signals.Signal) string {
	if s.Dialect == signals.Escalated {
		return "escalated " + s.Field("question_id")
	}
	return s.Fingerprint()
}

// stoppedComplete takes a stop that says the work is complete: without a report it is not, and one is asked for, once.
func (d *transition) stoppedComplete(a *Agent, l *Launch, at time.Time) error {
	if a.Report != nil || a.ReportRequested || d.Execs() {
		return unwelcome("the work of %s is known to be complete", a.ID)
	}
	a.ReportRequested = true
	wantReport(a, l, "You stopped because the work is complete.", at)
	return nil
}

// surveyed takes what was found of a launch that has ended, and hears what was not heard of it.
func (d *transition) surveyed(b Surveyed, at time.Time) error {
	a := d.agent(b.Agent)
	a.Checkpoint = b.Checkpoint
	if err := d.onEnded(b.Agent, b.Launch, func(l *Launch) { l.Surveyed = true }); err != nil {
		return err
	}
	d.lookedUp(b.Subagents)
	if a.Status.Ended() {
		return nil // stopped or failed meanwhile: nobody answers it any more; revived, it is told to go on
	}
	for _, n := range b.Unheard {
		if err := d.signal(b.Agent, n, at); err != nil && !errors.Is(err, ErrUnwelcome) {
			return err
		}
	}
	if b.Whole {
		a.GoOn = false
		return d.onEnded(b.Agent, b.Launch, func(l *Launch) { l.Turns++ })
	}
	return nil
}

func (d *transition) asked(b Asked, at time.Time) error {
	l, err := d.current(b.Agent, b.Launch)
	if err != nil {
		return err
	}
	if d.knowsRequest(l, b.Call.Request) {
		return unwelcome("request %s again", b.Call.Request)
	}
	fp := FingerprintOf(b.Call)
	if v, ok := d.unasked(b, l, fp); ok {
		d.begin(d.agent(b.Agent), l, v, at)
		return nil
	}
	d.openQuestions(b.Agent, b.Kind, b.Questions, b.Naming, at, func(q *Question) {
		call := b.Call
		q.Fingerprint, q.Tool, q.Rule = fp, &call, b.Rule
	})
	return nil
}

// unasked gives what a call is answered that nobody is asked about; not ok if a person is.
func (d *transition) unasked(b Asked, l *Launch, fingerprint string) (v delivering, ok bool) {
	call := b.Call
	answer := func(why string, r json.RawMessage) (delivering, bool) {
		return delivering{key: fmt.Sprintf("%s %d %s", why, l.N, call.Request), tool: &call, reply: r}, true
	}
	switch {
	case b.Refused != "":
		return answer("refused", text.JSON(Reply{Behavior: Deny, Message: b.Refused}))
	case b.Kind != checkpoints.AskPermission:
		return v, false
	case d.Config.Permissions == DenyPermissions:
		return answer("denied", text.JSON(Reply{Behavior: Deny, Message: permissionsDenied}))
	}
	if g := d.grant(b.Agent, fingerprint, b.Rule); g != nil {
		d.question(g.ID).GrantSpent = true
		return delivering{key: "grant " + g.ID, grant: g.ID, tool: &call, reply: toolReply(&call, []*Question{g})}, true
	}
	if d.permitted(b.Rule, b.Agent) != "" {
		return answer("by rule", text.JSON(Reply{Behavior: Allow, UpdatedInput: call.Input}))
	}
	return v, false
}

// FingerprintOf is the same for the same call made again: the same tool, and the same input to the byte.
func FingerprintOf(call checkpoints.ToolCall) string {
	return fmt.Sprintf("%s %x", call.Name, sha256.Sum256(call.Input))
}

// grant finds a permission that was given after its call was gone, for exactly this tool and input, and of which the
// agent was told. It is good for one call: without it a parked agent would ask for ever. The rule differs where the path has
// become a link, or one no more, and leads to another file than the person has seen.
func (d *transition) grant(agent, fingerprint, rule string) *Question {
	for _, q := range d.FindQuestionsOf(agent, func(q *Question) bool {
		return q.Kind == checkpoints.AskPermission && q.Fingerprint == fingerprint && q.Rule == rule &&
			allowed(q) && !q.GrantSpent
	}) {
		for _, v := range d.FindDeliveries(agent, func(v *Delivery) bool {
			return v.State == checkpoints.DeliveryDelivered || waitsForReceipt(v)
		}) {
			if v.Tool == nil && slices.Contains(v.Groups, q.Group) {
				return q
			}
		}
	}
	return nil
}

// OpenQuestions makes the questions of one signal or call, and answers those that were answered in advance.
func (d *transition) openQuestions(agent string, kind checkpoints.QuestionKind, qs []signals.Question, n Naming,
	at time.Time, more func(*Question)) {
	if len(qs) == 0 || len(n.IDs) < len(qs) {
		panic(fmt.Sprintf("supervisor: %d ids for %d questions", len(n.IDs), len(qs)))
	}
	group, presets := n.IDs[0], make([]Preset, len(qs))
	copy(presets, n.Presets)
	var later source
	for i, asked := range qs {
		q := NewQuestion(kind, asked)
		q.ID, q.Run, q.Agent, q.Group, q.Index, q.AskedAt = n.IDs[i], d.Run.ID, agent, group, i, at
		q.Who = d.Who(agent)
		more(q)
		if i > 0 {
			later.of(q)
		} else if len(qs) > 1 {
			later = sourceOf(q).small()
		}
		d.addQuestion(q)
	}
	for _, q := range d.Group(group) {
		if p := presets[q.Index]; p.Value != "" {
			d.answer(InboxEntry{Question: q.ID, Value: p.Value, By: p.Origin(), At: at})
		} else if as := d.answeredLike(q); as != nil {
			d.answerLike(q, as)
		} else if d.Config.Policy == Fail {
			d.refuse(q)
			return
		}
	}
}

// refuse fails an agent because it asks, under --on-question fail.
func (d *transition) refuse(q *Question) {
	if q.Kind == checkpoints.AskBudget {
		d.refuseBudget(q)
		return
	}
	d.fail(q.Agent, "question", "asked a question, and questions are refused: "+text.FirstLine(q.Text))
}

// askCancelled takes note that nobody waits in a call any more. What is answered already is said by a prompt instead.
func (d *transition) askCancelled(b AskCancelled) error {
	found := false
	for _, q := range d.FindQuestionsOf(b.Agent, func(q *Question) bool {
		return q.Tool != nil && q.Tool.Launch == b.Launch && q.Tool.Request == b.Request
	}) {
		switch q.State {
		case checkpoints.QuestionOpen:
			d.question(q.ID).State = checkpoints.QuestionWithdrawn
		case checkpoints.QuestionAnswered:
			call := *q.Tool
			call.Launch = 0 // no process waits in it
			d.question(q.ID).Tool = &call
		default:
			continue
		}
		found = true
	}
	for _, v := range d.FindDeliveries(b.Agent, func(v *Delivery) bool {
		return v.Tool != nil && v.Tool.Launch == b.Launch && v.Tool.Request == b.Request && undelivered(v)
	}) {
		d.drop(v.UUID)
		found = true
	}
	if l := d.Live(b.Agent); l != nil && l.N == b.Launch && ReplyAt(l, b.Request) >= 0 {
		d.forget(d.last(b.Agent), b.Request)
		found = true
	}
	if !found {
		return unwelcome("no question of request %s waits", b.Request)
	}
	return nil
}
