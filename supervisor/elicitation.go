package supervisor

import (
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is what an MCP server of the person's own asks in the middle of a call: a form, each field of which is a
// question, or that an address is opened. Only a person answers it, and the answer is the server's alone: the agent
// does not read it. After a park the call is gone, and with it the server that asked: the agent is told to make the
// call again, and the answer waits for the same question of the same server. So no hold ends while a server waits, but
// where no process is held at all, and where exit 75 is waited for; and what is lost is said, at once and in the
// question.
//
// What cannot be shown, or not be answered in a way that can be told apart, waits as well, and is one question: whether
// the server is to be told that it is cancelled. Only a person says that, or that it is declined.

func init() {
	handlers[questions.AskElicitation] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.ServerAnswered(group[0].Header, ask.ServerAction(group))
		},
		within: func(group []*Question) string {
			return prompts.ServerAnsweredWithin(group[0].Header, ask.ServerAction(group))
		},
		reply: ask.Elicited,
		anew: func(d *transition, q *Question, _ map[string]ask.SeenCall) bool {
			var asked []signals.Question
			if first := d.Questions.Get(q.Group); first.Tool != nil {
				asked = ask.Elicitation(first.Tool.Input)
			}
			if q.Index >= len(asked) {
				return false
			}
			ask.Reshow(q, asked[q.Index])
			ask.LoseServer(q)
			return true
		},
	}
}

// asksForServer reports whether a server waits for the answer of an open question.
func (s State) asksForServer(q *Question) bool {
	return questions.KindOf(q.Kind).Server && s.Held(q) != nil
}

// loseServers says in the questions of servers that were asked in a launch that their call is gone.
func (d *transition) loseServers(l *Launch) {
	for _, q := range d.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return questions.KindOf(q.Kind).Server && q.IsOpen() && q.Tool.Launch == l.N
	}) {
		ask.LoseServer(d.question(q.ID))
	}
}
