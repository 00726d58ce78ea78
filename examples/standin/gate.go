package standin

import (
	"encoding/json"
	"errors"

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

// askStart asks the hooks before a call that starts a subagent what its prompt is to be.
func (c *conversation) askStart(made call) (string, error) {
	prompt := made.text("prompt")
	err := c.askHooks(made, func(reply hookReply) {
		if changed, ok := reply.Updated["prompt"].(string); ok {
			prompt = changed
		}
	})
	return prompt, err
}

// asksFirst asks the hooks before a call whether a person is to be asked, and why; "" if not.
func (c *conversation) asksFirst(made call) (why string, err error) {
	err = c.askHooks(made, func(reply hookReply) {
		if reply.Decision == "ask" {
			why = reply.Reason
		}
	})
	return why, err
}

// hookReply is what a hook says of a call.
type hookReply struct {
	Updated  map[string]any `json:"updatedInput"`
	Decision string         `json:"permissionDecision"`
	Reason   string         `json:"permissionDecisionReason"`
}

// askHooks asks the hooks before a call.
func (c *conversation) askHooks(made call, said func(hookReply)) error {
	for _, hook := range c.calling {
		if !hook.matches(made.name) {
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
			if errors.Is(err, errStreamClosed) || errors.Is(err, errRefused) {
				return nil
			}
			if err != nil {
				return err
			}
			var decision struct {
				Output hookReply `json:"hookSpecificOutput"`
			}
			if err := json.Unmarshal(data, &decision); err == nil {
				said(decision.Output)
			}
		}
	}
	return nil
}

// feedback tells the model why its turn may not end.
func (c *conversation) feedback(t *turn, reason string) error {
	text := "Stop hook feedback:\n" + reason
	c.messages = append(c.messages, user(text))
	t.users++
	return c.userLine([]doc{{"type": "text", "text": text}}, doc{"isSynthetic": true},
		doc{"message": doc{"role": "user", "content": text}})
}
