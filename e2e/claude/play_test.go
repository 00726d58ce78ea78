package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// play takes a session through its scenario as a supervisor would, in its simplest form: it gives the scenario's
// answers, sends an agent without a report on once, and starts one that died again, once.
func (s *session) play() {
	s.t.Helper()
	if s.scenario.Name == "work" { // it waits for this
		if err := os.WriteFile(filepath.Join(s.cwd, "go"), nil, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	p := s.begin()
	s.accompany(p)
	if p.cmd.ProcessState.ExitCode() != 0 && s.has("## GO ON") {
		p = s.resume()
		p.say("go on", "## GO ON\n\nYour process was interrupted.")
		s.accompany(p)
	}
}

// accompany answers a process to its end.
func (s *session) accompany(p *process) {
	s.t.Helper()
	var last string
	said := map[string]bool{}
	once := func(what string) bool {
		first := !said[what]
		said[what] = true
		return first
	}
	alive := 0
	for {
		l, ok := p.next()
		if !ok {
			p.end()
			return
		}
		switch l.kind() {
		case "system/background_tasks_changed":
			alive = len(l.list("tasks"))
		case "assistant":
			for _, b := range l.list("message", "content") {
				if text := b.text("text"); text != "" {
					last = text
				}
			}
		case "control_request/can_use_tool":
			p.respond(l, s.decide(l))
		case "control_request/hook_callback":
			reply := map[string]any{}
			if signal.FindString(last) == "" && alive == 0 && once("gate") {
				reply = map[string]any{"decision": "block", "reason": "Print a [COMPLETION_REPORT]."}
			}
			p.respond(l, reply)
		case "result":
			if text := s.answer(last, once); text != "" {
				p.say(fmt.Sprintf("answer %d", len(said)), text)
			} else if alive == 0 {
				p.close()
			}
		}
	}
}

// has tells whether the scenario has a turn for messages with this heading.
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
		for _, a := range s.scenario.Answers {
			if strings.Contains(q.text("question"), a.Question) {
				answers[q.text("question")] = a.Answer
			}
		}
	}
	return map[string]any{"behavior": "allow", "updatedInput": map[string]any{"questions": input["questions"], "answers": answers}}
}

// The expectations of a scenario are those of a run; what an agent alone can meet of them is its files.
func (s *session) meetsExpectations(t *testing.T) {
	t.Helper()
	for name, want := range s.scenario.Expect.Files {
		got, err := os.ReadFile(filepath.Join(s.cwd, name))
		if err != nil {
			t.Error(err)
		} else if string(got) != want {
			t.Errorf("%s holds %q, not %q", name, got, want)
		}
	}
}
