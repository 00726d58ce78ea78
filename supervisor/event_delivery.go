package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/text"
)

// Sent says that a delivery was written to the process.
type Sent struct {
	UUID   string
	Launch int
}

var _ = kind[Sent]("sent")

func (e Sent) apply(d *transition) error {
	v := d.Deliveries.Get(e.UUID)
	if v == nil || v.State != checkpoints.DeliveryPending || v.Launch != e.Launch {
		return unwelcome("delivery %s is not pending", e.UUID) // its receipt may have been faster
	}
	if v.Tool != nil && v.Tool.ToolUse == "" { // no call whose result would be its receipt
		d.arrived(e.UUID)
		return nil
	}
	d.delivery(e.UUID).State = checkpoints.DeliverySent
	d.inTurn(v, e.Launch)
	return nil
}

func (Sent) mayBeLost() bool { return true }

// Received is a receipt, or the tool result of an answered call.
type Received struct {
	UUID  string
	State checkpoints.DeliveryState // started or delivered
}

var _ = kind[Received]("received")

func (e Received) apply(d *transition) error {
	v := d.Deliveries.Get(e.UUID)
	if v == nil || !v.Undelivered() {
		return unwelcome("delivery %s does not wait for a receipt", e.UUID)
	}
	if _, err := d.current(v.Agent, v.Launch); err != nil {
		return err
	}
	if v.Tool != nil {
		d.arrived(e.UUID)
		return nil
	}
	l := d.last(v.Agent)
	if l.NotAt != "" && l.At != "" { // a hook has refused it, and it is said to the next process
		return unwelcome("delivery %s was refused", e.UUID)
	}
	if e.State == checkpoints.DeliveryStarted {
		d.delivery(e.UUID).State = e.State
		d.inTurn(v, l.N)
		return nil
	}
	if v.State != checkpoints.DeliveryStarted && !v.Now {
		// Completed without a turn: the conversation already had it, from a launch that was lost.
		if l.Phase.InTurn() {
			l.Enter(checkpoints.LaunchIdle)
		}
		d.agent(v.Agent).GoOn = true
	}
	d.arrived(e.UUID)
	return nil
}

func (Received) mayBeLost() bool { return true }

// PromptRefused says that a hook of the person's own has refused what was said into a running turn.
type PromptRefused struct {
	UUID   string
	Reason string // of the hook
}

var _ = kind[PromptRefused]("prompt_refused")

// apply has it said again after the turn. If that is refused, too, the agent fails by it, and resume says it.
func (e PromptRefused) apply(d *transition) error {
	v := d.Deliveries.Get(e.UUID)
	if v == nil || !v.Undelivered() {
		return unwelcome("delivery %s does not wait for a receipt", e.UUID)
	}
	if _, err := d.current(v.Agent, v.Launch); err != nil {
		return err
	}
	if !v.Now { // it was to begin a turn, and claude began one by itself
		d.failure(d.agent(v.Agent), claude.RefusedByHook(e.Reason))
		return nil
	}
	v = d.delivery(e.UUID)
	v.Messages = slices.Clone(v.Messages)
	for i := range v.Messages {
		m := &v.Messages[i]
		m.Key, m.AfterTurn = m.Key+" again", true // under another uuid: of this one the process has said completed
	}
	d.drop(e.UUID)
	return nil
}

// String says it in a line.
func (e PromptRefused) String() string {
	return "your UserPromptSubmit hook refused a message, which is not lost: " + text.Line(e.Reason, text.MaxNamed)
}

// Confirmed is what the transcript of an ended launch says of a delivery.
type Confirmed struct {
	UUID  string
	Found bool
	Hook  *procs.HookDecision `json:",omitempty"` // of a call: what a hook of the person's own has decided instead
}

var _ = kind[Confirmed]("confirmed")

func (e Confirmed) apply(d *transition) error {
	v := d.Deliveries.Get(e.UUID)
	if v == nil || !v.WaitsForReceipt() {
		return unwelcome("delivery %s is settled", e.UUID)
	}
	switch {
	case e.Hook != nil && d.decidedByHook(v.Agent, v.Tool.ToolUse, e.Hook):
	case e.Found:
		d.arrived(e.UUID)
	case v.File != "":
		d.saidByPrompt(v) // the script's call is gone, and with it what the agent would have read
	case v.Tool != nil:
		d.drop(e.UUID) // the call is gone: the next prompt restates the question with its answer
	case v.Now:
		d.drop(e.UUID) // its turn is gone: it is said in the next
	default:
		d.delivery(e.UUID).State = checkpoints.DeliveryPending
	}
	return nil
}
