package torture

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/examples"
	"claude-supervise/supervisor/questions"
)

// A runPlan is one run of a day: what its agent asks, one step after the other, and under which flags.
type runPlan struct {
	name         string
	hold, policy string
	steps        []step
	stopAfter    int // a person stops the run once it has asked so many questions; 0: never
}

// A step is one signal or call that asks, with all its questions.
type step struct {
	kind      checkpoints.QuestionKind
	by        way
	questions []asked
}

// A way is how an agent asks for what is no permission.
type way int

const (
	byText     way = iota // a block, or a stop
	byCLI                 // the CLI's own tool, AskUserQuestion
	byTool                // the supervisor's tool
	bySubagent            // the same, called by a subagent that the main agent waits for
)

// asked is one question as the scenario asks it. Each of the tokens is what one client answers, and stands nowhere
// else.
type asked struct {
	kind    checkpoints.QuestionKind
	text    string
	options bool // the tokens are offered as options, else the answer is free text
	tokens  [clients]string
}

// clients is how many people race for a question: three answer, two change what was answered.
const (
	answerers = 3
	clients   = answerers + 2
)

// permissionText is the question that a Write of the file leave.txt is.
const permissionText = "Allow Write: leave.txt?"

func planRun(rng *rand.Rand, name string) runPlan {
	pick := func(of ...string) string { return of[rng.IntN(len(of))] }
	p := runPlan{name: name, hold: pick("0", "150ms", "forever"), policy: pick("ask", "park")}
	permission := false
	for n := range 3 + rng.IntN(4) {
		s := step{kind: questions.AskClarification}
		size := 1 + rng.IntN(3)
		switch rng.IntN(7) {
		case 0:
			s.by = byCLI
		case 1:
			s.kind, size = questions.AskBlocker, 1
		case 2:
			if !permission { // its answer does not say which call it is of: a second could be taken for the first
				s.kind, size, permission = questions.AskPermission, 1, true
			}
		case 3:
			s.by = byTool
		case 4:
			s.by = bySubagent
		}
		for i := range size {
			s.questions = append(s.questions, ask(rng, s, fmt.Sprintf("question %d of step %d in %s", i+1, n+1, name)))
		}
		p.steps = append(p.steps, s)
	}
	if rng.IntN(6) == 0 {
		p.stopAfter = 1 + rng.IntN(len(p.steps))
	}
	return p
}

func ask(rng *rand.Rand, s step, what string) asked {
	q := asked{kind: s.kind, text: "What is the answer to " + what + "?", options: s.by == byCLI || rng.IntN(2) == 0}
	switch s.kind {
	case questions.AskBlocker:
		q.text = "The thing that only a person has is missing for " + what
	case questions.AskPermission:
		q.text = permissionText
	}
	for i := range q.tokens {
		q.tokens[i] = token(rng)
	}
	return q
}

// token makes a word that stands in no other text.
func token(rng *rand.Rand) string {
	word := []byte("zq")
	for range 10 {
		word = append(word, byte('a'+rng.IntN(26)))
	}
	return string(word)
}

// scenario is what the agent of the run says. Whatever the way in which an answer reaches it, the text that brings it
// holds the question, and that begins the turn of what comes after.
func (p runPlan) scenario() examples.Scenario {
	s := examples.Scenario{
		Name: p.name, About: "a run of a scripted day",
		Prompt: "Ask what is to be asked in " +
			p.name + ", and keep the list done.txt.\nDone when: done.txt is complete.",
		ClaudeFlags: []string{"--allowedTools", "Bash,Read,Edit"}, // Write needs leave
		Expect:      examples.Expect{Status: "succeeded"},
		Turns:       []examples.Turn{{When: "## YOUR TASK", Replies: p.from(0)}},
	}
	for i, step := range p.steps {
		turn := examples.Turn{When: step.questions[0].text, Replies: append([]examples.Reply{work(i)}, p.from(i+1)...)}
		if step.by == bySubagent {
			// However it comes to its end, the main agent reads its last words. Parked, it is told what to tell it.
			s.Turns = append(s.Turns,
				examples.Turn{When: p.part(i), Replies: []examples.Reply{step.toolCall(), {Text: p.settled(i)}}},
				examples.Turn{When: turn.When, Replies: revive(p.answered(i))},
				examples.Turn{When: p.answered(i), Replies: []examples.Reply{{Text: p.settled(i)}}},
				examples.Turn{When: p.settled(i), Replies: turn.Replies})
			continue
		}
		if step.kind != questions.AskPermission {
			s.Turns = append(s.Turns, turn)
			continue
		}
		// Held, it goes on in its turn. Parked, it is told. If the supervisor dies the call fails: it says so and ends its
		// turn, and makes the call again when it is sent on.
		again := append([]examples.Reply{leave()}, turn.Replies...)
		s.Turns = append(s.Turns, examples.Turn{When: "The person refuses it", Replies: turn.Replies},
			examples.Turn{When: "The person allows it", Replies: again},
			examples.Turn{When: "Tool permission stream closed",
				Replies: append([]examples.Reply{{Text: "Nobody can be asked."}}, again...)})
	}
	for _, interrupted := range []string{"## SUBAGENT INTERRUPTED", "didn't finish before the previous session ended"} {
		s.Turns = append(s.Turns, examples.Turn{When: interrupted, Replies: revive("## GO ON")})
	}
	return s
}

// What is said to the subagent of a step at its beginning and with its answer, and what it says at its end.
func (p runPlan) part(i int) string { return fmt.Sprintf("## PART %d OF %s", i+1, p.name) }
func (p runPlan) answered(i int) string {
	return fmt.Sprintf("## ANSWER TO PART %d OF %s", i+1, p.name)
}
func (p runPlan) settled(i int) string { return fmt.Sprintf("Part %d of %s is settled.", i+1, p.name) }

// revive lets a subagent go on that has gone with its process.
func revive(text string) []examples.Reply {
	return []examples.Reply{
		{Tools: []examples.ToolCall{{Name: "SendMessage",
			Input: map[string]any{"to": "{{subagent1}}", "summary": "continue", "message": text}}}},
		{Text: "It continues."},
	}
}

// from returns the replies from step i on, as far as they go without an answer.
func (p runPlan) from(i int) []examples.Reply {
	if i == len(p.steps) {
		return []examples.Reply{{Text: "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: " +
			"success\n" +
			"deliverables:\n  - done.txt\nsummary: all is asked and done\n[/COMPLETION_REPORT]"}}
	}
	switch s := p.steps[i]; {
	case s.kind == questions.AskPermission:
		return append([]examples.Reply{leave(), work(i)}, p.from(i+1)...)
	case s.kind == questions.AskBlocker:
		return []examples.Reply{{Text: "[STOP_WORK]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T09:15:00Z\nstop_reason: " +
			"blocker\n" +
			"blocker_type: missing_info\ndetails: " + s.questions[0].text +
			"\ncompleted_work: what was before\nblocked_work: what comes after\n[/STOP_WORK]"}}
	case s.by == byCLI:
		return []examples.Reply{{Tools: []examples.ToolCall{s.call()}}}
	case s.by == byTool: // the answer comes back bare, and it goes on in its turn
		return append([]examples.Reply{s.toolCall(), work(i)}, p.from(i+1)...)
	case s.by == bySubagent:
		return []examples.Reply{{Tools: []examples.ToolCall{{Name: "Agent", Input: map[string]any{
			"description": "a part", "subagent_type": "general-purpose", "run_in_background": false,
			"prompt": p.part(i) + "\nAsk, and settle it.",
		}}}}}
	default:
		return []examples.Reply{{Text: s.block()}}
	}
}

// work is one step's work: a line for its name. A command that was cut off may have written it before.
func work(step int) examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: "Bash", Input: map[string]any{
		"command": workCommand(step), "description": "note that it is done",
	}}}}
}

// workCommand takes long enough to be killed in, and to outlive a killed agent: nobody may go on before it is ended.
func workCommand(step int) string {
	return fmt.Sprintf("sleep 0.1; echo %s >> done.txt", workLine(step))
}

func workLine(step int) string { return fmt.Sprintf("step-%d", step+1) }

// leave is the call that needs leave.
func leave() examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: "Write", Input: map[string]any{
		"file_path": "{{cwd}}/leave.txt", "content": "leave was given\n",
	}}}}
}

// block asks in text.
func (s step) block() string {
	var b strings.Builder
	b.WriteString(
		"[CLARIFICATION_NEEDED]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T08:45:00Z\nblocked_at: the next step\n" +
			"reason: only a person knows\nquestions:\n")
	for i, q := range s.questions {
		fmt.Fprintf(&b, "  - question_id: Q%d\n    text: %s\n    context: a person knows\n", i+1, q.text)
		if q.options {
			fmt.Fprintf(&b, "    options: [%s]\n", strings.Join(q.tokens[:], ", "))
		}
	}
	b.WriteString("can_resume_with: the answer\n[/CLARIFICATION_NEEDED]")
	return b.String()
}

// toolCall asks with the supervisor's tool.
func (s step) toolCall() examples.Reply {
	var questions []any
	for _, q := range s.questions {
		question := map[string]any{"text": q.text}
		if q.options {
			var options []any
			for _, t := range q.tokens {
				options = append(options, map[string]any{"label": t})
			}
			question["options"] = options
		}
		questions = append(questions, question)
	}
	return examples.Reply{Tools: []examples.ToolCall{{Name: "mcp__supervise__ask_user",
		Input: map[string]any{"questions": questions}}}}
}

// call asks with the CLI's own tool, which takes four options at most: who has none of them answers in free text.
func (s step) call() examples.ToolCall {
	var questions []any
	for _, q := range s.questions {
		var options []any
		for _, t := range q.tokens[:4] {
			options = append(options, map[string]any{"label": t, "description": "one way"})
		}
		questions = append(questions,
			map[string]any{"question": q.text, "header": "Choice", "multiSelect": false, "options": options})
	}
	return examples.ToolCall{Name: "AskUserQuestion", Input: map[string]any{"questions": questions}}
}
