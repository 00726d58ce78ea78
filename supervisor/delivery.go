package supervisor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/google/uuid"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// delivering is what a delivery is made of.
type delivering struct {
	key      string // stable within the agent's session
	text     string
	tool     *checkpoints.ToolCall
	reply    json.RawMessage
	groups   []string
	results  []checkpoints.CallResult // in place of text
	messages []checkpoints.OutboxItem
	now      bool   // it does not wait for the end of a turn
	grant    string // the question whose permission it spends
}

// begin makes a delivery to a launch. From here on the answers that it carries cannot be changed.
func (d *transition) begin(a *Agent, l *Launch, v delivering) {
	for _, q := range d.Groups(v.groups) {
		d.question(q.ID).Delivering = true
	}
	images := d.imagesIn(v)
	if v.text != "" {
		v.text = prompts.WithImages(v.text, images)
	}
	d.addDelivery(&Delivery{
		UUID: deliveryID(a, v.key), Agent: a.ID, Key: v.key, State: checkpoints.DeliveryPending, Launch: l.N, Turn: l.Turns,
		Text: v.text, Results: v.results, Tool: v.tool, Reply: v.reply, Groups: v.groups,
		Messages: v.messages, Images: images, Now: v.now, Grant: v.grant,
		CreatedAt: d.at,
	})
}

// deliveryID returns the uuid of a delivery, by its key.
func deliveryID(a *Agent, key string) string {
	return uuid.NewSHA1(namespace, []byte(strings.Join([]string{a.Run, a.ID, a.SessionID, key}, "\x00"))).String()
}

// arrived marks a delivery, and the answers that it carried, as delivered.
func (d *transition) arrived(id string) {
	v := d.delivery(id)
	v.State, v.ArrivedAt = checkpoints.DeliveryDelivered, d.at
	if len(v.Results) > 0 {
		d.remark(v, toldInPlace)
	}
	for _, q := range d.Groups(v.Groups) {
		if q.State == checkpoints.QuestionAnswered {
			d.question(q.ID).State = checkpoints.QuestionDelivered
		}
	}
	if len(v.Groups) > 0 || v.Now {
		d.agent(v.Agent).ReportRequested = false // a person has spoken: what was asked of it before is settled
	}
}

// drop gives a delivery up. The answers and messages that it carried are said in another way.
func (d *transition) drop(id string) {
	v := d.delivery(id)
	v.State = checkpoints.DeliveryDropped
	d.sayAgain(v.Agent, v.Messages)
	if v.Grant != "" && !questions.KindOf(d.Questions.Get(v.Grant).Kind).Refused { // else it may have been made
		d.question(v.Grant).GrantSpent = false
	}
	for _, q := range d.Groups(v.Groups) {
		d.question(q.ID).Delivering = false
	}
}

// inTurn says that a prompt has begun a turn of the launch, or is about to. What is said into a turn that is under way
// may begin none.
func (d *transition) inTurn(v *Delivery, launch int) {
	if l := d.Live(v.Agent); l != nil && l.N == launch && v.Prompt() && !v.Now && !l.Phase.InTurn() {
		d.last(v.Agent).Enter(checkpoints.LaunchTurn)
	}
}

// abandon gives up what was sent to a session that is gone: it is said again in the next one.
func (d *transition) abandon(a *Agent) {
	for _, v := range d.FindDeliveries(a.ID, (*checkpoints.Delivery).Undelivered) {
		d.drop(v.UUID)
	}
}

// distrustDelivery sees that what answers a call answers none of a process here.
func (d *transition) distrustDelivery(uuid string) {
	v := d.delivery(uuid)
	v.Grant = ""
	if n := len(d.Launches.Get(v.Agent)); v.Launch > n {
		v.Launch = n
	}
	if l := d.Live(v.Agent); v.Tool != nil && v.State == checkpoints.DeliveryPending && (l == nil || l.N != v.Launch) {
		d.drop(uuid)
	}
}

// sayAgain puts messages that have not been read back to the front of what is to be said.
func (d *transition) sayAgain(agent string, messages []checkpoints.OutboxItem) {
	if len(messages) > 0 {
		a := d.agent(agent)
		a.Outbox = slices.Concat(messages, a.Outbox)
	}
}
