package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is a plan that waits for a person. Approved while its process waits, the call ends plan mode. Approved
// later, the agent is started in plan mode, told so, and makes the call again, which is let through once
// (transition.grant). What a person wants changed is the result of the call, told in place where the release can.

// FlagsOf returns the flags of the run that an agent is started with. One that was let out of plan mode, or works for
// an agent that was, is not put back into it.
func (s State) FlagsOf(agent string) []string {
	flags := s.Config.Flags
	for a := s.Agents.Get(agent); a != nil; a = s.Agents.Get(a.Parent) {
		if s.LeftPlanMode(a.ID) {
			return claude.WithoutPlanMode(flags)
		}
	}
	return flags
}

func init() {
	handlers[questions.AskPlan] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.PlanDecided(group[0], group[0].Revoked == unpackedBy)
		},
		reply: func(call *checkpoints.ToolCall, group []*Question) ask.Reply {
			if questions.Allowed(group[0]) {
				return ask.Reply{Behavior: Allow, UpdatedInput: ask.ApprovedPlan(call.Input)}
			}
			return ask.Reply{Behavior: Deny, Message: prompts.PlanChanged(group[0])}
		},
		anew: func(_ *transition, q *Question, _ map[string]ask.SeenCall) bool {
			subagent := ""
			if q.Tool.From != nil {
				subagent = q.Tool.From.ID
			}
			ask.Reshow(q, ask.Plan(q.Tool.Input, subagent))
			return true
		},
	}
}
