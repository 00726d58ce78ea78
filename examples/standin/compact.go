package standin

import (
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// compactFrom is the size of a reply, in tokens, from which on the CLI compacts the conversation before it goes on
// (2.1.332, for the model that it takes by itself).
const compactFrom = 970_000

// compactedTo is what the conversation begins with then. Its summary tells nothing of what was said.
const compactedTo = "This session is being continued from a previous conversation that ran out of context. The " +
	"summary below covers the earlier portion of the conversation.\n\nSummary:\nScripted"

// compactIfFull puts a summary in place of the conversation if its last reply says that it has grown too long, and
// below that what the hooks have to say.
func (c *conversation) compactIfFull(t *turn) error {
	if t.last.tokens() < compactFrom {
		return nil
	}
	t.last = spent{}
	boundary := doc{"type": "system", "subtype": "compact_boundary", "uuid": uuid.NewString()}
	c.compacts(doc{"subtype": "status", "status": "compacting"})
	said, err := c.askCompactHooks()
	if err != nil {
		return err
	}
	c.compacts(doc{"subtype": "status", "status": nil, "compact_result": "success"})
	c.compacts(doc{"subtype": "compact_boundary", "uuid": boundary["uuid"], "compact_metadata": doc{"trigger": "auto"}})
	if err := c.keep(boundary); err != nil {
		return err
	}
	c.messages = append(c.messages[:1:1], user(compactedTo)) // after the system prompt
	err = c.userLine([]doc{{"type": "text", "text": compactedTo}}, doc{"isSynthetic": true}, doc{"isCompactSummary": true})
	if err != nil || len(said) == 0 {
		return err
	}
	c.messages = append(c.messages, examples.Message{Role: examples.System, Texts: said})
	return c.keep(doc{"type": "attachment", "uuid": uuid.NewString(), "attachment": doc{
		"type": "hook_additional_context", "content": said, "hookName": "SessionStart", "hookEvent": "SessionStart",
	}})
}

// compacts tells of it on the stream, which has nothing of a subagent's.
func (c *conversation) compacts(d doc) {
	if c.sub == nil {
		d["type"] = "system"
		c.message(d)
	}
}

// askCompactHooks returns what the hooks have to say to a conversation that was compacted.
func (c *conversation) askCompactHooks() (said []string, err error) {
	input := doc{
		"session_id": c.opts.session, "transcript_path": c.transcript.path, "cwd": c.cwd,
		"hook_event_name": "SessionStart", "source": "compact",
	}
	if c.sub != nil {
		input["agent_id"] = c.sub.id
	}
	for _, hook := range c.compact {
		for _, id := range hook.IDs {
			data, err := c.request(doc{"subtype": "hook_callback", "callback_id": id, "tool_use_id": uuid.NewString(),
				"input": input})
			if errors.Is(err, errStreamClosed) || errors.Is(err, errRefused) {
				continue
			}
			if err != nil {
				return nil, err
			}
			var answer struct {
				Output struct {
					Context string `json:"additionalContext"`
				} `json:"hookSpecificOutput"`
			}
			if json.Unmarshal(data, &answer) == nil && answer.Output.Context != "" {
				said = append(said, answer.Output.Context)
			}
		}
	}
	return said, nil
}
