package engine

import (
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs"
)

// A simSub is a subagent inside a process. It goes with it; only its transcript stays.
type simSub struct {
	id, use string
	front   bool // the main conversation waits for its end
	left    int  // how much it still does
}

// maxInSubs is how much the subagents of a world do: the end of one that has asked is told to start the next.
const maxInSubs = 40

// startSub starts a subagent, in the background or with the main conversation waiting for it.
func (p *simProcess) startSub(front bool) {
	s := &simSub{id: p.w.id("sub-"), use: p.w.id("toolu_"), front: front, left: 1 + p.w.rng.IntN(2)}
	p.keep(talkEntry{said: procs.ToolUse{ID: s.use, Name: "Agent"}})
	p.lives(s, s.use)
}

// lives adds a subagent, started or revived by a call.
func (p *simProcess) lives(s *simSub, by string) {
	p.subs = append(p.subs, s)
	if s.front {
		return
	}
	p.keep(talkEntry{said: procs.ToolResult{ToolUse: by, Text: "Async agent launched"}})
	p.tasks = append(p.tasks, procs.Task{ID: s.id, Name: "subagent: " + s.id, Subagent: true})
	p.say(procs.Background{Tasks: slices.Clone(p.tasks)})
}

// reviveSubs is what the model does when it is told to hand answers to subagents that are gone.
func (p *simProcess) reviveSubs(text string) {
	for rest := text; ; {
		_, after, found := strings.Cut(rest, `with to "sub-`)
		if !found {
			break
		}
		number, more, _ := strings.Cut(after, `"`)
		rest = more
		use := p.w.id("toolu_")
		p.keep(talkEntry{said: procs.ToolUse{ID: use, Name: "SendMessage"}})
		p.lives(&simSub{id: "sub-" + number, use: p.w.id("toolu_"), left: p.w.rng.IntN(2)}, use)
	}
	if strings.Contains(text, "Start a subagent") {
		p.startSub(p.w.one(2))
	}
}

func (s *simSub) caller() *procs.Subagent {
	return &procs.Subagent{ID: s.id, ToolUse: s.use, Task: "look at " + s.id, Prompt: "Look.", Depth: 1}
}

// waits reports whether one of its calls waits.
func (p *simProcess) waits(s *simSub) bool {
	return slices.ContainsFunc(p.calls, func(c simCall) bool { return c.from != nil && c.from.ID == s.id })
}

// inFront reports whether the main conversation waits for a call of its own, or for a subagent.
func (p *simProcess) inFront() bool {
	return slices.ContainsFunc(p.calls, func(c simCall) bool { return c.from == nil }) ||
		slices.ContainsFunc(p.subs, func(s *simSub) bool { return s.front })
}

// subGoesOn is one request of a subagent to the model.
func (p *simProcess) subGoesOn(s *simSub) {
	s.left--
	p.w.nature.inSubs++
	if s.left < 0 || p.w.nature.inSubs > maxInSubs {
		p.subEnds(s)
		return
	}
	switch p.w.rng.IntN(6) {
	case 0:
		use := p.w.id("toolu_")
		p.keep(talkEntry{sub: true, said: procs.ToolUse{ID: use, Parent: s.use, Name: "Read"}})
		p.keep(talkEntry{sub: true, said: procs.ToolResult{ToolUse: use, Parent: s.use, Text: "read"}})
	case 1:
		p.callFrom(s.caller(), "Write", fmt.Sprintf(`{"file_path":"/work/%s"}`, p.w.id("T")))
	case 2:
		p.callFrom(s.caller(), "stop_work", fmt.Sprintf(`{"blocker_type":"missing_info","details":"%s"}`, p.w.id("T")))
	case 3:
		p.callFrom(s.caller(), "report_completion", `{"status":"success","summary":"not its to say"}`)
	default:
		p.callFrom(s.caller(), "ask_user", p.userQuestions())
	}
}

func (p *simProcess) userQuestions() string {
	questions := []string{fmt.Sprintf(`{"text":"Which of %s?"}`, p.w.id("T"))}
	if p.w.one(3) {
		questions = append(questions, fmt.Sprintf(`{"text":"And which of %s?"}`, p.w.id("T")))
	}
	return `{"questions":[` + strings.Join(questions, ",") + `]}`
}

// subEnds is the end of a subagent by itself.
func (p *simProcess) subEnds(s *simSub) {
	p.subs = slices.DeleteFunc(p.subs, func(o *simSub) bool { return o == s })
	p.keep(talkEntry{sub: true, ends: s.use})
	if s.front {
		p.keep(talkEntry{said: procs.ToolResult{ToolUse: s.use, Text: "its result"}})
		return
	}
	p.tasks = slices.DeleteFunc(p.tasks, func(t procs.Task) bool { return t.ID == s.id })
	p.say(procs.Background{Tasks: slices.Clone(p.tasks)})
	p.woken = true
}

// cutSubs ends the subagents that the main conversation waits for, with the turn.
func (p *simProcess) cutSubs() {
	for _, s := range slices.Clone(p.subs) {
		if !s.front {
			continue
		}
		for _, c := range p.calls {
			if c.from != nil && c.from.ID == s.id {
				p.keep(talkEntry{sub: true, call: c.toolUse, said: unanswered(c)})
			}
		}
		p.calls = slices.DeleteFunc(p.calls, func(c simCall) bool { return c.from != nil && c.from.ID == s.id })
		p.subs = slices.DeleteFunc(p.subs, func(o *simSub) bool { return o == s })
	}
}
