package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// This file continues a conversation at calls that are open at its end (Spec.At): their results are given as if the
// process that made them had never ended. Measured on 2.1.270 and 2.1.329 to 2.1.332, after SIGTERM and SIGKILL:
//
//   - What the model is sent is what a process that waited would have sent. What follows the line is cut off, so
//     nothing may follow it that is worth keeping.
//   - The results of the other calls of the message stand in lines after all of its own: continued at the last of
//     these, all are kept. A call that has none there is told to the model as an internal error.
//   - UserPromptSubmit hooks are called with an empty prompt. One that refuses it has nothing said, and no file that a
//     result mentions by @ is attached.
//   - Without the flag the results are dropped, and the model is told that the calls were interrupted.

// Why a conversation cannot be continued at its open calls.
var (
	errMoved   = errors.New("the conversation has gone on since the question")
	errNoCall  = errors.New("the conversation does not have the call that asked")
	errSibling = errors.New("another call beside the question has no result")
	errSummary = errors.New("the conversation was compacted since the question")
)

// PlaceOf returns the line, by its uuid, at which a conversation is continued so that these calls, made in one message,
// can be given their results, and every other call of that message keeps its own. It reads the whole transcript. The
// error says why there is none.
func PlaceOf(transcript string, calls []string) (at string, err error) {
	var m asking
	if err := scanLines(transcript, func(data []byte) bool {
		var l line
		if stream.Decode(data, &l) && !l.Sidechain {
			m.read(&l, calls)
		}
		return false
	}); err != nil {
		return "", err
	}
	return m.place(calls)
}

// An asking is the last message of a conversation and what follows it.
type asking struct {
	id    string
	uses  []string          // its calls, in their order
	lines map[string]string // by the call, the line that holds it
	done  map[string]bool   // calls beside those that asked, which have their results
	last  string            // the last line of it, or of such a result
	moved bool              // something was said after it
	cut   bool              // it was compacted, and the assistant has said nothing since
}

func (m *asking) read(l *line, calls []string) {
	switch {
	case l.Type == "assistant":
		if m.id != l.Message.ID || m.id == "" {
			*m = asking{id: l.Message.ID, lines: map[string]string{}, done: map[string]bool{}}
		}
		m.last = l.UUID
		for _, b := range l.Message.Content {
			if b.Type == "tool_use" {
				m.uses, m.lines[b.ID] = append(m.uses, b.ID), l.UUID
			}
		}
	case l.Type == "system" && l.Subtype == "compact_boundary":
		*m = asking{cut: true}
	case l.Type == "attachment" && l.Attachment.Type == "queued_command":
		m.moved = true
	case l.Type == "user":
		for _, b := range l.Message.Content {
			switch {
			case b.Type != "tool_result":
				m.moved = m.id != ""
			case slices.Contains(calls, b.ToolUseID): // one that was not read, or the CLI's own in its place
			case slices.Contains(m.uses, b.ToolUseID) && !(b.IsError && inPlaceOfAnswer(b.Content.Text())):
				m.done[b.ToolUseID], m.last = true, l.UUID
			}
		}
	}
}

// A prefix is a conversation until the results of calls that were open once.
type prefix struct {
	asking
	calls []string
	asked bool // the calls were made
}

// ends reports whether a line is not part of it any more: the result of one of the calls, or what came after them.
func (p *prefix) ends(l *line) bool {
	if !p.asked || l.Sidechain {
		return false
	}
	switch l.Type {
	case "assistant":
		return l.Message.ID != p.id
	case "system":
		return l.Subtype == "compact_boundary"
	case "attachment":
		return l.Attachment.Type == "queued_command"
	case "user":
		return slices.ContainsFunc(l.Message.Content, func(b stream.Block) bool {
			return b.Type != "tool_result" || slices.Contains(p.calls, b.ToolUseID)
		})
	}
	return false
}

func (p *prefix) read(l *line) {
	if l.Sidechain {
		return
	}
	p.asking.read(l, p.calls)
	for _, call := range p.calls {
		p.asked = p.asked || slices.Contains(p.uses, call)
	}
}

// PrefixOf returns the size of the beginning of a transcript, in bytes, that ends where calls of one message wait for
// their results, whatever has become of them since. The error says why it has none.
func PrefixOf(transcript string, calls []string) (size int64, err error) {
	p := prefix{calls: calls}
	if err := scanWhole(transcript, func(data []byte, end int64) bool {
		var l line
		known := stream.Decode(data, &l)
		if end == size || known && p.ends(&l) { // the last line has no newline, or it is behind the calls
			return true
		}
		if size = end; known {
			p.read(&l)
		}
		return false
	}); err != nil {
		return 0, err
	}
	_, err = p.place(calls)
	return size, err
}

func (m *asking) place(calls []string) (at string, err error) {
	switch {
	case len(calls) == 0 || m.moved:
		return "", errMoved
	case m.cut:
		return "", errSummary
	}
	beside, asked := false, 0
	for _, use := range m.uses {
		switch {
		case slices.Contains(calls, use):
			if beside {
				return "", errSibling
			}
			asked++
			at = m.lines[use]
		case !m.done[use]:
			beside = true // what follows is cut off with it
		}
	}
	switch {
	case asked < len(calls) && asked == 0:
		return "", errNoCall
	case asked < len(calls):
		return "", errMoved
	case !beside:
		return m.last, nil
	case len(m.done) > 0:
		return "", errSibling
	}
	return at, nil
}

// SendResults writes a user message that holds the results of calls that are open where the conversation is continued
// (Spec.At): without, they would be lost, and it fails. Otherwise it is as Send.
func (d *dialogue) SendResults(uuid string, results []procs.CallResult) error {
	if !d.Spec.Resume || d.Spec.At == "" {
		return errors.New("the conversation is not continued at the calls whose results these are")
	}
	var content []any
	for _, r := range results {
		switch {
		case len(r.Images) > 0:
			content = append(content, shownResult{"tool_result", blocks(r.Text, r.Images), r.IsError, r.ToolUse})
		case r.Blocks:
			content = append(content, servedResult{r.ToolUse, "tool_result", []textContent{{"text", r.Text}}})
		default:
			content = append(content, textResult{"tool_result", r.Text, r.IsError, r.ToolUse})
		}
	}
	return d.stdin.write(map[string]any{
		"type": "user", "uuid": uuid, "message": map[string]any{"role": "user", "content": content},
	})
}

// The results of calls, with their members in the order in which the CLI writes them.
type (
	textResult struct {
		Type    string `json:"type"`
		Content string `json:"content"`
		IsError bool   `json:"is_error,omitempty"`
		ToolUse string `json:"tool_use_id"`
	}
	shownResult struct { // with images
		Type    string `json:"type"`
		Content []any  `json:"content"`
		IsError bool   `json:"is_error,omitempty"`
		ToolUse string `json:"tool_use_id"`
	}
	servedResult struct { // of an MCP server
		ToolUse string        `json:"tool_use_id"`
		Type    string        `json:"type"`
		Content []textContent `json:"content"`
	}
)

// AnsweredText is what the model reads as the result of AskUserQuestion, whose input with its answers this is: the
// words of 2.1.270 to 2.1.332. Answers that are all labels of options are told otherwise than words of a person's own,
// be they notes to what was chosen.
func AnsweredText(input json.RawMessage) string {
	var in struct {
		Questions []struct {
			Question    string                   `json:"question"`
			Options     []struct{ Label string } `json:"options"`
			MultiSelect bool                     `json:"multiSelect"`
		} `json:"questions"`
		Answers     map[string]string                          `json:"answers"`
		Annotations map[string]struct{ Preview, Notes string } `json:"annotations"`
	}
	_ = json.Unmarshal(input, &in) // what cannot be read has no answer
	var told []string
	chosen := true
	for _, q := range in.Questions {
		answer := in.Answers[q.Question]
		if answer == "" {
			continue
		}
		said, beside := fmt.Sprintf(`"%s"="%s"`, q.Question, answer), in.Annotations[q.Question]
		if beside.Preview != "" {
			said += " selected preview:\n" + beside.Preview
		}
		if beside.Notes != "" {
			said += " notes: " + beside.Notes
		}
		told = append(told, said)
		listed := func(label string) bool {
			return slices.Contains(q.Options, struct{ Label string }{label})
		}
		several := q.MultiSelect && !strings.Contains(answer, `"`) &&
			!slices.ContainsFunc(strings.Split(answer, ", "), func(label string) bool { return !listed(label) })
		chosen = chosen && (listed(answer) || several) && beside.Notes == ""
	}
	switch all := strings.Join(told, ", "); {
	case all == "":
		return "The user did not answer the questions."
	case chosen:
		return "Your questions have been answered: " + all + ". You can now continue with these answers in mind."
	default:
		return "The user answered: " + all + ". Read the answers carefully — they may request clarification, changes, or " +
			"that you not proceed — and follow what they actually say."
	}
}
