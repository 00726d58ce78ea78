package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/text"
)

// told is what the model makes of a prompt before its next request: a call that was let through is made again.
func (p *simProcess) told(text string) {
	p.reviveSubs(text)
	if strings.Contains(text, "end your turn now, without a report") && !p.w.one(4) {
		p.turn.over = true
	}
	if strings.Contains(text, "Make the call again, unchanged") {
		for _, e := range slices.Backward(p.talk.entries) {
			use, ok := e.said.(procs.ToolUse)
			if ok && use.Name == serverTool && !p.talk.answered(use.ID) && !p.w.one(4) {
				p.call(serverTool, string(use.Input))
				return
			}
		}
	}
	if strings.Contains(text, "it is let through and ends plan mode") {
		p.makesAgain(ask.ExitPlanMode, text)
		return
	}
	if !strings.Contains(text, "it will be let through") {
		return
	}
	for _, e := range slices.Backward(p.talk.entries) {
		use, ok := e.said.(procs.ToolUse)
		if ok && use.Name == refusedTool && strings.Contains(text, wordIn(string(use.Input))) && !p.w.one(4) {
			p.callRefused(string(use.Input))
			return
		}
	}
	p.makesAgain("Write", text)
}

// makesAgain makes a call again that has no result, and of which a text speaks.
func (p *simProcess) makesAgain(name, text string) {
	for _, e := range slices.Backward(p.talk.entries) {
		use, ok := e.said.(procs.ToolUse)
		if ok && use.Name == name && strings.Contains(text, wordIn(string(use.Input))) && !p.talk.answered(use.ID) &&
			!p.w.one(4) {
			p.call(name, string(use.Input))
			return
		}
	}
}

// act is what the model does with one request.
func (p *simProcess) act() {
	w := p.w
	if w.nature.script--; w.nature.script < 0 {
		if !p.turn.reported && w.nature.reports {
			p.report()
		}
		p.turn.over = true
		return
	}
	if p.again() {
		return
	}
	choice := w.rng.IntN(24)
	if w.nature.tree && w.one(4) {
		choice = 7
		if !p.raw && w.one(4) {
			p.nests()
			return
		}
	}
	if p.raw && (choice >= 8 && choice <= 12 || choice == 16 || choice >= 18) {
		choice = 17 // there is nobody whom it could call, and nothing of it lives on
	}
	switch choice {
	case 0, 1:
		p.speak("Reading the schema.")
	case 2, 3:
		if w.assuming() && w.one(2) {
			p.speak(p.signal(signals.Clarification, p.agent, "blocking", "false", "assumption", "as before", "questions",
				"Which of "+w.id("T")+"?"))
			break
		}
		p.ask(p.clarification(p.agent, 1+w.rng.IntN(2)))
	case 4:
		p.ask(p.clarification("", 1))
	case 5:
		p.ask(p.signal(signals.Stop, p.agent, "stop_reason", "blocker", "blocker_type", "missing_info", "details", w.id("T")))
	case 6:
		p.askAgain()
	case 7:
		p.delegates()
	case 8, 9:
		if w.one(4) {
			p.call(serverTool, string(text.JSON(claude.Elicitation{Server: "shop", Message: "Choose", Mode: "form",
				Schema: fmt.Appendf(nil, `{"required":["a"],"properties":{"a":{"type":"string","title":"Which of %s"}}}`,
					w.id("T"))})))
			break
		}
		if w.one(5) { // subagents call at the same time
			p.call("Write", fmt.Sprintf(`{"file_path":"/work/%s"}`, w.id("T")))
		}
		questions := []string{fmt.Sprintf(`{"question":"Which of %s?","header":"Choice"}`, w.id("T"))}
		if w.one(3) {
			questions = append(questions, fmt.Sprintf(`{"question":"And which of %s?","header":"Next"}`, w.id("T")))
		}
		p.call(ask.AskUserQuestion, `{"questions":[`+strings.Join(questions, ",")+`]}`)
	case 10, 11:
		if w.refusing() && !w.one(3) {
			p.callRefused(fmt.Sprintf(`{"url":"x/%s"}`, w.id("T")))
			break
		}
		if w.planning() && !w.one(3) {
			p.call(ask.ExitPlanMode, fmt.Sprintf(`{"plan":"Do %s"}`, w.id("T")))
			break
		}
		p.call("Write", fmt.Sprintf(`{"file_path":"/work/%s"}`, w.id("T")))
	case 12:
		name := w.id("task-")
		if w.one(3) {
			p.alarms = append(p.alarms, name)
		} else {
			p.tasks = append(p.tasks, procs.Task{ID: name, Name: name})
			p.say(procs.Background{Tasks: slices.Clone(p.tasks)})
		}
	case 18:
		if w.assuming() && !w.one(4) {
			p.assumes()
			break
		}
		p.callFrom(nil, "ask_user", p.userQuestions())
	case 19:
		p.callFrom(nil, "stop_work", fmt.Sprintf(`{"blocker_type":"missing_info","details":"%s"}`, w.id("T")))
	case 20:
		p.callFrom(nil, "report_completion", `{"status":"success","summary":"Chose it."}`)
		p.turn.reported = true
	case 16, 21:
		name := pick(w, "report_progress", "check_work", "send_message")
		if slices.ContainsFunc(w.disk.kept.Children(p.agent), func(c *supervisor.Agent) bool { return !c.Status.Ended() }) {
			name = "check_work"
		}
		p.callFrom(nil, name, fmt.Sprintf(
			`{"percent":40,"step":"at it","to":%q,"text":"hello","block":%t,"timeout":%d}`, pick(w, "user", Root, "a-nobody"),
			!w.one(3), 1+w.rng.IntN(500)))
	case 22, 23:
		p.startSub(w.one(2))
	case 14, 15:
		p.waitsForFile()
	case 13:
		p.report()
		p.turn.over = w.one(2)
	default:
		p.turn.over = true
	}
}

// speak prints one message of the model.
func (p *simProcess) speak(text string) {
	p.turn.said = text
	p.keep(talkEntry{said: p.words(text)})
}

// words is how a process prints what it says.
func (p *simProcess) words(text string) procs.Message {
	if p.raw {
		return procs.Raw{Text: text + "\n"}
	}
	return procs.Text{ID: p.w.id("msg_"), Text: text}
}

// ask asks by text, and mostly ends the turn with it.
func (p *simProcess) ask(text string) {
	p.turn.said = text
	p.keep(talkEntry{said: p.words(text), asks: text})
	p.turn.over = !p.w.one(4)
}

// askAgain asks again what the model asked last, if nobody has answered that.
func (p *simProcess) askAgain() {
	for i, e := range slices.Backward(p.talk.entries) {
		if e.asks == "" {
			continue
		}
		word := wordIn(e.asks)
		if !slices.ContainsFunc(p.talk.entries[i:], func(e talkEntry) bool { return strings.Contains(e.read, word) }) {
			p.ask(e.asks)
		}
		return
	}
}

// call makes a call of the main conversation that a person is asked about.
func (p *simProcess) call(name, in string) { p.callFrom(nil, name, in) }

// refusedTool is the tool whose calls claude refuses by itself, in a world that is refusing.
const refusedTool = "WebFetch"

// callRefused makes a call that is refused, but where the hook before it is to ask.
func (p *simProcess) callRefused(in string) {
	c := simCall{request: p.w.id("req-"), toolUse: p.w.id("toolu_"), name: refusedTool, input: []byte(in)}
	p.keep(talkEntry{said: procs.ToolUse{ID: c.toolUse, Name: c.name, Input: c.input}})
	if slices.Contains(p.expected, procs.CallKey(c.name, c.input)) {
		p.calls = append(p.calls, c)
		p.say(procs.Ask{Request: c.request, ToolUse: c.toolUse, Name: c.name, Input: c.input, Refused: true})
		return
	}
	p.refuses(c)
}

// refuses says that a call was refused.
func (p *simProcess) refuses(c simCall) {
	r := procs.Refused{Tool: c.name, ToolUse: c.toolUse, Why: "a test",
		Call: &procs.Ask{Refused: true, ToolUse: c.toolUse, Name: c.name, Input: c.input}}
	p.say(r)
	p.keep(talkEntry{refused: &r, call: c.toolUse, said: procs.ToolResult{ToolUse: c.toolUse, Text: "refused", IsError: true}})
}

// callFrom makes a call of the main conversation or a subagent: of a tool of ours, or one that a person is asked about.
func (p *simProcess) callFrom(from *procs.Subagent, name, in string) {
	c := simCall{request: p.w.id("req-"), toolUse: p.w.id("toolu_"), name: name, input: []byte(in), from: from}
	c.served = slices.ContainsFunc(ask.Served(), func(t procs.Tool) bool { return t.Name == name })
	p.calls = append(p.calls, c)
	var who procs.Subagent
	if from != nil {
		who = *from
	}
	p.keep(talkEntry{sub: from != nil,
		said: procs.ToolUse{ID: c.toolUse, Parent: who.ToolUse, Name: name, Input: c.input}})
	if c.served {
		p.say(procs.Call{Request: c.request, ToolUse: c.toolUse, Name: name, Input: c.input, From: who,
			Line: p.w.lineOf(c.toolUse)})
		return
	}
	p.say(procs.Ask{Request: c.request, ToolUse: c.toolUse, Name: name, Input: c.input, From: who,
		Elicits: name == serverTool, Line: p.w.lineOf(c.toolUse)})
}

// answered takes the reply to a call.
func (p *simProcess) answered(in simInput) {
	i := slices.IndexFunc(p.calls, func(c simCall) bool { return c.request == in.request })
	if i < 0 {
		return // withdrawn meanwhile
	}
	c := p.calls[i]
	p.calls = slices.Delete(slices.Clone(p.calls), i, i+1)
	p.w.truth.replied(p.w, p.talk, c, in.reply)
	if c.name == refusedTool && bytes.Contains(in.reply, []byte(`"behavior":"deny"`)) {
		p.refuses(c)
		return
	}
	returned := string(in.reply)
	if c.served {
		_ = json.Unmarshal(in.reply, &returned) // the text that a tool of ours returns
	}
	result := procs.ToolResult{ToolUse: c.toolUse, Text: returned}
	if c.from != nil {
		result.Parent = c.from.ToolUse
	}
	p.keep(talkEntry{sub: c.from != nil, call: c.toolUse, answered: true, read: result.Text, said: result})
}

// assuming reports whether this is a world in which agents ask, and work on. The seeds of the others stay as they are.
func (w *simulation) assuming() bool { return w.seed%8 == 3 }

// refusing reports whether claude refuses calls by itself, about which the person wants to be asked.
func (w *simulation) refusing() bool { return w.seed%8 == 6 }

// planning reports whether this is a world in which agents ask for plans to be approved.
func (w *simulation) planning() bool { return w.seed%8 == 2 }

// assumes asks by a call that does not wait, and now and then asks the same once more.
func (p *simProcess) assumes() {
	asked := fmt.Sprintf(`{"wait":false,"assumption":"as before","affects":["made.md"],"questions":[{"text":"Which of %s?"}]}`,
		p.w.id("T"))
	p.callFrom(nil, "ask_user", asked)
	if p.w.one(4) {
		p.callFrom(nil, "ask_user", asked)
	}
}

// hooked reports whether this is a world in which the person has a hook. The seeds of the others stay as they are.
func (w *simulation) hooked() bool { return w.seed%8 == 5 }

func (w *simulation) hookAnswers() {
	if p := w.process(); p != nil {
		p.hookAnswers()
	}
}

// hookAnswers has a hook of the person's own decide about a call: claude takes its request back, and goes on. Not every
// release says in the result that it was one.
func (p *simProcess) hookAnswers() {
	i := slices.IndexFunc(p.calls, func(c simCall) bool { return !c.served && c.name != serverTool })
	if i < 0 {
		return
	}
	c := p.calls[i]
	p.calls = slices.Delete(slices.Clone(p.calls), i, i+1)
	p.w.truth.withdrawn[c.request] = true
	p.say(procs.AskCancelled{Request: c.request})
	result := procs.ToolResult{ToolUse: c.toolUse, Text: "by a hook"}
	if p.w.one(3) {
		p.w.tell("     the release does not say who has answered")
	} else {
		result.Hook = &procs.HookDecision{Accepted: p.w.one(2), Text: "a hook says no"}
	}
	if c.from != nil {
		result.Parent = c.from.ToolUse
	}
	p.keep(talkEntry{sub: c.from != nil, call: c.toolUse, answered: true, said: result})
}

// serverTool is a tool of an MCP server of the person's own. What the server asks in a call stands for its input.
const serverTool = "mcp__shop__order"

// neverMade is a file that is never there, however often it is reported.
const neverMade = "never.md"

func (p *simProcess) report() {
	if p.w.one(12) {
		p.speak("WORKFLOW_COMPLETE")
		return
	}
	deliverables := "- made.md"
	if p.w.one(6) {
		deliverables = "- " + neverMade
	}
	p.turn.reported = true
	p.speak(p.signal(signals.Completion, p.agent,
		"status", pick(p.w, "success", "success", "success", "partial_success", "failed"),
		"summary", "Chose it.", "deliverables", deliverables))
}

func (p *simProcess) clarification(agent string, n int) string {
	s := signals.Signal{Kind: signals.Clarification, AgentID: agent,
		Fields: []signals.Field{{Name: "blocked_at", Value: "the schema"}}}
	for i := range n {
		which := p.w.id("T")
		if p.w.one(5) {
			which = "all of them" // as others ask, too
		}
		s.Questions = append(s.Questions, signals.Question{ID: fmt.Sprintf("Q%d", i+1), Text: "Which of " + which + "?"})
	}
	return p.encode(s)
}

func (p *simProcess) signal(kind signals.Kind, agent string, fields ...string) string {
	s := signals.Signal{Kind: kind, AgentID: agent}
	for i := 0; i < len(fields); i += 2 {
		s.Fields = append(s.Fields, signals.Field{Name: fields[i], Value: fields[i+1]})
	}
	return p.encode(s)
}

func (p *simProcess) encode(s signals.Signal) string {
	var b strings.Builder
	name := strings.ToUpper(string(s.Kind))
	fmt.Fprintf(&b, "[%s]\nagent_id: %s\n", name, s.AgentID)
	for _, f := range s.Fields {
		fmt.Fprintf(&b, "%s: %q\n", f.Name, f.Value)
	}
	for i, q := range s.Questions {
		if i == 0 {
			b.WriteString("questions:\n")
		}
		fmt.Fprintf(&b, "  - question_id: %s\n    text: %q\n", q.ID, q.Text)
	}
	fmt.Fprintf(&b, "[/%s]\n", name)
	return b.String()
}

// noWord is what stands for a word where there is none.
const noWord = "no word"

// wordIn finds the word by which a question is known wherever it is told again.
func wordIn(text string) string {
	for rest := text; ; {
		i := strings.IndexByte(rest, 'T')
		if i < 0 {
			return noWord
		}
		rest = rest[i+1:]
		if dot := strings.IndexByte(rest, '.'); dot > 0 && strings.Trim(rest[:dot], "0123456789") == "" {
			return "T" + rest[:dot+1]
		}
	}
}
