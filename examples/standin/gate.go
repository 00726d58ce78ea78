package standin

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/google/uuid"
)

// askGate asks the Stop hooks whether the turn may end; reason is why not. Nobody is asked once the input has ended.
func (c *conversation) askGate(t *turn, again bool) (reason string, err error) {
	for _, hook := range c.hooks {
		tasks := []doc{}
		for _, task := range c.tasks {
			tasks = append(tasks, doc{
				"id": task.id, "type": "shell", "status": "running", "description": task.description, "command": task.command,
			})
		}
		for _, s := range c.inBackgroundNow() {
			tasks = append(tasks, doc{
				"id": s.id, "type": "subagent", "status": "running", "description": s.Task, "agent_type": s.Kind,
			})
		}
		data, err := c.request(doc{"subtype": "hook_callback", "callback_id": hook, "tool_use_id": uuid.NewString(),
			"input": doc{
				"session_id": c.opts.session, "transcript_path": c.transcript.path, "cwd": c.cwd, "permission_mode": c.opts.mode,
				"hook_event_name": "Stop", "stop_hook_active": again, "last_assistant_message": t.text,
				"background_tasks": tasks, "session_crons": []doc{},
			}})
		if errors.Is(err, errStreamClosed) || errors.Is(err, errRefused) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		var decision struct{ Decision, Reason string }
		if err := json.Unmarshal(data, &decision); err == nil && decision.Decision == "block" {
			return decision.Reason, nil
		}
	}
	return "", nil
}

// hookReply is what a hook says of a call; the zero value is no opinion.
type hookReply struct {
	Updated  map[string]any `json:"updatedInput"`
	Decision string         `json:"permissionDecision"`
	Reason   string         `json:"permissionDecisionReason"`
}

// askHooks asks the hooks before a call, of which there is one at most. An error for a reply refuses the call, since
// we ask for that (onFailure); where nobody is there to reply, the call is not made either (seen on 2.1.332).
func (c *conversation) askHooks(made call) (said hookReply, err error) {
	for _, hook := range c.calling {
		if strings.HasPrefix(made.name, "mcp__supervise__") {
			continue
		}
		input := doc{
			"session_id": c.opts.session, "transcript_path": c.transcript.path, "cwd": c.cwd, "permission_mode": c.opts.mode,
			"hook_event_name": "PreToolUse", "tool_name": made.name, "tool_input": made.input, "tool_use_id": made.id,
		}
		if c.sub != nil {
			input["agent_id"] = c.sub.id
		}
		for _, id := range hook.IDs {
			data, err := c.request(doc{"subtype": "hook_callback", "callback_id": id, "tool_use_id": made.id, "input": input})
			if errors.Is(err, errRefused) {
				return hookReply{Decision: "deny", Reason: "PreToolUse:" + made.name + " hook error: [callback]: failed; " +
					`blocking because onFailure is "block"`}, nil
			}
			if err != nil {
				return said, err
			}
			decision := struct {
				Output *hookReply `json:"hookSpecificOutput"`
			}{&said}
			_ = json.Unmarshal(data, &decision) // what cannot be read is no opinion
		}
	}
	return said, nil
}

// feedback tells the model why its turn may not end.
func (c *conversation) feedback(t *turn, reason string) error {
	text := "Stop hook feedback:\n" + reason
	c.messages = append(c.messages, user(text))
	t.users++
	return c.userLine([]doc{{"type": "text", "text": text}}, doc{"isSynthetic": true},
		doc{"message": doc{"role": "user", "content": text}})
}
