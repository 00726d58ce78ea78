package supervisor

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
)

func (d *draft) turnBegun(b TurnBegun) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) { l.Turn, l.Heard = true, true })
}

func (d *draft) turnEnded(b TurnEnded, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	l, a := d.last(b.Agent), d.agent(b.Agent)
	a.CostUSD += b.CostUSD
	a.InputTokens += b.InputTokens
	a.OutputTokens += b.OutputTokens
	l.Turn, l.Gate = false, nil
	if endsByItself(b.Failure) {
		return nil
	}
	l.Turns++
	if b.Failure.Kind != "" {
		if l.End == "" {
			d.failure(a, b.Failure, at)
		}
		return nil
	}
	a.Failures = 0
	return nil
}

// endsByItself tells a failure after which the process exits by itself, and which its end is judged by.
func endsByItself(f procs.Failure) bool {
	return f.Kind == procs.SessionGone || f.Kind == procs.SessionTaken || f.Kind == procs.RefusedFlag
}

func (d *draft) gateAsked(b GateAsked) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
		l.Background, l.WakeUps, l.Transcript = b.Background, b.WakeUps, b.Transcript
		l.Gate = &checkpoints.Gate{Request: b.Request}
		a := d.Agents[b.Agent]
		undelivered := d.deliveries(a.ID, func(v *Delivery) bool { return v.State == checkpoints.DeliveryPending })
		if b.Report || b.Ask || a.Report != nil || a.SentOn || a.StopWanted != "" || l.End != "" ||
			len(b.Background)+len(b.WakeUps) > 0 || len(d.open(a.ID)) > 0 || len(a.Sayings) > 0 || len(undelivered) > 0 {
			return
		}
		d.agent(a.ID).SentOn = true
		l.Gate.Block = gateReason(a.ID)
	})
}

func (d *draft) gateReplied(b GateReplied) error {
	return d.onLaunch(b.Agent, b.Launch, func(l *Launch) {
		if l.Gate != nil && l.Gate.Request == b.Request {
			l.Gate = nil
		}
	})
}

func (d *draft) heard(b Heard, at time.Time) error {
	if _, err := d.current(b.Agent, b.Launch); err != nil {
		return err
	}
	return d.signal(b.Agent, b.Named, at)
}

// signal takes what an agent says of its work.
func (d *draft) signal(agent string, n Named, at time.Time) error {
	a, l := d.agent(agent), d.launch(agent)
	switch n.Signal.Kind {
	case signals.Completion, signals.WorkflowComplete:
		a.Report = report(n.Signal)
	case signals.Clarification, signals.Stop:
		return d.ask(agent, n, at)
	case signals.Delegate:
		h := fnv.New32a()
		_, _ = h.Write([]byte(n.Signal.Fingerprint()))
		key := fmt.Sprintf("denied %d.%d %08x", l.N, l.Turns, h.Sum32())
		if slices.ContainsFunc(a.Sayings, func(s checkpoints.Saying) bool { return s.Key == key }) {
			return unwelcome("the same delegation")
		}
		a.Sayings = append(slices.Clip(a.Sayings), checkpoints.Saying{Key: key, Text: delegationDenied(n.Signal), At: at})
	default:
		return unwelcome("%s changes nothing", n.Signal.Kind)
	}
	return nil
}

// ask opens the questions of a text signal, unless they are already open or their answer is not yet delivered.
func (d *draft) ask(agent string, n Named, at time.Time) error {
	fp := n.Signal.Fingerprint()
	for _, q := range d.Questions {
		if q.Agent == agent && q.Fingerprint == fp && q.Tool == nil &&
			(q.State == checkpoints.QuestionOpen || q.State == checkpoints.QuestionAnswered) {
			return unwelcome("the same signal as question %s", q.ID)
		}
	}
	doc := encode(n.Signal)
	kind, qs := asks(n.Signal)
	d.openQuestions(agent, kind, qs, n.Naming, at, func(q *Question) { q.Fingerprint, q.Signal = fp, doc })
	return nil
}

// surveyed takes what was found of a launch that has ended, and hears what was not heard of it.
func (d *draft) surveyed(b Surveyed, at time.Time) error {
	a := d.agent(b.Agent)
	a.Checkpoint = b.Checkpoint
	if err := d.onEnded(b.Agent, b.Launch, func(l *Launch) { l.Surveyed = true }); err != nil {
		return err
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

func (d *draft) asked(b Asked, at time.Time) error {
	l, err := d.current(b.Agent, b.Launch)
	if err != nil {
		return err
	}
	for _, q := range d.Questions {
		if q.Tool != nil && q.Tool.Launch == b.Launch && q.Agent == b.Agent && q.Tool.Request == b.Call.Request {
			return unwelcome("the request of question %s again", q.ID)
		}
	}
	fp := b.Call.Name + "\x00" + string(b.Call.Input)
	if b.Kind == checkpoints.AskPermission {
		if g := d.grant(b.Agent, fp); g != nil {
			d.question(g.ID).GrantSpent = true
			call := b.Call
			d.begin(d.agent(b.Agent), l, delivering{
				key: "grant " + g.ID, grant: g.ID, tool: &call, reply: toolReply(&call, []*Question{g}),
			}, at)
			return nil
		}
	}
	d.openQuestions(b.Agent, b.Kind, b.Questions, b.Naming, at, func(q *Question) {
		call := b.Call
		q.Fingerprint, q.Tool = fp, &call
	})
	return nil
}

// grant finds a permission that was given after its call was gone, for exactly this tool and input, and of which the
// agent was told. It is good for one call: without it a parked agent would ask for ever.
func (d *draft) grant(agent, fingerprint string) *Question {
	for _, q := range d.questions(func(q *Question) bool {
		return q.Agent == agent && q.Kind == checkpoints.AskPermission && q.Fingerprint == fingerprint && q.Answer == allow && !q.GrantSpent
	}) {
		for _, v := range d.deliveries(agent, func(v *Delivery) bool {
			return v.State == checkpoints.DeliveryDelivered || waitsForReceipt(v)
		}) {
			if v.Tool == nil && slices.Contains(v.Groups, q.Group) {
				return q
			}
		}
	}
	return nil
}

// openQuestions makes the questions of one signal or call, and answers those that were answered in advance.
func (d *draft) openQuestions(agent string, kind checkpoints.QuestionKind, qs []signals.Question, n Naming, at time.Time, more func(*Question)) {
	if len(qs) == 0 || len(n.IDs) < len(qs) {
		panic(fmt.Sprintf("supervisor: %d ids for %d questions", len(n.IDs), len(qs)))
	}
	group, presets := n.IDs[0], make([]Preset, len(qs))
	copy(presets, n.Presets)
	for i, asked := range qs {
		q := newQuestion(kind, asked)
		q.ID, q.Run, q.Agent, q.Group, q.Index, q.AskedAt = n.IDs[i], d.Run.ID, agent, group, i, at
		more(q)
		d.addQuestion(q)
	}
	for _, q := range d.group(group) {
		if p := presets[q.Index]; p.Value != "" {
			d.answer(Note{Question: q.ID, Value: p.Value, By: p.by(), At: at})
		} else if d.Config.Policy == Fail {
			d.refuse(q)
			return
		}
	}
}

// refuse fails an agent because it asks, under --on-question fail.
func (d *draft) refuse(q *Question) {
	d.fail(q.Agent, "question", "asked a question, and questions are refused: "+firstLine(q.Text))
}

// newQuestion makes an open question that belongs to nobody yet.
func newQuestion(kind checkpoints.QuestionKind, asked signals.Question) *Question {
	q := &Question{
		Own: asked.ID, Kind: kind, State: checkpoints.QuestionOpen, Header: asked.Header, Text: asked.Text,
		Context: asked.Context, MultiSelect: asked.MultiSelect, Validate: asked.Validate, Optional: asked.Optional,
	}
	for _, o := range asked.Options {
		q.Options = append(q.Options, checkpoints.Option(o))
	}
	return q
}

func (d *draft) askCancelled(b AskCancelled) error {
	found := false
	for _, q := range d.questions(func(q *Question) bool {
		return q.Agent == b.Agent && q.Tool != nil && q.Tool.Launch == b.Launch && q.Tool.Request == b.Request && q.State == checkpoints.QuestionOpen
	}) {
		d.question(q.ID).State = checkpoints.QuestionWithdrawn
		found = true
	}
	if !found {
		return unwelcome("no open question of request %s", b.Request)
	}
	return nil
}
