package claude

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

// play takes a session through its scenario as a supervisor would, simply: it gives the scenario's answers, sends an
// agent without a report on once, and starts one that died again. It gives the processes that it took.
func (s *session) play() []*process {
	s.t.Helper()
	p := s.start("--session-id", s.id)
	p.initialize()
	p.say(uuid.NewString(), s.task())
	all := []*process{p}
	for {
		goOn := s.accompany(p)
		if !goOn || len(all) == 3 {
			return all
		}
		p = s.start("--resume", s.id)
		p.initialize()
		p.say(uuid.NewString(), "## GO ON\n\nYour process was interrupted.")
		all = append(all, p)
	}
}

// accompany answers a process to its end. It tells whether the process died in the middle, or failed for a while.
func (s *session) accompany(p *process) (goOn bool) {
	var last string
	said := map[string]bool{}
	once := func(heading, body string) bool {
		if said[heading] {
			return false
		}
		said[heading] = true
		p.say(uuid.NewString(), heading+"\n\n"+body)
		return true
	}
	alive := 0
	for {
		l, ok := p.next()
		if !ok {
			return p.wait() != 0 && s.has("## GO ON")
		}
		switch l.kind() {
		case "system/background_tasks_changed":
			alive = len(l.at("tasks").([]any))
		case "assistant":
			for _, b := range l.at("message", "content").([]any) {
				if text := line(b.(map[string]any)).text("text"); text != "" {
					last = text
				}
			}
		case "control_request/can_use_tool":
			p.respond(l.text("request_id"), s.decide(l))
		case "control_request/hook_callback":
			reply := map[string]any{}
			if !strings.Contains(last, "_REPORT]") && !strings.Contains(last, "[CLAR") && !strings.Contains(last, "_NEEDED") &&
				!strings.Contains(last, "_WORK]") && alive == 0 && !said["gate"] {
				said["gate"] = true
				reply = map[string]any{"decision": "block", "reason": "Print a [COMPLETION_REPORT]."}
			}
			p.respond(l.text("request_id"), reply)
		case "result":
			if !s.reply(last, once) && alive == 0 {
				_ = p.stdin.Close()
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

// reply says to the agent what its last message asks for. It tells whether there was anything.
func (s *session) reply(last string, once func(heading, body string) bool) bool {
	switch {
	case strings.Contains(last, "COMPLETION_REPORT]"):
		_, err := os.Stat(filepath.Join(s.cwd, "final.txt"))
		return strings.Contains(last, "final.txt") && err != nil && once("## DELIVERABLES MISSING", "- final.txt")
	case strings.Contains(last, "CLARIFICATION_NEEDED"):
		answers := "Your questions have been answered:\n"
		for i, a := range s.scenario.Answers {
			answers += "\nQ" + string(rune('1'+i)) + ": …" + a.Question + "…\nA" + string(rune('1'+i)) + ": " + a.Answer + "\n"
		}
		return once("## CLARIFICATION RESPONSE", answers)
	case strings.Contains(last, "STOP_WORK]"):
		return s.has("## BLOCKER RESOLVED") && once("## BLOCKER RESOLVED", "Resolution: done")
	case strings.Contains(last, "DELEGATE_WORK]"):
		return once("## DELEGATION DENIED", "Reason: none is started")
	}
	return false
}

// decide answers a request for permission, or the questions of AskUserQuestion.
func (s *session) decide(ask line) map[string]any {
	input := ask.at("request", "input").(map[string]any)
	if ask.text("request", "tool_name") != "AskUserQuestion" {
		if strings.HasPrefix(s.scenario.Answers[0].Answer, "deny") {
			return map[string]any{"behavior": "deny", "message": "The person refuses this. Reason: not in this folder", "interrupt": false}
		}
		return map[string]any{"behavior": "allow", "updatedInput": input}
	}
	answers := map[string]string{}
	for _, q := range input["questions"].([]any) {
		text := line(q.(map[string]any)).text("question")
		for _, a := range s.scenario.Answers {
			if strings.Contains(text, a.Question) {
				answers[text] = a.Answer
			}
		}
	}
	return map[string]any{"behavior": "allow", "updatedInput": map[string]any{"questions": input["questions"], "answers": answers}}
}
