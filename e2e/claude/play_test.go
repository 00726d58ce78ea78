package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/examples"
)

// supervised are further scenarios that need a supervisor: it decides what is a question, and who waits for whom.
var supervised = []string{
	"asks-again", "assume", "compaction", "nested-subagents-ask", "no-report", "plan", "prose-question", "refused",
	"subagent-fails", "subagent-pauses", "subagent-reports",
}

// alone returns the scenarios whose task one agent does alone: those of trees need a supervisor, and package e2e plays
// them.
func alone(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(examples.Names(), func(name string) bool {
		s, err := examples.Load(name)
		noError(t, err)
		return s.Children != nil || slices.Contains(supervised, name)
	})
}

// play takes a session through its scenario as a supervisor would, in its simplest form: it gives the scenario's
// answers, sends an agent without a report on once, and starts one that died again, once.
func (s *session) play() {
	s.t.Helper()
	if s.scenario.Name == "work" { // it waits for this
		s.letsGo()
	}
	p := s.begin()
	s.accompany(p)
	if p.cmd.ProcessState.ExitCode() != 0 && s.has("## GO ON") {
		p = s.resume()
		p.say("go on", "## GO ON\n\nYour process was interrupted.")
		s.accompany(p)
	}
}

// letsGo ends the wait of a command of the scenario.
func (s *session) letsGo() {
	s.t.Helper()
	noError(s.t, os.WriteFile(filepath.Join(s.cwd, "go"), nil, 0o600))
}

// accompany answers a process to its end.
func (s *session) accompany(p *process) {
	s.t.Helper()
	var last, printed string // the last message, and what a command of the turn printed for the supervisor
	said := map[string]bool{}
	once := func(what string) bool {
		first := !said[what]
		said[what] = true
		return first
	}
	alive := 0
	reported := false
	inTurn := true
	var waiting []line // calls of a subagent in the background: they are answered when the turn has ended
	for {
		l, ok := p.next()
		if !ok {
			p.end()
			return
		}
		switch l.kind() {
		case "system/init":
			inTurn = true
		case "system/background_tasks_changed":
			alive = len(l.list("tasks"))
		case "assistant":
			for _, b := range l.list("message", "content") {
				if text := b.text("text"); text != "" {
					last = text
				}
			}
		case "user":
			for _, b := range l.list("message", "content") {
				if text := b.text("content"); signal.MatchString(text) {
					printed = text
				}
			}
		case "control_request/can_use_tool":
			p.respond(l, s.decide(l))
		case "control_request/elicitation":
			p.respond(l, map[string]any{"action": "accept", "content": s.filled(l)})
		case "control_request/mcp_message":
			switch {
			case l.text("request", "message", "method") != "tools/call":
			case s.logs.apart && inTurn && s.logs.title(l) != "":
				waiting = append(waiting, l)
			default:
				reported = p.reply(l) || reported
			}
		case "control_request/hook_callback":
			reply := map[string]any{}
			if signal.FindString(last+printed) == "" && !reported && alive == 0 && once("gate") {
				reply = map[string]any{"decision": "block", "reason": "Print a [COMPLETION_REPORT]."}
			}
			p.respond(l, reply)
		case "result":
			inTurn = false
			if s.scenario.Name == "background" && alive > 0 { // the command ends after the turn, however slow that was
				s.letsGo()
			}
			for _, call := range waiting {
				reported = p.reply(call) || reported
			}
			if waiting != nil {
				waiting = nil
				continue
			}
			if !signal.MatchString(last) {
				last = printed
			}
			if text := s.answer(last, once); text != "" {
				printed = ""
				p.say(fmt.Sprintf("answer %d", len(said)), text)
			} else if alive == 0 {
				p.close()
			}
		}
	}
}

// reply returns a call of a tool of the supervisor its result, and reports whether it reports the end of the work.
func (p *process) reply(call line) (reported bool) {
	text := "Noted."
	switch call.text("request", "message", "params", "name") {
	case "ask_user":
		text = "Your questions have been answered:\n"
		for i, q := range call.list("request", "message", "params", "arguments", "questions") {
			text += fmt.Sprintf("\nQ%d: %s\nA%d: %s\n", i+1, q.text("text"), i+1, p.s.answerTo(q.text("text")))
		}
	case "stop_work":
		text = "## BLOCKER RESOLVED\n\nResolution: done"
	case "report_completion":
		reported = true
	}
	p.answer(call, text)
	return reported
}

// answerTo is what the person of the scenario answers to a question.
func (s *session) answerTo(question string) string {
	for _, a := range s.scenario.Answers {
		if strings.Contains(question, a.Question) {
			return a.Answer
		}
	}
	s.t.Fatalf("the scenario has no answer to %q", question)
	return ""
}

// has reports whether the scenario has a turn for messages with this heading.
func (s *session) has(heading string) bool {
	for _, t := range s.scenario.Turns {
		if t.When == heading {
			return true
		}
	}
	return false
}

// answer is what the agent's last message asks for, "" if nothing.
func (s *session) answer(last string, once func(string) bool) string {
	switch kind := signal.FindString(last); {
	case kind == "COMPLETION_REPORT":
		_, err := os.Stat(filepath.Join(s.cwd, "final.txt"))
		if strings.Contains(last, "final.txt") && err != nil && once("missing") {
			return "## DELIVERABLES MISSING\n\n- final.txt"
		}
	case kind == "CLARIFICATION_NEEDED" && once("asked"):
		text := "## CLARIFICATION RESPONSE\n\nYour questions have been answered:\n"
		for i, a := range s.scenario.Answers {
			text += fmt.Sprintf("\nQ%d: …%s…\nA%d: %s\n", i+1, a.Question, i+1, a.Answer)
		}
		return text
	case kind == "STOP_WORK" && s.has("## BLOCKER RESOLVED") && once("stopped"):
		return "## BLOCKER RESOLVED\n\nResolution: done"
	case kind == "DELEGATE_WORK" && once("delegated"):
		return "## DELEGATION DENIED\n\nReason: none is started"
	case slices.Contains([]string{"AWAITING_USER_INPUT", "PAUSED_FOR_INPUT", "QUESTION_ESCALATED", "TaskUpdate"}, kind) &&
		once("asked"):
		return s.dialect(kind, last)
	}
	return ""
}

// decide answers a request for permission, or the questions of AskUserQuestion.
func (s *session) decide(ask line) map[string]any {
	input := ask.at("request", "input").(map[string]any)
	if ask.text("request", "tool_name") != "AskUserQuestion" {
		if strings.HasPrefix(s.scenario.Answers[0].Answer, "deny") {
			return map[string]any{"behavior": "deny", "message": "The person refuses this.", "interrupt": false}
		}
		return map[string]any{"behavior": "allow", "updatedInput": input}
	}
	answers := map[string]string{}
	for _, q := range line(input).list("questions") {
		answers[q.text("question")] = s.answerTo(q.text("question"))
	}
	return map[string]any{"behavior": "allow",
		"updatedInput": map[string]any{"questions": input["questions"], "answers": answers}}
}

// filled is what the person types into the form of an MCP server.
func (s *session) filled(elicitation line) map[string]any {
	content := map[string]any{}
	form, _ := elicitation.at("request", "requested_schema", "properties").(map[string]any)
	for name := range form {
		field := line(form[name].(map[string]any))
		answer := s.answerTo(field.text("title"))
		labels, _ := field["enumNames"].([]any)
		if at := slices.Index(labels, any(answer)); at >= 0 {
			content[name] = field["enum"].([]any)[at]
			continue
		}
		content[name] = answer
		if field.text("type") == "integer" {
			content[name] = json.Number(answer)
		}
	}
	return content
}

// The expectations of a scenario are those of a run; what an agent alone can meet of them is its files, unless it
// reaches a usage limit: nobody here starts it again when that has passed.
func (s *session) meetsExpectations(t *testing.T) {
	t.Helper()
	if limited(s.scenario) {
		return
	}
	for name, want := range s.scenario.Expect.Files {
		got, err := os.ReadFile(filepath.Join(s.cwd, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s holds %q, not %q", name, got, want)
		}
	}
}

func limited(s examples.Scenario) bool { return len(limits(s)) > 0 }

// limits returns the usage limits that a scenario reaches.
func limits(s examples.Scenario) (all []*examples.APIError) {
	for _, turn := range s.Turns {
		for _, r := range turn.Replies {
			if r.APIError != nil && r.APIError.Lasts > 0 {
				all = append(all, r.APIError)
			}
		}
	}
	return all
}

// outlast has usage limits last longer than any play: the CLI tries again by itself, on a busy machine maybe after them.
func outlast(s examples.Scenario) {
	for _, limit := range limits(s) {
		limit.Lasts = time.Hour
	}
}
