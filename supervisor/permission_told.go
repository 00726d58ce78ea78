package supervisor

import (
	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// This file is what an agent is told of a permission, and how that is shown to a person again.

func init() {
	handlers[questions.AskPermission] = handler{
		prompt: func(_ State, group []*Question) string {
			return prompts.PermissionDecided(group[0], group[0].Revoked == unpackedBy)
		},
		within: func(group []*Question) string { return prompts.PermissionWithin(group[0]) },
		reply: func(call *checkpoints.ToolCall, group []*Question) Reply {
			if questions.Allowed(group[0]) {
				return Reply{Behavior: Allow, UpdatedInput: call.Input}
			}
			return Reply{Behavior: Deny, Message: "The person refuses this. " + prompts.Denial(group[0])}
		},
		anew: func(_ *transition, q *Question, seen map[string]SeenCall) bool {
			now, ok := seen[q.ID]
			if ok {
				reshow(q, now.Question)
				q.Rule, q.Fingerprint = now.Rule, FingerprintOf(*q.Tool)
			}
			return ok
		},
	}
}
