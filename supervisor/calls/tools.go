// Package calls is what is known of the tools of Claude Code: which members of a call's input say what it does, whether
// it runs or writes something, and whether a rule may permit the same again.
//
// A person permits what stands in the headline of a question, and finds it in lists, notices and the audit log. So it
// is made of what the call does and never of what the model says about it: see Headline. Add a row for each tool of a
// new release; e2e/claude fails for one in its init line that has none.
package calls

import (
	"encoding/json"
	"slices"
	"strings"
)

// A Tool is what is known of one tool.
type Tool struct {
	Name string
	Head []string // the members of its input that say what it does, the most telling first
	Said []string // the members that nothing comes of: what the model says about the call
	More []string // its other members
	Acts bool     // it runs or writes something, or reaches somebody
	Rule Rule     // by what a rule may permit the same for the whole run
	// About is what allowing a call lets happen that its input does not show; "" if nothing.
	About string
}

// A Rule says what a rule about a tool names, if a person may be offered one.
type Rule int

// A rule may name nothing, since no rule says what a call of the tool does; the tool alone; or the tool with the
// command, the file, the host, or the member that its headline begins with.
const (
	NoRule Rule = iota
	ByTool
	ByCommand
	ByFile
	ByHost
	ByName
)

// all are the tools in the init lines of 2.1.7, 2.1.100, 2.1.200, 2.1.329 and 2.1.332, by their names in calls, and
// those that a rule may name. Members are those of all these releases.
var all = []Tool{
	{Name: "Agent", Head: []string{"subagent_type", "prompt"}, Said: []string{"description"}, Acts: true, Rule: ByName,
		More:  []string{"model", "effort", "run_in_background", "isolation", "resume", "max_turns"},
		About: "It starts a subagent, whose own calls are asked about as this one's are."},
	{Name: "AskUserQuestion", Head: []string{"questions"}, More: []string{"answers", "annotations", "metadata"}},
	{Name: "Bash", Head: []string{"command"}, Said: []string{"description"}, Acts: true, Rule: ByCommand,
		More: []string{"timeout", "run_in_background", "dangerouslyDisableSandbox"}},
	{Name: "CronCreate", Head: []string{"cron", "prompt"}, More: []string{"recurring", "durable"}, Acts: true,
		About: "At these times the prompt starts a turn by itself; a durable one also in later sessions of this folder."},
	{Name: "CronDelete", Head: []string{"id"}, Rule: ByTool},
	{Name: "CronList", Rule: ByTool},
	{Name: "DeferredToolPlaceholder", Rule: ByTool},
	{Name: "Edit", Head: []string{"file_path"}, More: []string{"old_string", "new_string", "replace_all"}, Acts: true,
		Rule: ByFile},
	{Name: "EnterPlanMode", Rule: ByTool},
	{Name: "EnterWorktree", Head: []string{"name", "path"}, Acts: true,
		About: "It makes a git worktree, or takes one that is there, and works in it from then on."},
	{Name: "ExitPlanMode", Head: []string{"plan"}, More: []string{"allowedPrompts", "planFilePath"}, Acts: true,
		About: "It ends plan mode: what was not asked about before plan mode is not asked about any more."},
	{Name: "ExitWorktree", Head: []string{"action"}, More: []string{"discard_changes"}, Acts: true,
		About: "With remove, the worktree and its branch are deleted; with discard_changes, unmerged work, too."},
	{Name: "Glob", Head: []string{"pattern", "path"}},
	{Name: "Grep", Head: []string{"pattern", "path"}, More: []string{"glob", "output_mode", "-B", "-A", "-C", "context",
		"-n", "-i", "-o", "type", "head_limit", "offset", "multiline"}},
	{Name: "KillShell", Head: []string{"shell_id"}, Rule: ByTool},
	{Name: "ListAgents", Head: []string{"q", "channel"}, More: []string{"cursor"}, Rule: ByTool},
	{Name: "MCPSearch", Head: []string{"query"}, More: []string{"max_results"}, Rule: ByTool},
	{Name: "Monitor", Head: []string{"command", "ws"}, Said: []string{"description"}, Acts: true,
		More:  []string{"timeout_ms", "persistent"},
		About: "It runs in the background; what it prints comes to the agent."},
	{Name: "MultiEdit", Head: []string{"file_path"}, More: []string{"edits"}, Acts: true, Rule: ByFile},
	{Name: "NotebookEdit", Head: []string{"notebook_path"}, Acts: true, Rule: ByFile,
		More: []string{"cell_id", "new_source", "cell_type", "edit_mode"}},
	{Name: "NotebookRead", Head: []string{"notebook_path"}, More: []string{"cell_id"}, Rule: ByFile},
	{Name: "Read", Head: []string{"file_path"}, More: []string{"offset", "limit", "pages", "allow_large"}, Rule: ByFile},
	{Name: "ReportFindings", Head: []string{"findings"}, More: []string{"level"}, Rule: ByTool},
	{Name: "ScheduleWakeup", Head: []string{"delaySeconds", "prompt"}, Said: []string{"reason"}, Acts: true,
		More: []string{"stop", "noop"}, About: "After these seconds the prompt starts a turn by itself."},
	{Name: "SendMessage", Head: []string{"to", "message"}, Said: []string{"summary"}, Acts: true,
		More:  []string{"type", "recipient", "recipient_kind", "content", "notify_when_idle"},
		About: "Who gets the message may act on it."},
	{Name: "Skill", Head: []string{"skill"}, More: []string{"args"}, Acts: true, Rule: ByName,
		About: "What its file says about tools and hooks is in force while it is used: it may permit calls, and run " +
			"programs."},
	{Name: "TaskCreate", Head: []string{"subject"}, More: []string{"description", "activeForm", "metadata"}, Rule: ByTool},
	{Name: "TaskGet", Head: []string{"taskId"}, Rule: ByTool},
	{Name: "TaskList", Rule: ByTool},
	{Name: "TaskOutput", Head: []string{"task_id"}, More: []string{"block", "timeout"}, Rule: ByTool},
	{Name: "TaskStop", Head: []string{"task_id", "shell_id"}, Rule: ByTool},
	{Name: "TaskUpdate", Head: []string{"taskId", "status"}, Rule: ByTool,
		More: []string{"subject", "description", "activeForm", "addBlocks", "addBlockedBy", "owner", "metadata"}},
	{Name: "TodoWrite", Head: []string{"todos"}, Rule: ByTool},
	{Name: "ToolSearch", Head: []string{"query"}, More: []string{"max_results"}, Rule: ByTool},
	{Name: "WebFetch", Head: []string{"url"}, More: []string{"prompt", "offset"}, Acts: true, Rule: ByHost},
	{Name: "WebSearch", Head: []string{"query"}, More: []string{"allowed_domains", "blocked_domains"}, Acts: true,
		Rule: ByTool},
	{Name: "Workflow", Head: []string{"scriptPath", "script", "name", "resumeFromRunId"}, Acts: true,
		Said: []string{"description", "title"}, More: []string{"args"},
		About: "It runs the script, which starts subagents; their own calls are asked about as this one's are."},
	{Name: "Write", Head: []string{"file_path"}, More: []string{"content"}, Acts: true, Rule: ByFile},
}

// otherNames are those that a tool has in the init line, or had, beside the one in its calls.
var otherNames = map[string]string{"Task": "Agent"}

// Of returns what is known of a tool. Of one that nobody has decided about nothing is, so that its whole input is its
// headline and no rule is offered; a server's tool may be permitted by its name, which is what a person trusts.
func Of(name string) Tool {
	if t, known := Known(name); known {
		return t
	}
	if Served(name) {
		return Tool{Name: name, Acts: true, Rule: ByTool}
	}
	return Tool{Name: name, Acts: true}
}

// Known returns the row of a tool.
func Known(name string) (Tool, bool) {
	if other, is := otherNames[name]; is {
		name = other
	}
	at := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if at < 0 {
		return Tool{}, false
	}
	return all[at], true
}

// Runs reports whether a call of the tool runs a command of its input in a folder.
func (t Tool) Runs() bool { return t.Acts && slices.Contains(t.Head, "command") }

const servedPrefix = "mcp__"

// Served reports whether a tool is one of an MCP server.
func Served(name string) bool { return strings.HasPrefix(name, servedPrefix) }

// Unknown returns the members of an input that nobody has decided about, sorted: a newer release may do anything by
// them. Of a tool without a row that is all of them, and of a server's tool none.
func (t Tool) Unknown(input map[string]json.RawMessage) []string {
	if Served(t.Name) {
		return nil
	}
	var names []string
	for name := range input {
		if !slices.Contains(t.Head, name) && !slices.Contains(t.Said, name) && !slices.Contains(t.More, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
