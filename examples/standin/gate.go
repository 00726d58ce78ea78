package standin

import (
	"encoding/json"
	"errors"

	"github.com/google/uuid"
)

// askGate asks the Stop hooks whether the turn may end; reason is why not. Nobody is asked once the input has ended.
func (a *agent) askGate(t *turn, again bool) (reason string, err error) {
	for _, hook := range a.hooks {
		tasks := []doc{}
		for _, task := range a.tasks {
			tasks = append(tasks, doc{
				"id": task.id, "type": "shell", "status": "running", "description": task.description, "command": task.command,
			})
		}
		data, err := a.request(doc{"subtype": "hook_callback", "callback_id": hook, "tool_use_id": uuid.NewString(), "input": doc{
			"session_id": a.opts.session, "transcript_path": a.transcript.path, "cwd": a.cwd, "permission_mode": a.opts.mode,
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

// feedback tells the model why its turn may not end.
func (a *agent) feedback(t *turn, reason string) error {
	text := "Stop hook feedback:\n" + reason
	a.messages = append(a.messages, user(text))
	t.users++
	return a.userLine([]doc{{"type": "text", "text": text}}, doc{"isSynthetic": true},
		doc{"message": doc{"role": "user", "content": text}})
}
