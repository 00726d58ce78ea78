package standin

import (
	"fmt"
	"maps"
	"slices"
)

// addressed is the input of SendMessage as the CLI shows it: with its members once more under other names.
func addressed(made call) map[string]any {
	input := maps.Clone(made.input)
	input["type"], input["recipient"], input["recipient_kind"], input["content"] = "message",
		input["to"], "agent", input["message"]
	return input
}

// sendMessage tells a subagent something: one that works reads it with its next result, one that does not is revived
// with all that it had done, in the background. A call of its own that was never answered is not among that.
func (c *conversation) sendMessage(made call) (result, error) {
	to, text := made.text("to"), made.text("message")
	if i := slices.IndexFunc(c.subagents, func(s *subagent) bool { return s.id == to }); i >= 0 {
		c.subagents[i].inbox = append(c.subagents[i].inbox, text)
		return sent(answer{Success: true, Pin: pin(to),
			Message: fmt.Sprintf("Message queued for delivery to %s at its next tool round. "+
				"If it finishes first, it is resumed with the message and notifies again, so wait for that notification before "+
				"resending.", to)}), nil
	}
	s, p, err := c.past(to)
	if err != nil {
		return sent(answer{Message: fmt.Sprintf("Agent %q could not be resumed: No transcript found for agent ID: %s. "+
			"If you read this id in a message from another Claude Code process (e.g. the lead's subagent, seen from a "+
			"teammate pane), "+
			"it never ran in this session — reply through \"team-lead\" or the session that sent it instead of the raw id.",
			to, to)}), nil
	}
	s.began, s.background = made.id, true
	sub := newConversation(c.agent)
	sub.sub, sub.transcript.path = s, subagentPath(c.main.transcript.path, s.id)
	sub.goOnFrom(p)
	c.startSubagent(s, text)
	if err := sub.coordinate(text); err != nil {
		return result{}, err
	}
	c.workInBackground(sub)
	said := answer{Success: true, Message: "Resuming agent " + to[:7], Resumed: to, Pin: pin(to)}
	r := sent(said)
	said.Revived = to
	r.data = said
	return r, nil
}

// past is a subagent that has come to its end, or whose process has, and what it had done.
func (c *conversation) past(id string) (*subagent, *past, error) {
	if !subagentIDs().MatchString(id) {
		return nil, nil, fmt.Errorf("%q is no id", id)
	}
	s, err := readSubagent(c.main.transcript.path, id)
	if err != nil {
		return nil, nil, err
	}
	p, err := readTranscript(subagentPath(c.main.transcript.path, id))
	if err != nil {
		return nil, nil, err
	}
	p.forgetOpen()
	return s, p, nil
}

// An answer is the result of SendMessage.
type answer struct {
	Success bool    `json:"success"`
	Message string  `json:"message"`
	Resumed string  `json:"resumedAgentId,omitempty"`
	Revived string  `json:"revivedAgentId,omitempty"` // beside the result, not in it
	Pin     *pinned `json:"pin,omitempty"`
}

// A pinned agent is one that further messages reach.
type pinned struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Ref  string `json:"ref"`
}

func pin(id string) *pinned { return &pinned{ID: id, Name: id, Ref: id[len(id)-6:]} }

func sent(a answer) result { return result{text: string(encode(a)), blocks: true, data: a} }
