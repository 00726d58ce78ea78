package claude

import (
	"cmp"
	"slices"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// Bounds on what is remembered of subagents; a child that claims more is not believed.
const (
	maxSubagents = 256      // that live
	maxCalls     = 2000     // that are open
	maxPrompt    = 64 << 10 // bytes of a prompt
	maxID        = 256      // bytes of an id
)

// MaxLevels is how many levels of subagents, each started by one above it, are told of.
const MaxLevels = 8

// StartsSubagent reports whether a tool of claude's starts a subagent. It is called Agent, and was called Task before.
func StartsSubagent(tool string) bool { return tool == "Agent" || tool == "Task" }

// A subagents knows the subagents of a process, and whose the open calls are. Releases tell of them thus:
//
//	all      the call that starts one (Agent, or Task), by name; its lines name that call (parent_tool_use_id)
//	2.1.100  its id when it starts (task_started), what it calls (task_progress), and its end
//	         (task_notification); of one in the background that is all: it has no lines
//	2.1.200  its type and task on its lines
//	2.1.329  its id on its lines, its depth
//
// One that a later process revives (SendMessage) has the id and, on its lines, the starting call that it had before;
// task_started then has the message in place of the task.
type subagents struct {
	known   []*subagent       // oldest first
	calls   map[string]string // open calls: the call that started the subagent which made it, "" for the main conversation
	unshown []unshown         // and those that we are asked about before there is a line of them
}

// An unshown call is a subagent's: the main conversation's have their lines before anything is asked about them.
type unshown struct {
	toolUse, tool string
	by            *subagent // nil: one of several that live
	told          bool      // a task_progress has told of it
}

type subagent struct {
	procs.Subagent
	starter  string // the call that started the subagent which started it, "" for the main conversation
	outlives bool   // its call has a result before it ends
	calling  string // the tool that it calls, as long as its line with the call has not come
}

// used takes a call that the assistant makes, or a subagent (parent).
func (s *subagents) used(parent string, b stream.Block) {
	if len(b.ID) > maxID || len(parent) > maxID {
		return
	}
	if len(s.calls) < maxCalls {
		if s.calls == nil {
			s.calls = map[string]string{}
		}
		s.calls[b.ID] = parent
	}
	if a := s.startedBy(parent); a != nil && a.calling == b.Name {
		a.calling = ""
	}
	s.shown(b.ID)
	if !StartsSubagent(b.Name) {
		return
	}
	var in struct {
		Task       string `json:"description"`
		Prompt     string `json:"prompt"`
		Type       string `json:"subagent_type"`
		Background bool   `json:"run_in_background"`
	}
	if !stream.Decode(b.Input, &in) {
		return
	}
	s.add(&subagent{starter: parent, outlives: in.Background, Subagent: procs.Subagent{
		ToolUse: b.ID, Type: procs.Cut(in.Type, procs.MaxShown), Task: procs.Cut(in.Task, procs.MaxShown),
		Prompt: procs.Cut(in.Prompt, maxPrompt),
		Depth:  s.depth(parent) + 1,
	}})
}

// depth is that of the conversation in which the calls have this parent.
func (s *subagents) depth(parent string) int {
	if parent == "" {
		return 0
	}
	if a := s.startedBy(parent); a != nil {
		return a.Depth
	}
	return 1
}

// says takes a line of a subagent.
func (s *subagents) says(l *line) {
	if l.Parent == "" || len(l.Parent) > maxID || len(l.AgentID) > maxID {
		return
	}
	a := s.startedBy(l.Parent)
	if a == nil {
		a = s.by(func(a *subagent) bool { return a.ToolUse == "" && a.ID != "" && a.ID == l.AgentID })
	}
	if a == nil {
		a = &subagent{Subagent: procs.Subagent{Depth: 1}}
		s.add(a)
	}
	a.ToolUse = l.Parent
	a.learn(l.AgentID, l.SubagentType, l.TaskDescription)
}

// started takes a task_started.
func (s *subagents) started(t streamTask) {
	if t.TaskType != "local_agent" || t.TaskID == "" || len(t.TaskID) > maxID {
		return
	}
	a := s.startedBy(t.ToolUseID)
	if a == nil {
		a = s.by(func(a *subagent) bool { return a.ID == t.TaskID })
	}
	if a == nil {
		a = &subagent{Subagent: procs.Subagent{Depth: 1}} // its lines will name the call that started it
		s.add(a)
	}
	a.learn(t.TaskID, t.SubagentType, t.Description)
	a.Depth = cmp.Or(t.SpawnDepth, a.Depth)
	if by := s.by(func(a *subagent) bool { return t.Starter != "" && a.ID == t.Starter }); by != nil {
		a.starter = cmp.Or(a.starter, by.ToolUse)
	}
	a.outlives = true // its end will be told
}

// learn takes what is not known yet.
func (a *subagent) learn(id, kind, task string) {
	a.ID = cmp.Or(a.ID, id)
	a.Type = cmp.Or(a.Type, procs.Cut(kind, procs.MaxShown))
	a.Task = cmp.Or(a.Task, procs.Cut(task, procs.MaxShown))
}

// gave takes the result of a call.
func (s *subagents) gave(toolUse string) {
	delete(s.calls, toolUse)
	s.shown(toolUse)
	s.forget(func(a *subagent) bool { return a.ToolUse == toolUse && !a.outlives })
}

// progressed takes a task_progress. It comes before what it tells of is asked about (2.1.200), or after (2.1.100).
func (s *subagents) progressed(t streamTask) {
	a := s.by(func(a *subagent) bool { return a.ID != "" && a.ID == t.TaskID })
	if a == nil {
		return
	}
	tool := procs.Cut(t.LastTool, procs.MaxShown)
	for i, c := range s.unshown {
		if !c.told && c.tool == tool && (c.by == nil || c.by == a) {
			s.unshown[i].by, s.unshown[i].told = a, true
			return
		}
	}
	a.calling = tool
}

// ended takes a task_notification. It tells that calls which had no lines have had their results: those of this
// subagent, and where none lives any more, all.
func (s *subagents) ended(t streamTask) (had []procs.Message) {
	a := s.by(func(a *subagent) bool { return a.ID != "" && a.ID == t.TaskID })
	if a == nil {
		return nil
	}
	of := func(c unshown) bool { return c.by == a }
	if s.by(func(other *subagent) bool { return other != a && other.outlives }) == nil {
		of = func(unshown) bool { return true }
	}
	for _, c := range s.unshown {
		if of(c) {
			had = append(had, procs.ToolResult{Parent: a.ToolUse, ToolUse: c.toolUse})
		}
	}
	s.unshown = slices.DeleteFunc(s.unshown, of)
	s.forget(func(known *subagent) bool { return known == a })
	return had
}

// shown forgets an unshown call: its lines tell the rest.
func (s *subagents) shown(toolUse string) {
	s.unshown = slices.DeleteFunc(s.unshown, func(c unshown) bool { return c.toolUse == toolUse })
}

func (s *subagents) add(a *subagent) {
	if len(s.known) >= maxSubagents {
		oldest := s.known[0]
		s.forget(func(a *subagent) bool { return a == oldest })
	}
	s.known = append(s.known, a)
}

// forget forgets subagents, and their calls.
func (s *subagents) forget(which func(*subagent) bool) {
	s.known = slices.DeleteFunc(s.known, func(a *subagent) bool {
		if !which(a) {
			return false
		}
		for call, parent := range s.calls {
			if parent != "" && parent == a.ToolUse {
				delete(s.calls, call)
			}
		}
		s.unshown = slices.DeleteFunc(s.unshown, func(c unshown) bool { return c.by == a })
		return true
	})
}

// startedBy returns the subagent that a call started, nil if none is known.
func (s *subagents) startedBy(toolUse string) *subagent {
	return s.by(func(a *subagent) bool { return toolUse != "" && a.ToolUse == toolUse })
}

func (s *subagents) by(which func(*subagent) bool) *subagent {
	if i := slices.IndexFunc(s.known, which); i >= 0 {
		return s.known[i]
	}
	return nil
}

// caller tells who makes a call of a tool; id is the subagent's where the request has it. The main conversation is the
// zero Subagent; one of several that it may be has nothing but a depth.
func (s *subagents) caller(toolUse, id, tool string) procs.Subagent {
	parent, told := s.calls[toolUse]
	a := s.startedBy(parent)
	if a == nil && id != "" {
		a = s.by(func(a *subagent) bool { return a.ID == id })
	}
	hidden := a == nil && id == "" && !told && toolUse != "" && len(toolUse) <= maxID && s.by(outlives) != nil
	if hidden {
		a = s.hiddenCaller(toolUse, tool)
	}
	switch {
	case a != nil:
		found := s.withStarters(a, MaxLevels)
		found.ID = cmp.Or(found.ID, id)
		return found
	case parent == "" && id == "" && !hidden:
		return procs.Subagent{}
	}
	return procs.Subagent{ID: id, ToolUse: parent, Depth: 1}
}

// withStarters returns a subagent with those that started it, so many levels up.
func (s *subagents) withStarters(a *subagent, levels int) procs.Subagent {
	found := a.Subagent
	if by := s.startedBy(a.starter); by != nil && levels > 1 {
		found.By = new(s.withStarters(by, levels-1))
	}
	return found
}

// hiddenCaller returns who makes a call that has no line yet: the subagent that was said to call the tool, else the
// only one.
func (s *subagents) hiddenCaller(toolUse, tool string) *subagent {
	call := unshown{toolUse: toolUse, tool: procs.Cut(tool, procs.MaxShown)}
	call.by = s.by(func(a *subagent) bool { return call.tool != "" && a.calling == call.tool })
	if call.told = call.by != nil; call.told {
		call.by.calling = ""
	} else if living := s.all(outlives); len(living) == 1 {
		call.by = living[0]
	}
	if len(s.unshown) < maxCalls {
		s.unshown = append(s.unshown, call)
	}
	return call.by
}

func outlives(a *subagent) bool { return a.outlives }

func (s *subagents) all(which func(*subagent) bool) []*subagent {
	return slices.DeleteFunc(slices.Clone(s.known), func(a *subagent) bool { return !which(a) })
}
