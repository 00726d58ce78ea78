package engine

import (
	"encoding/json"
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/rules"
)

// This file notices two agents that edit the same file at the same time: whoever writes last would undo what the other
// did. It tells the person, and stops nobody. Only the tools that edit are seen, not what commands write; agents in
// worktrees of their own edit files of their own. What is known is lost with the supervisor, as the processes are.

// maxEdited bounds how many edited files are remembered, and how many pairs were told.
const maxEdited = 2_000

// edits are the files that the live agents of a run have edited.
type edits struct {
	by   map[string][]editor // by path, as its links lead
	told map[editConflict]bool
}

// An editor is a launch that has edited a file.
type editor struct {
	agent  string
	launch int
}

// An editConflict is a file, and two agents in the order of their ids that edit it.
type editConflict struct{ path, first, second string }

// editedFile returns the file that a call edits, as it was named; "" if it edits none.
func editedFile(m procs.ToolUse) string {
	if rules.FileTool(m.Name) != "Edit" {
		return ""
	}
	var in struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	if json.Unmarshal(m.Input, &in) != nil {
		return ""
	}
	if in.File == "" {
		return in.Notebook
	}
	return in.File
}

// edited takes note of an edit, and gives what the person is told of it; "" if nobody else is at the file, or that was
// told. locate gives a path as its links lead.
func (e *edits) edited(s supervisor.State, c *listen.Listener, m procs.ToolUse,
	locate func(path, cwd string) string) string {
	named := editedFile(m)
	if named == "" || s.Agents.Len() < 2 {
		return ""
	}
	path := locate(named, s.Folder(c.Agent))
	if e.by == nil {
		e.by, e.told = map[string][]editor{}, map[editConflict]bool{}
	}
	told := ""
	self := editor{c.Agent, c.Launch}
	var still []editor
	for _, other := range e.by[path] {
		if other.agent == self.agent || !works(s, other) {
			continue
		}
		still = append(still, other)
		pair := editConflict{path, min(self.agent, other.agent), max(self.agent, other.agent)}
		if !e.told[pair] && len(e.told) < maxEdited {
			e.told[pair] = true
			told = fmt.Sprintf("edits %s, which %s is at work on, too: what one of them writes the other may undo",
				path, label.Title(s.Agents.Get(other.agent)))
		}
	}
	if len(e.by) >= maxEdited {
		e.forget(s)
	}
	if len(e.by) < maxEdited {
		e.by[path] = append(still, self)
	}
	return told
}

// forget forgets the edits of launches that are over.
func (e *edits) forget(s supervisor.State) {
	for path, editors := range e.by {
		live := false
		for _, who := range editors {
			live = live || works(s, who)
		}
		if !live {
			delete(e.by, path)
		}
	}
}

// works reports whether a launch lives and does not merely wait for the agents that it has started.
func works(s supervisor.State, who editor) bool {
	l := s.Live(who.agent)
	return l != nil && l.N == who.launch && s.Agents.Get(who.agent).Status != checkpoints.Blocked
}
