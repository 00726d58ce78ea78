package examples

import (
	"cmp"
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
	agentID    = Lazily(`\ba-[0-9A-Za-z]{12}\b`)
	folder     = Lazily(`(?i)working directory: *(\S[^\n]*)`)
	filledName = Lazily(
		`^(agent|cwd|plan_file|state|A[0-9]+|subagent[1-9][0-9]*(\.A[0-9]+|\.task)?|child[1-9][0-9]*(\.outcome|\.summary)?)$`)
	planFile = Lazily(`/\S*/plans/[^\s/]+\.md`)
	answer   = Lazily(`(?m)^ *(A[0-9]+): *(.*)$`)
	// A subagent's id, and what it is for where that is said beside it. The short ones are 2.1.7's.
	subagentID = Lazily(`\b(a[0-9a-f]{16}|a[0-9a-f]{6})\b(?: \(([^()]*)\))?`)
	// What the other dialects call an answer, and the file that the agent left its state in.
	unnumbered = Lazily(`(?m)^(?:Answer: (.*)|User chose: "(.*?)"\. .*)$`)
	state      = Lazily(
		`(?m)^(?:Continue from state file: (.*)|Resume workflow from checkpoint: (.*?)\. User selected: .*)$`)
)

// unasked is what the CLI itself puts after a turn that was cut off, when the conversation is resumed (seen on
// 2.1.329). The model has not said it.
var unasked = []string{"No response requested."}

// lostCalls begin what stands in place of the result of a call that was cut off: what the CLI writes when it ends, or
// when the conversation is resumed (seen on 2.1.329), and the end of a command that was killed. Nobody knows what of
// the call took effect.
var lostCalls = []string{
	"[Tool call interrupted", "The tool call was interrupted before a result was received.",
	"[Request interrupted by user", "The user doesn't want to proceed with this tool use.",
	"The user doesn't want to take this action right now.", "[Tool result missing due to internal error]",
	"Exit code 129", "Exit code 137", "Exit code 143",
	// An MCP server that has ended with the process.
	"Connection closed", "MCP error -32000: Connection closed",
	// A tool of the supervisor's, which was gone before it was asked for its tools.
	"<tool_use_error>Error: No such tool available: mcp__supervise__ask_user<",
	"<tool_use_error>Error: No such tool available: mcp__supervise__stop_work<",
	"<tool_use_error>Error: No such tool available: mcp__supervise__delegate_work<",
}

// goOn is the heading of what a supervisor says to an agent whose process was interrupted.
const goOn = "## GO ON"

// What the CLI puts beside the results of calls, or says alone, begins so: what it makes of a message to a subagent
// (seen on 2.1.329), and reminders (before 2.1.329, which has them in system messages).
const (
	coordinator = "The coordinator sent a message while you were working:"
	reminder    = "<system-reminder>"
)

// Next says what the model replies to a conversation. It depends on nothing else, so a conversation that is continued
// after a crash, in another process, goes on as if nothing had happened.
//
// The newest text to the model that contains a turn's When decides the turn; where several stand in one text, the one
// furthest down. A text that contains none, such as a bare "go on", leaves the conversation in its turn. The reply is
// the one that as many assistant messages precede since then; one whose calls were cut off does not count, so that the
// model makes them again; and one that is told to GO ON after its last word says that again. Where the scenario has
// none the reply says so, in words that no report contains, so that a test fails with the reason.
func (s Scenario) Next(conversation []Message) Reply {
	turns, err := s.turnsOf(conversation)
	if err != nil {
		return s.unscripted(conversation, err.Error()+".")
	}
	turn, at, text := deciding(turns, conversation)
	if turn == nil {
		return s.unscripted(conversation,
			fmt.Sprintf("scenario %s: no turn of it begins anywhere in this conversation.", s.Name))
	}
	known := offspringOf(conversation).known
	learn(known, text)
	k := turn.follow(conversation[at+1:], func(r Reply, m Message) {
		learn(known, m.Texts...)
		if texts := results(m.Texts); r.asksOne() && m.Role == User && len(texts) == 1 && !answer().MatchString(texts[0]) {
			known["A1"] = strings.TrimSpace(texts[0])
		}
	})
	if n := len(turn.Replies); (k == n || k > n && s.Otherwise == "") && sentOn(conversation) {
		k = n - 1 // it had said its last word, and says it again
	}
	if k >= len(turn.Replies) {
		return s.unscripted(conversation,
			fmt.Sprintf("scenario %s: its turn %q has no reply %d.", s.Name, turn.When, k+1))
	}
	if m := state().FindStringSubmatch(text); m != nil {
		known["state"] = strings.TrimSpace(m[1] + m[2])
	}
	if own := Agent(conversation); own != "" {
		known["agent"] = own
	}
	if cwd := first(conversation, System, folder()); cwd != nil {
		known["cwd"] = strings.TrimSpace(cwd[1])
	}
	for _, role := range []Role{System, User} { // in which of them it stands is another from release to release
		if file := first(conversation, role, planFile()); file != nil && known["plan_file"] == "" {
			known["plan_file"] = file[0]
		}
	}
	return turn.Replies[k].each(func(text string) string {
		return placeholder().ReplaceAllStringFunc(text, func(p string) string {
			if v, ok := known[p[2:len(p)-2]]; ok {
				return v
			}
			return p
		})
	})
}

// unscripted is what the model says where the scenario has nothing for it: the report of Otherwise, or the fault.
func (s Scenario) unscripted(conversation []Message, fault string) Reply {
	if s.Otherwise == "" {
		return Reply{Text: fault}
	}
	return Reply{Text: fmt.Sprintf("[COMPLETION_REPORT]\nagent_id: %s\nstatus: partial_success\nsummary: %s\n"+
		"[/COMPLETION_REPORT]", Agent(conversation), s.Otherwise)}
}

// learn takes the answers and the subagents that texts tell of. An answer that stands below a subagent's id is its
// answer too: {{subagent2.A1}}.
func learn(known map[string]string, texts ...string) {
	for _, text := range texts {
		for i, m := range unnumbered().FindAllStringSubmatch(text, -1) {
			known[fmt.Sprintf("A%d", i+1)] = strings.TrimSpace(m[1] + m[2])
		}
		below := ""
		for line := range strings.Lines(text) {
			if m := subagentID().FindStringSubmatch(line); m != nil {
				below = numbered(known, m[1])
				if m[2] != "" {
					known[below+".task"] = m[2]
				}
			}
			if m := answer().FindStringSubmatch(line); m != nil {
				known[m[1]] = strings.TrimSpace(m[2])
				known[below+"."+m[1]] = known[m[1]]
			}
		}
	}
}

// numbered returns the name of a subagent: they are numbered as they are met.
func numbered(known map[string]string, id string) string {
	for n := 1; ; n++ {
		name := fmt.Sprintf("subagent%d", n)
		if known[name] == "" {
			known[name] = id
		}
		if known[name] == id {
			return name
		}
	}
}

// follow counts the turn's replies that stand in the conversation after the message that began it, with all that came
// of them, and calls received with each message that came after one.
func (t *Turn) follow(conversation []Message, received func(Reply, Message)) int {
	k, lost := 0, false // lost: the newest reply's calls were cut off
	for _, m := range conversation {
		switch {
		case m.Role == Assistant && slices.Equal(m.Texts, unasked):
		case m.Role == Assistant:
			k, lost = k+1, false
		case !lost && k > 0 && slices.ContainsFunc(m.Texts, isLostCall):
			k, lost = k-1, true
		case !lost && k > 0 && k <= len(t.Replies):
			received(t.Replies[k-1], m)
		}
	}
	return k
}

// results returns the texts of a message without what the CLI puts beside them.
func results(texts []string) []string {
	return slices.DeleteFunc(slices.Clone(texts), func(text string) bool {
		return strings.HasPrefix(text, coordinator) || strings.HasPrefix(text, reminder)
	})
}

// asksOne reports whether the reply is one question to a person, by the supervisor's tool: the answer comes back bare.
func (r Reply) asksOne() bool {
	if len(r.Tools) != 1 || r.Tools[0].Name != "mcp__supervise__ask_user" {
		return false
	}
	questions, _ := r.Tools[0].Input["questions"].([]any)
	return len(questions) == 1
}

// sentOn reports whether the newest thing said to the model is to go on after its process was interrupted.
func sentOn(conversation []Message) bool {
	for _, m := range slices.Backward(conversation) {
		if m.Role == User { // a subagent reads it below what the CLI says of such messages
			return slices.ContainsFunc(m.Texts, func(text string) bool { return strings.Contains("\n"+text, "\n"+goOn) })
		}
	}
	return false
}

func isLostCall(text string) bool {
	return slices.ContainsFunc(lostCalls, func(start string) bool { return strings.HasPrefix(text, start) })
}

// deciding finds the turn that the conversation is in, where its message stands, and the text that decided.
func deciding(turns []Turn, conversation []Message) (turn *Turn, at int, text string) {
	for at := len(conversation) - 1; at >= 0; at-- {
		m := conversation[at]
		if m.Role == Assistant {
			continue
		}
		for i := len(m.Texts) - 1; i >= 0; i-- {
			lowest := -1
			var so *offspring // far, as of this message
			for j := range turns {
				t := &turns[j]
				p := strings.LastIndex(m.Texts[i], t.When)
				if p < 0 || p < lowest || p == lowest && !t.wantsMoreThan(turn) {
					continue
				}
				if t.Launched+t.Ended > 0 && so == nil {
					so = new(offspringOf(conversation[:at+1]))
				}
				if (so == nil || len(so.ids) >= t.Launched && so.ended >= t.Ended) &&
					(t.Before == 0 || timesTold(conversation[:at], t.When) >= t.Before) {
					turn, lowest = t, p
				}
			}
			if turn != nil {
				return turn, at, m.Texts[i]
			}
		}
	}
	return nil, 0, ""
}

// wantsMoreThan tells which of two turns with the same When comes later in a conversation.
func (t *Turn) wantsMoreThan(other *Turn) bool {
	return cmp.Or(t.Before-other.Before, t.Ended-other.Ended, t.Launched-other.Launched) > 0
}

// timesTold counts the messages to the model that contain a text.
func timesTold(conversation []Message, when string) (n int) {
	for _, m := range conversation {
		if m.Role != Assistant && slices.ContainsFunc(m.Texts, func(t string) bool { return strings.Contains(t, when) }) {
			n++
		}
	}
	return n
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
