package claude

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// A line is one message of the stream.
type line map[string]any

// at follows keys into a line; nil where there is nothing.
func (l line) at(keys ...string) any {
	var v any = map[string]any(l)
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func (l line) text(keys ...string) string {
	s, _ := l.at(keys...).(string)
	return s
}

func (l line) list(keys ...string) []line {
	all, _ := l.at(keys...).([]any)
	var ls []line
	for _, v := range all {
		if m, ok := v.(map[string]any); ok {
			ls = append(ls, m)
		}
	}
	return ls
}

// kind names a message by its type and, where that says too little, its subtype.
func (l line) kind() string {
	switch l.text("type") {
	case "system":
		return "system/" + l.text("subtype")
	case "control_request":
		return "control_request/" + l.text("request", "subtype")
	}
	return l.text("type")
}

// What differs between two runs, or between the two programs, and means nothing.
var (
	callID     = regexp.MustCompile(`\btoolu_[0-9a-f]{20}\b`)
	taskID     = regexp.MustCompile(`\bb[a-z0-9]{8}\b`)
	reference  = regexp.MustCompile(`("ref\\*":\\*")[0-9a-f]{6}`)
	resuming   = regexp.MustCompile(`(Resuming agent )[0-9a-z]{7}`)
	messageID  = regexp.MustCompile(`("mcp_response":\{"id":)[0-9]+`)
	took       = regexp.MustCompile(`(duration_ms)(: |>)[0-9]+`)
	reset      = regexp.MustCompile(`resets [0-9]{4}-[0-9T:-]+Z`)
	gateway    = regexp.MustCompile(` If it persists, check your inference gateway \([^)]*\)\.`)
	planFile   = regexp.MustCompile(`/plans/[^/ <>"]+\.md`)
	outputFile = regexp.MustCompile(`[^ <>]*/tasks/[a-z0-9]+\.output`)
	workflow   = regexp.MustCompile(`\bworkflow_[0-9]+_[0-9]+`)
	parseError = regexp.MustCompile(`(Error parsing streaming input line) .*`)
	moreWords  = regexp.MustCompile(
		` No permission prompt was involved\..*| For Stop/SubagentStop hooks, .*|(?s)\n<note>.*</note>`)
)

// plain takes the names of this run out of a text.
func (s *session) plain(text string) string {
	for _, name := range []string{"task", "next", "third", "answer 1", "answer 2", "answer 3", "go on"} {
		text = strings.ReplaceAll(text, s.uuid(name), name)
	}
	text = strings.NewReplacer(s.cwd, "CWD", s.home, "HOME", s.id, "SESSION", filepath.Dir(s.cwd), "OUTSIDE").Replace(text)
	text = planFile.ReplaceAllString(text, "/plans/PLAN.md")
	text = outputFile.ReplaceAllString(text, "OUTPUT")
	for id, task := range s.logs.tasks {
		text = strings.ReplaceAll(text, id, "<"+task+">")
	}
	text = reference.ReplaceAllString(text, "${1}REF")
	text = resuming.ReplaceAllString(text, "${1}…")
	text = took.ReplaceAllString(text, "${1}${2}MS")
	text = callID.ReplaceAllString(text, "CALL")
	text = taskID.ReplaceAllString(text, "TASK")
	text = workflow.ReplaceAllString(text, "WORKFLOW")
	text = reset.ReplaceAllString(text, "resets LATER")
	text = gateway.ReplaceAllString(text, "")
	text = parseError.ReplaceAllString(text, "$1")
	return moreWords.ReplaceAllString(text, "")
}

// brief shows a text on one line, its middle left out.
func (s *session) brief(text string) string {
	text = s.plain(text)
	if r := []rune(text); len(r) > 200 {
		text = string(r[:100]) + " … " + string(r[len(r)-80:])
	}
	return fmt.Sprintf("%q", text)
}

func (s *session) json(v any) string {
	data, err := json.Marshal(v)
	noError(s.t, err)
	return s.plain(string(data))
}

// note writes down the shape of a line: all in it that a supervisor may go by.
func (s *session) note(l line) {
	log := s.logs.of(l)
	var b strings.Builder
	fmt.Fprintf(&b, "%s", l.kind())
	add := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch l.kind() {
	case "command_lifecycle":
		add("%s %s", s.plain(l.text("command_uuid")), l.text("state"))
	case "assistant", "user":
		if parent := l.text("parent_tool_use_id"); parent != "" {
			add("of %s", s.plain(l.text("agent_id")))
		}
		for _, flag := range []string{"isReplay", "isSynthetic", "is_api_error_message"} {
			if l[flag] == true {
				add("%s", flag)
			}
		}
		s.blocks(l, add)
		if name := s.plain(l.text("uuid")); l["isReplay"] == true && len(name) < 36 {
			add("uuid=%s", name)
		}
	case "control_request/can_use_tool":
		request := l["request"].(map[string]any)
		for _, k := range []string{"tool_name", "agent_id", "description", "decision_reason", "requires_user_interaction",
			"permission_suggestions"} {
			if v, ok := request[k]; ok {
				add("%s=%s", k, s.json(v))
			}
		}
	case "control_request/elicitation":
		add("%s", s.json(l["request"]))
	case "control_request/mcp_message":
		add("%s", l.text("request", "message", "method"))
		if name := l.text("request", "message", "params", "name"); name != "" {
			add("%s %s", name, s.brief(s.json(l.at("request", "message", "params", "arguments"))))
		}
	case "control_request/hook_callback":
		for _, k := range []string{"hook_event_name", "stop_hook_active", "background_tasks", "session_crons"} {
			add("%s=%s", k, s.json(l.at("request", "input", k)))
		}
	case "control_response":
		if l.text("response", "request_id") == "initialize" {
			add("initialize version=%s mode=%s", l.text("response", "response", "claude_code_version"),
				l.text("response", "response", "current_permission_mode"))
			break
		}
		if log == s.logs.by["server"] {
			add("%s", l.text("response", "subtype"))
			break
		}
		add("%s %s", l.text("response", "subtype"), messageID.ReplaceAllString(s.json(l.at("response", "response")), "${1}N"))
		if e := l.text("response", "error"); e != "" {
			add("%s %q", l.text("response", "error_code"), e)
		}
	case "system/init":
		add("version=%s mode=%s cwd=%s", l.text("claude_code_version"), l.text("permissionMode"), s.plain(l.text("cwd")))
	case "result":
		for _, k := range []string{"subtype", "is_error", "terminal_reason", "stop_reason", "num_turns",
			"total_cost_usd", "api_error_status", "api_error_type", "result_index"} {
			if k == "total_cost_usd" && s.logs.apart {
				continue
			}
			if v, ok := l[k]; ok {
				add("%s=%s", k, s.json(v))
			}
		}
		add("tokens=%v/%v denials=%d", l.at("usage", "input_tokens"), l.at("usage", "output_tokens"),
			len(l.list("permission_denials")))
		if kind := l.text("origin", "kind"); kind != "" {
			add("origin=%s", kind)
		}
		add("%s", s.brief(l.text("result")))
	case "system/task_progress", "tool_progress":
		return // by the clock
	case "system/task_started":
		if l["is_backgrounded"] == false && l.text("task_type") != "local_agent" {
			return // the CLI says it of any long call, by the clock
		}
		add("%s", s.brief(l.text("description")))
		if l.text("task_type") == "local_agent" {
			add("by %s backgrounded=%v depth=%v parent=%s %s", s.callOf(l), l["is_backgrounded"], l["spawn_depth"],
				s.plain(l.text("parent_task_id")), s.brief(l.text("prompt")))
		}
	case "system/task_notification":
		if l.text("task_id")[0] == 'a' {
			add("by %s %s %s", s.callOf(l), l.text("status"), s.brief(l.text("summary")))
			break
		}
		if l.text("summary") == l.text("description") && l.text("output_file") == "" && l.text("status") == "completed" {
			return
		}
		add("%s %s", l.text("status"), s.brief(l.text("summary")))
	case "system/task_updated":
		add("%s", l.text("patch", "status"))
	case "system/background_tasks_changed":
		add("%d", len(l.list("tasks")))
	case "system/api_retry":
		add("%v/%v status=%v error=%s", l["attempt"], l["max_retries"], l["error_status"], l.text("error"))
	case "system/status":
		add("mode=%s", l.text("permissionMode"))
	case "system/notification":
		return // for screens
	case "system/informational":
		add("%s", s.brief(l.text("content")))
	}
	fmt.Fprintln(log, b.String())
}

// blocks writes down the content of a message.
func (s *session) blocks(l line, add func(string, ...any)) {
	if text := l.text("message", "content"); text != "" {
		add("%s", s.brief(text))
	}
	for _, c := range l.list("message", "content") {
		switch c.text("type") {
		case "text":
			add("text %s", s.brief(c.text("text")))
		case "tool_use":
			add("%s", c.text("name"))
			if to := c.text("input", "to"); to != "" {
				add("to %s %s", s.plain(to), s.json(c["input"]))
			}
		case "tool_result":
			text := c.text("content")
			for _, b := range c.list("content") {
				text += b.text("text")
			}
			add("result %s", s.brief(text))
			if c["is_error"] == true {
				add("is_error")
			}
		}
	}
}

// callOf names the tool whose call a line about a subagent is about.
func (s *session) callOf(l line) string {
	if _, started := s.logs.started[l.text("tool_use_id")]; started {
		return "Agent"
	}
	if l.text("tool_use_id") == "" {
		return "nobody"
	}
	return "SendMessage"
}

// kept writes down the conversation as the transcripts hold it, unless a process was cut off: the CLI writes the files
// up to 100 ms late.
func (s *session) kept() {
	if s.cutOff {
		return
	}
	found, err := filepath.Glob(filepath.Join(s.home, ".claude", "projects", "*", s.id+".jsonl"))
	noError(s.t, err)
	if len(found) == 0 {
		fmt.Fprintln(s.logs.main(), "no transcript")
		return
	}
	fmt.Fprintf(s.logs.main(), "transcript %s\n",
		strings.ReplaceAll(filepath.Base(filepath.Dir(found[0])), mungedName.ReplaceAllString(s.cwd, "-"), "CWD"))
	s.keptIn(s.logs.main(), found[0])
	for id, task := range s.logs.tasks {
		log := s.logs.by[s.logs.subagent(task)]
		fmt.Fprintln(log, "transcript")
		s.keptIn(log, filepath.Join(strings.TrimSuffix(found[0], ".jsonl"), "subagents", "agent-"+id+".jsonl"))
	}
}

func (s *session) keptIn(log io.Writer, path string) {
	file, err := os.Open(path)
	noError(s.t, err)
	defer func() { _ = file.Close() }()
	for r := bufio.NewReader(file); ; {
		data, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return
		}
		noError(s.t, err)
		var l line
		noError(s.t, json.Unmarshal(data, &l))
		s.noteKept(log, l)
	}
}

var mungedName = regexp.MustCompile(`[^0-9A-Za-z]`)

func (s *session) noteKept(log io.Writer, l line) {
	var b strings.Builder
	add := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	switch l.text("type") {
	case "user", "assistant":
		if l["isMeta"] == true && l["turnCompanion"] == true {
			return // what the CLI says to a notification
		}
		s.blocks(l, add)
		if strings.HasSuffix(b.String(), `"No response requested."`) {
			return // what the CLI itself says to a turn that was cut off; the stand-in does not
		}
		if name := s.plain(l.text("uuid")); len(name) < 36 {
			add("uuid=%s", name)
		}
		if l["isApiErrorMessage"] == true {
			add("isApiErrorMessage")
		}
	case "attachment":
		if l.text("attachment", "type") != "queued_command" {
			return
		}
		add("queued_command %s", s.brief(l.text("attachment", "prompt")))
		if name := s.plain(l.text("attachment", "source_uuid")); len(name) < 36 {
			add("source_uuid=%s", name)
		}
	default:
		return
	}
	fmt.Fprintf(log, "  %s%s\n", l.text("type"), b.String())
}
