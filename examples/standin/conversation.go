package standin

import (
	"maps"
	"strings"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

func user(text string) examples.Message {
	return examples.Message{Role: examples.User, Texts: []string{text}}
}

// echo repeats a prompt on the stream, when that is asked for.
func (a *agent) echo(p prompt) {
	if !a.opts.replay {
		return
	}
	d := doc{
		"type": "user", "message": doc{"role": "user", "content": p.text}, "parent_tool_use_id": nil, "timestamp": now(),
		"isReplay": true,
	}
	if p.uuid != "" {
		d["uuid"] = p.uuid
	}
	if p.origin != nil {
		d["origin"] = p.origin
	}
	a.message(d)
}

// record puts the turn's prompt into the transcript and echoes it. The CLI does so when the first reply comes: before
// that a crash leaves nothing behind.
func (a *agent) record(t *turn) error {
	if t.recorded {
		return nil
	}
	t.recorded = true
	if t.prompt.origin == nil {
		a.echo(t.prompt)
	}
	id := t.prompt.uuid
	if id == "" {
		id = uuid.NewString()
	}
	d := doc{"type": "user", "uuid": id, "message": doc{"role": "user", "content": t.prompt.text}, "promptSource": "sdk"}
	if t.prompt.origin != nil {
		d["promptSource"], d["origin"] = "system", t.prompt.origin
	}
	return a.keep(d)
}

// userLine prints and keeps a message to the model that no person wrote. Further members differ between the two.
func (a *agent) userLine(content []doc, shown, kept doc) error {
	id := uuid.NewString()
	message := doc{"role": "user", "content": content}
	line := doc{"type": "user", "message": message, "parent_tool_use_id": nil, "timestamp": now(), "uuid": id}
	maps.Copy(line, shown)
	a.message(line)
	entry := doc{"type": "user", "uuid": id, "message": message}
	maps.Copy(entry, kept)
	return a.keep(entry)
}

// keep appends a line to the transcript, with what all lines of it have.
func (a *agent) keep(d doc) error {
	d["parentUuid"] = nil
	if a.last != "" {
		d["parentUuid"] = a.last
	}
	d["sessionId"], d["cwd"], d["version"], d["timestamp"] = a.opts.session, a.cwd, Version, now()
	d["isSidechain"], d["userType"], d["entrypoint"] = false, "external", "sdk-cli"
	a.last, _ = d["uuid"].(string)
	return a.transcript.add(d)
}

// mend closes calls of an earlier process that never got a result.
func (a *agent) mend(open []string) error {
	for _, id := range open {
		content := []doc{{"type": "tool_result", "tool_use_id": id, "is_error": true, "content": interruptedCall}}
		a.messages = append(a.messages, user(interruptedCall))
		if err := a.keep(doc{
			"type": "user", "uuid": uuid.NewString(), "message": doc{"role": "user", "content": content},
			"toolUseResult": interruptedCall, "toolDenialKind": "interrupted",
		}); err != nil {
			return err
		}
	}
	return nil
}

const interruptedCall = "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. " +
	"Check whether it took effect before relying on it or running it again.]"

func shortID() string { return strings.ReplaceAll(uuid.NewString(), "-", "")[:20] }
