package examples

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Role says whose message it is.
type Role string

// The roles of a conversation. Its first message is the system prompt.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
)

// A Message is one message of a conversation. Texts are its text blocks and the texts of its tool results, in order.
// What the CLI says between the turns, a person's message in the middle of one included, has the role System too.
type Message struct {
	Role  Role
	Texts []string
}

var (
	agentID    = regexp.MustCompile(`\ba-[0-9A-Za-z]{12}\b`)
	folder     = regexp.MustCompile(`(?i)working directory: *(\S[^\n]*)`)
	answerName = regexp.MustCompile(`^A[0-9]+$`)
	answer     = regexp.MustCompile(`(?m)^(A[0-9]+): *(.*)$`)
)

// unasked is what the CLI itself puts after a turn that was cut off, when the conversation is resumed (seen on 2.1.329).
// The model has not said it.
var unasked = []string{"No response requested."}

// Next says what the model replies to a conversation. It depends on nothing else, so a conversation that is continued
// after a crash, in another process, goes on as if nothing had happened.
//
// The newest text to the model that contains a turn's When decides the turn; where several stand in one text, the one
// furthest down. A text that contains none, such as a bare "go on", leaves the conversation in its turn. The reply is
// the one that as many assistant messages precede since then. Where the scenario has none the reply says so, in words
// that no report contains, so that a test fails with the reason.
func (s Scenario) Next(conversation []Message) Reply {
	turn, at, text := s.deciding(conversation)
	if turn == nil {
		return Reply{Text: fmt.Sprintf("scenario %s: no turn of it begins anywhere in this conversation.", s.Name)}
	}
	k := 0
	for _, m := range conversation[at:] {
		if m.Role == Assistant && !slices.Equal(m.Texts, unasked) {
			k++
		}
	}
	if k >= len(turn.Replies) {
		return Reply{Text: fmt.Sprintf("scenario %s: its turn %q has no reply %d.", s.Name, turn.When, k+1)}
	}
	known := map[string]string{}
	for _, m := range answer.FindAllStringSubmatch(text, -1) {
		known[m[1]] = strings.TrimSpace(m[2])
	}
	if id := first(conversation, User, agentID); id != nil {
		known["agent"] = id[0]
	}
	if cwd := first(conversation, System, folder); cwd != nil {
		known["cwd"] = strings.TrimSpace(cwd[1])
	}
	return turn.Replies[k].each(func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(p string) string {
			if v, ok := known[p[2:len(p)-2]]; ok {
				return v
			}
			return p
		})
	})
}

// deciding finds the turn that the conversation is in, where its message stands, and the text that decided.
func (s Scenario) deciding(conversation []Message) (turn *Turn, at int, text string) {
	for at := len(conversation) - 1; at >= 0; at-- {
		m := conversation[at]
		if m.Role == Assistant {
			continue
		}
		for i := len(m.Texts) - 1; i >= 0; i-- {
			lowest := -1
			for j := range s.Turns {
				if p := strings.LastIndex(m.Texts[i], s.Turns[j].When); p > lowest {
					turn, lowest = &s.Turns[j], p
				}
			}
			if turn != nil {
				return turn, at, m.Texts[i]
			}
		}
	}
	return nil, 0, ""
}

// first finds the first match in the texts of one role.
func first(conversation []Message, role Role, pattern *regexp.Regexp) []string {
	for _, m := range conversation {
		if m.Role != role {
			continue
		}
		for _, t := range m.Texts {
			if found := pattern.FindStringSubmatch(t); found != nil {
				return found
			}
		}
	}
	return nil
}
