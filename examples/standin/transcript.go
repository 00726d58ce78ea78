package standin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"claude-supervise/examples"
	"claude-supervise/procs/stream"
)

// A conversation is kept in one file of JSON lines, that of each subagent beside it, with what it was started for:
//
//	${CLAUDE_CONFIG_DIR:-$HOME/.claude}/projects/FOLDER/SESSION.jsonl
//	…/projects/FOLDER/SESSION/subagents/agent-ID.jsonl
//	…/projects/FOLDER/SESSION/subagents/agent-ID.meta.json
//
// FOLDER is the working directory with a dash for each character that is no letter or digit. A message stands there as
// it stood in the stream, a person's under its uuid; one that was taken into a running turn is an attachment. Lines
// are single appends and never rewritten, so a crash loses the last line at most.

var notAlphanumeric = examples.Lazily(`[^0-9A-Za-z]`)

// projects is where the conversations of all folders are kept.
func projects(getenv func(string) string) string {
	config := getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".claude")
	}
	return filepath.Join(config, "projects")
}

// munged is the name of a folder as part of a path.
func munged(folder string) string { return notAlphanumeric().ReplaceAllString(folder, "-") }

// findTranscript returns the path of a session's transcript, from whatever folder it was; "" if there is none.
func findTranscript(projects, session string) string {
	if uuid.Validate(session) != nil {
		return ""
	}
	found, err := filepath.Glob(filepath.Join(projects, "*", session+".jsonl"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0]
}

// A transcript is that file. It begins to exist with its first line.
type transcript struct {
	path string
	head []doc // what it begins with
	file *os.File
}

// add appends a line.
func (t *transcript) add(d doc) error {
	if t.file == nil {
		if err := t.open(); err != nil {
			return fmt.Errorf("keep the conversation: %w", err)
		}
	}
	for _, d := range append(t.head, d) {
		if _, err := t.file.Write(append(encode(d), '\n')); err != nil {
			return fmt.Errorf("keep the conversation: %w", err)
		}
	}
	t.head = nil
	return nil
}

func (t *transcript) open() (err error) {
	if err := os.MkdirAll(filepath.Dir(t.path), 0o700); err != nil {
		return err
	}
	if t.file, err = os.OpenFile(t.path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600); err != nil {
		return err
	}
	return t.endTornLine()
}

// endTornLine gives a line that a crash has cut its newline.
func (t *transcript) endTornLine() error {
	size, err := t.file.Seek(0, io.SeekEnd)
	if err != nil || size == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := t.file.ReadAt(last, size-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = t.file.WriteString("\n")
	return err
}

// An entry is a line of a transcript, as far as it is read again.
type entry struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	Message struct {
		ID      string         `json:"id"`
		Content stream.Content `json:"content"`
	} `json:"message"`
	Timestamp  time.Time `json:"timestamp"`
	IsAPIError bool      `json:"isApiErrorMessage"`
	Error      string    `json:"error"`
	Attachment struct {
		Type    string          `json:"type"`
		Prompt  string          `json:"prompt"`
		Content json.RawMessage `json:"content"`
	} `json:"attachment"`
	ToolUseResult json.RawMessage       `json:"toolUseResult"`
	ModelUsage    map[string]modelUsage `json:"modelUsage"`
}

// A past is what a transcript tells to those who go on with it.
type past struct {
	messages []examples.Message
	answered map[string]bool // uuids of a person's messages that have had a reply: sent again, they are not run again
	open     []string        // calls without a result
	tasks    []orphan        // background work without an end
	spent    spent           // by processes that ended orderly
	limited  time.Time       // when a usage limit was first met; zero: never
	last     string          // uuid of the last line
	cuts     map[string]cut  // by the uuid of each line

	path    string   // of the transcript
	reply   string   // id of the assistant's message that is being read
	inReply bool     // the last line was one of it
	waiting []string // uuids of a person's messages that have had no reply yet
}

// readTranscript reads a conversation.
func readTranscript(path string) (*past, error) {
	p := &past{path: path, answered: map[string]bool{}, cuts: map[string]cut{}}
	return p, eachLine(path, p.take)
}

// eachLine reads the lines of a transcript. Those that are torn or not understood are skipped, as the CLI does.
func eachLine[Line any](path string, take func(Line)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the conversation: %w", err)
	}
	for data := range bytes.Lines(text) {
		var l Line
		if json.Unmarshal(data, &l) == nil {
			take(l)
		}
	}
	return nil
}

// description says what a subagent of the conversation was started for.
func (p *past) description(id string) string {
	s, err := readSubagent(p.path, id)
	if err != nil {
		return ""
	}
	return s.Task
}

func (p *past) take(e entry) {
	p.at(e.Parent)
	if e.UUID != "" {
		p.last = e.UUID
		defer p.passed(e.UUID)
	}
	switch e.Type {
	case "user":
		p.received(examples.User, e.Message.Content.Texts())
		p.results(e)
		p.waiting = append(p.waiting, e.UUID)
	case "attachment":
		switch e.Attachment.Type {
		case "queued_command":
			p.received(examples.System, []string{e.Attachment.Prompt})
		case "hook_additional_context":
			var texts []string
			_ = json.Unmarshal(e.Attachment.Content, &texts) // one without says nothing
			p.received(examples.System, texts)
		}
	case "system":
		if e.Subtype == "compact_boundary" {
			p.messages, p.inReply = nil, false
		}
	case "assistant":
		for _, uuid := range p.waiting {
			p.answered[uuid] = true
		}
		p.waiting = nil
		switch {
		case !e.IsAPIError:
			p.said(e)
		case e.Error == rateLimit && p.limited.IsZero():
			p.limited = e.Timestamp
		}
	case "cost-state":
		p.spent = spent{}
		for _, u := range e.ModelUsage {
			p.spent = p.spent.plus(examples.Usage(u))
		}
	}
}

func (p *past) received(role examples.Role, texts []string) {
	p.messages = append(p.messages, examples.Message{Role: role, Texts: texts})
	p.inReply = false
	for _, t := range texts {
		if m := tasksOf().FindString(t); m != "" {
			p.tasks = slices.DeleteFunc(p.tasks, func(o orphan) bool {
				return strings.Contains(m, "<task-id>"+o.id+"</task-id>")
			})
		}
	}
}

// results closes the calls that a message holds the results of.
func (p *past) results(e entry) {
	var result struct {
		BackgroundTaskID string `json:"backgroundTaskId"`
		IsAsync          bool   `json:"isAsync"`
		AgentID          string `json:"agentId"`
		RevivedAgentID   string `json:"revivedAgentId"`
		Description      string `json:"description"`
	}
	_ = json.Unmarshal(e.ToolUseResult, &result) // a failed call has a text there
	for _, b := range e.Message.Content {
		if b.Type != "tool_result" {
			continue
		}
		p.open = slices.DeleteFunc(p.open, func(id string) bool { return id == b.ToolUseID })
		switch {
		case result.BackgroundTaskID != "":
			p.tasks = append(p.tasks, orphan{id: result.BackgroundTaskID, call: b.ToolUseID})
		case result.IsAsync:
			p.tasks = append(p.tasks, orphan{id: result.AgentID, subagent: result.Description})
		case result.RevivedAgentID != "":
			p.tasks = append(p.tasks, orphan{id: result.RevivedAgentID, subagent: p.description(result.RevivedAgentID)})
		}
	}
}

// said takes a line of the assistant: one block of a message, whose lines follow each other.
func (p *past) said(e entry) {
	if !p.inReply || e.Message.ID != p.reply {
		p.messages = append(p.messages, examples.Message{Role: examples.Assistant})
		p.reply, p.inReply = e.Message.ID, true
	}
	last := &p.messages[len(p.messages)-1]
	last.Texts = append(last.Texts, e.Message.Content.Texts()...)
	for _, b := range e.Message.Content {
		if b.Type == "tool_use" {
			p.open = append(p.open, b.ID)
		}
	}
}

// forgetOpen takes away what was last said, if it was nothing but calls that never had a result.
func (p *past) forgetOpen() {
	last := len(p.messages) - 1
	if last >= 0 && len(p.open) > 0 && p.messages[last].Role == examples.Assistant && len(p.messages[last].Texts) == 0 {
		p.messages = p.messages[:last]
	}
	p.open = nil
}
