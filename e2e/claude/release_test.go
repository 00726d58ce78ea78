package claude

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/procs"
	cli "claude-supervise/procs/claude"
)

// What procs holds of a release is what the release does. A model is made to do each of the things in which releases
// differ: it has a subagent ask, is spoken to meanwhile, loses its process with a subagent's call open, wakes that
// subagent, calls what a hook wants to be asked about, and leaves a command in the background. Then its conversation
// goes on in another directory.
func TestAReleaseDoesWhatProcsHoldsOfIt(t *testing.T) {
	t.Parallel()
	doesWhatProcsHoldsOfIt(t, Program(t))
}

// The oldest release that runs take. It is a test of its own for it takes long: it begins with the first. A short run
// plays it once in four commits: what is known of a release that is out changes seldom.
func TestTheOldestReleaseDoesWhatProcsHoldsOfIt(t *testing.T) {
	t.Parallel()
	if sample.Has("oldest release", 4) {
		doesWhatProcsHoldsOfIt(t, Oldest(t))
	}
}

func doesWhatProcsHoldsOfIt(t *testing.T, path string) {
	t.Helper()
	version, err := cli.Version(t.Context(), path)
	noError(t, err)
	known := cli.ReleaseOf(version)
	if !known.Measured {
		t.Fatalf("procs knows no release %s: let it have one, and this test tells what it does", version)
	}
	tr := newTrial(t, path)
	seen := tr.measure(known.WaitsForTasks)
	tr.elsewhere(&seen, path)
	seen.AnswersInPlace = tr.answersInPlace()
	seen.Version, seen.Measured = version, true
	if diff := cmp.Diff(known, seen); diff != "" {
		t.Errorf("what procs knows of it (-) and what it does (+):\n%s", diff)
	}
}

// A trial is one conversation with a release, over two processes of procs.
type trial struct {
	t         *testing.T
	spec      procs.Spec
	home, cwd string
	api       *messagesapi.API // of the living process

	process    *procs.Process
	messages   chan procs.Message
	lines      bytes.Buffer // all that was printed; whole when a process has ended
	transcript string       // as the Stop hook names it
	subtext    bool         // a subagent's text was shown
}

func newTrial(t *testing.T, program string) *trial {
	t.Helper()
	tr := &trial{t: t, home: t.TempDir(), cwd: t.TempDir()}
	agents := filepath.Join(tr.cwd, ".claude", "agents")
	tr.must(os.MkdirAll(agents, 0o700))
	tr.must(os.WriteFile(filepath.Join(agents, "reviewer.md"),
		[]byte("---\nname: reviewer\ndescription: reviews\n---\nYou are the reviewer.\n"), 0o600))
	const asks = `case $(cat) in *guarded*) echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse",
"permissionDecision": "ask", "permissionDecisionReason": "it is guarded"}}';; esac`
	settings, err := json.Marshal(map[string]any{"hooks": map[string]any{"PreToolUse": []any{map[string]any{
		"matcher": "Bash", "hooks": []any{map[string]any{"type": "command", "command": asks}}}}}})
	tr.must(err)
	tr.must(os.MkdirAll(filepath.Join(tr.home, ".claude"), 0o700))
	tr.must(os.WriteFile(filepath.Join(tr.home, ".claude", "settings.json"), settings, 0o600))
	added := filepath.Join(t.TempDir(), "added")
	tr.must(os.Mkdir(added, 0o700))
	tr.must(os.WriteFile(filepath.Join(added, "CLAUDE.md"), []byte("The word of the added folder is parsnip.\n"), 0o600))
	// In a script procs cannot tell the release, and so does nothing of its own about it.
	script := filepath.Join(t.TempDir(), "claude")
	tr.must(os.WriteFile(script, fmt.Appendf(nil, "#!/bin/sh\nexec '%s' \"$@\"\n", program), 0o700))
	tr.spec = procs.Spec{
		Path: script, Dir: tr.cwd, SessionID: uuid.NewString(), Log: &tr.lines, Allowed: []string{"Bash"},
		Marker: procs.Marker{Run: "r-" + uuid.NewString()[:8], Agent: "a-7Qm2xK9fWb4T", Launch: 1}, AgentType: "reviewer",
		Flags: []string{"--add-dir=" + added}, Extra: []string{
			"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1", "CLAUDE_CODE_QUESTION_EXTENDED=1"},
		Tools: []procs.Tool{{
			Name: "ask_user", Description: "Asks the person.",
			Schema: json.RawMessage(
				`{"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}`),
		}},
	}
	return tr
}

func turn(when string, replies ...examples.Reply) examples.Turn {
	return examples.Turn{When: when, Replies: replies}
}

func says(text string) examples.Reply { return examples.Reply{Text: text} }

func calls(tool string, input map[string]any) examples.Reply {
	return examples.Reply{Tools: []examples.ToolCall{{Name: tool, Input: input}}}
}

// delegates starts a subagent in the foreground. Task is the name that all releases know.
func delegates(prompt string) examples.Reply {
	return calls("Task", map[string]any{
		"description": "the part", "prompt": prompt, "subagent_type": "general-purpose", "run_in_background": false,
	})
}

// measure returns what the release does. Whether a command in the background is waited for can only be seen by one who
// expects it: the other end would be waited for in vain.
func (tr *trial) measure(waitsForTasks bool) (seen cli.Release) {
	tr.t.Helper()
	question := calls("ask_user", map[string]any{"question": "Which?"})
	question.Tools[0].Name = "mcp__supervise__ask_user"
	question.Text = "I am the subagent."
	tr.start("## TASK",
		turn("## TASK", delegates("## PART"), says("The part is done.")),
		turn("## PART", question, says("I have an answer.")),
		turn("## NEXT", delegates("## OTHER PART")),
		turn("## OTHER PART", question),
	)
	call := until[procs.Call](tr, nil)
	tr.say("Meanwhile, mind the gap.")
	tr.must(tr.process.Return(call.Request, "This one.", false))
	until[procs.Result](tr, nil)
	tr.say("## NEXT")
	other := until[procs.Call](tr, func(c procs.Call) bool { return c.ToolUse != call.ToolUse })
	seen.TakesMidTurn = tr.requested("mind the gap") == 1
	seen.SubagentIDs = other.From.ID != ""
	seen.AddedMemory = tr.requested("parsnip") > 0
	seen.AgentTypes = tr.requested("You are the reviewer.") == 1
	seen.SubagentText = tr.subtext // of a subagent in the foreground: 2.1.200 shows that of others
	tr.process.End(tr.t.Context(), procs.Park)
	seen.SaysSpending = until[procs.Exit](tr, nil).CostUSD > 0

	sub, err := cli.SubagentSaid(tr.transcript, other.ToolUse, func(procs.Message) {})
	id := sub.ID
	if err != nil || id == "" || seen.SubagentIDs && id != other.From.ID {
		tr.t.Fatalf("the subagent %q asked, and by its transcript it is %q (%v)", other.From.ID, id, err)
	}
	tr.spec.Resume, tr.spec.Marker.Launch, tr.spec.Flags = true, 2, append(tr.spec.Flags, shop(tr.t)...)
	tr.start("## WAKE",
		turn("## WAKE", calls("SendMessage", map[string]any{"to": id, "message": "## ANSWER", "summary": "the answer"}),
			says("It is awake.")),
		turn("## ANSWER", says("I go on with the other part.")),
		turn("## NEST", delegates("## OUTER"), says("Both are done.")),
		turn("## OUTER", delegates("## INNER"), says("I have tried.")),
		turn("## INNER", says("It is done.")),
		turn("## ORDER", calls("mcp__shop__order", nil), says("I have called.")),
		turn("## TYPED", calls("AskUserQuestion", map[string]any{"title": "Size", "questions": []any{
			map[string]any{"question": "How many?", "header": "N", "kind": "number", "min": 1, "max": 9, "unit": "nodes",
				"multiSelect": false},
			map[string]any{"question": "What for?", "header": "T", "kind": "text", "multiSelect": false},
		}}), says("It was asked.")),
		turn("## GUARDED", calls("Bash", map[string]any{"command": "true guarded", "description": "work"}),
			says("It was tried.")),
		turn("## BACKGROUND",
			calls("Bash", map[string]any{"command": "read line < go; echo > done", "description": "work",
				"run_in_background": true}), says("It runs.")),
		turn("<task-notification>", says("I see.")),
	)
	woken := until[procs.ToolResult](tr, func(r procs.ToolResult) bool { return r.Parent == "" })
	first := until[procs.Result](tr, func(r procs.Result) bool { return r.NumTurns > 0 })
	if seen.RevivesSubagents = !woken.IsError; seen.RevivesSubagents {
		until[procs.Result](tr, func(r procs.Result) bool { return r.Origin == "task-notification" })
		if n := tr.requested("I am the subagent."); n != 1 {
			tr.t.Errorf("the subagent that was woken has its own work %d times", n)
		}
	}
	tr.say("## NEST")
	until[procs.Result](tr, nil)
	seen.NestsSubagents = tr.requested("No such tool available") == 0
	seen.Elicits = tr.orders()
	seen.HookAsks = tr.asks("## GUARDED", "Bash")
	seen.AsksTyped = tr.asks("## TYPED", "AskUserQuestion")
	seen.WaitsForTasks = tr.leavesWork(waitsForTasks)
	seen.TotalsGoOn = tr.total(2) > 1.5*first.CostUSD

	for text, fact := range map[string]*bool{
		`"command_lifecycle"`: &seen.Receipts, `"background_tasks_changed"`: &seen.BackgroundList,
		`"last_assistant_message":`: &seen.HookMessage, `"background_tasks":`: &seen.HookBackground,
	} {
		*fact = bytes.Contains(tr.lines.Bytes(), []byte(text))
	}
	return seen
}

// asks has a tool called, and reports whether somebody is asked about the call: a command that a rule permits and that
// a hook of the user's wants to be asked about, or questions of kinds that not every release knows.
func (tr *trial) asks(turn, tool string) bool {
	tr.t.Helper()
	tr.say(turn)
	asked, asks := until[procs.Message](tr, func(m procs.Message) bool {
		switch m := m.(type) {
		case procs.Ask:
			return m.Name == tool
		case procs.ToolResult:
			return true
		}
		return false
	}).(procs.Ask)
	if asks {
		tr.must(tr.process.Deny(asked.Request, "not now", false))
	}
	until[procs.Result](tr, nil)
	return asks
}

// orders calls a tool whose server asks something, and reports whether that was handed over.
func (tr *trial) orders() bool {
	tr.t.Helper()
	tr.say("## ORDER")
	asked, elicits := until[procs.Message](tr, func(m procs.Message) bool {
		switch m := m.(type) {
		case procs.Ask:
			return m.Elicits
		case procs.ToolResult:
			return true
		}
		return false
	}).(procs.Ask)
	if elicits {
		tr.must(tr.process.Elicit(asked.Request, "decline", nil))
	}
	until[procs.Result](tr, nil)
	return elicits
}

// leavesWork closes the input while a command works in the background, and reports whether that was waited for. The
// command waits to be let go: it is, if it ought to be waited for.
func (tr *trial) leavesWork(waited bool) bool {
	tr.t.Helper()
	tr.must(syscall.Mkfifo(filepath.Join(tr.cwd, "go"), 0o600))
	tr.say("## BACKGROUND")
	until[procs.Result](tr, nil)
	tr.must(tr.process.CloseInput())
	if waited {
		tr.must(os.WriteFile(filepath.Join(tr.cwd, "go"), []byte("\n"), 0o600))
	}
	until[procs.Exit](tr, nil)
	_, err := os.Stat(filepath.Join(tr.cwd, "done"))
	tr.process.End(tr.t.Context(), procs.Finish)
	return err == nil
}

// total returns the first total of a launch that has ended.
func (tr *trial) total(launch int) float64 {
	tr.t.Helper()
	for line := range bytes.Lines(tr.lines.Bytes()) {
		var printed struct {
			Launch int
			Line   struct {
				Type  string
				Turns int     `json:"num_turns"`
				Total float64 `json:"total_cost_usd"`
			}
		}
		// What is on stderr, or no JSON, is in a form of its own.
		if json.Unmarshal(line, &printed) == nil && printed.Launch == launch && printed.Line.Type == "result" &&
			printed.Line.Turns > 0 {
			return printed.Line.Total
		}
	}
	tr.t.Fatalf("launch %d has no result", launch)
	return 0
}

// elsewhere goes on with the conversation in another directory: as a fork, which it can always, and as itself, where it
// is found. The fork is made with the program itself, since it goes another way where the release is known.
func (tr *trial) elsewhere(seen *cli.Release, program string) {
	tr.t.Helper()
	tr.spec.Dir = tr.t.TempDir()
	forked := tr.spec.SessionID
	tr.spec.Marker.Launch, tr.spec.Path = 3, program
	tr.spec.SessionID, tr.spec.Resume, tr.spec.Fork = uuid.NewString(), false, forked
	tr.start("## FORK", turn("## FORK", says("I am another.")))
	said := until[procs.Result](tr, nil)
	if said.IsError || tr.requested("## TASK") == 0 {
		tr.t.Errorf("the fork does not begin with the conversation: %+v", said)
	}
	tr.process.End(tr.t.Context(), procs.Finish)
	for session, has := range map[string]bool{tr.spec.SessionID: true, forked: false} {
		path, err := cli.Transcript(tr.spec.Env, session)
		tr.must(err)
		data, err := os.ReadFile(path)
		tr.must(err)
		if bytes.Contains(data, []byte("I am another.")) != has {
			tr.t.Errorf("the fork was said in the conversation of %s: %v", path, !has)
		}
	}

	tr.spec.Resume, tr.spec.Fork = true, ""
	tr.spends(said.CostUSD)

	tr.spec.Marker.Launch, tr.spec.SessionID, tr.spec.BudgetUSD = 5, forked, 0
	tr.messages = make(chan procs.Message, 10_000)
	p, err := procs.Start(cli.Agent{}, tr.spec, func(m procs.Message) { tr.messages <- m })
	tr.must(err)
	tr.process = p
	_ = p.Send(uuid.NewString(), "## FORK") // if it has gone, its end tells why
	found := until[procs.Message](tr, func(m procs.Message) bool {
		switch m := m.(type) {
		case procs.Exit:
			return true
		case procs.Result:
			return !m.IsError
		}
		return false
	})
	_, seen.ResumesAnywhere = found.(procs.Result)
	p.End(tr.t.Context(), procs.Kill)
}

// answersInPlace has a process ended in a call, and reports whether the conversation can be continued there with the
// call's result.
func (tr *trial) answersInPlace() bool {
	tr.t.Helper()
	question := calls("mcp__supervise__ask_user", map[string]any{"question": "Where?"})
	tr.spec.Marker.Launch, tr.spec.SessionID, tr.spec.Resume = 6, uuid.NewString(), false
	tr.start("## PLACE", turn("## PLACE", question, says("I go there.")))
	call := until[procs.Call](tr, nil)
	place := func() (string, error) {
		path, err := cli.Transcript(tr.spec.Env, tr.spec.SessionID)
		if err != nil {
			return "", err
		}
		return cli.PlaceOf(path, []string{call.ToolUse})
	}
	for _, err := place(); err != nil && tr.t.Context().Err() == nil; _, err = place() {
		time.Sleep(20 * time.Millisecond) // the call is written a while after it is made
	}
	tr.process.End(tr.t.Context(), procs.Park)
	var err error
	tr.spec.At, err = place()
	tr.must(err)
	tr.spec.Marker.Launch, tr.spec.Resume = 7, true
	tr.messages = make(chan procs.Message, 10_000)
	p, err := procs.Start(cli.Agent{}, tr.spec, func(m procs.Message) { tr.messages <- m })
	tr.must(err)
	tr.process = p
	_ = p.SendResults(uuid.NewString(), []procs.CallResult{{ToolUse: call.ToolUse, Text: "Here.", Blocks: true}})
	found := until[procs.Message](tr, func(m procs.Message) bool {
		switch m.(type) {
		case procs.Exit, procs.Result:
			return true
		}
		return false
	})
	result, is := found.(procs.Result)
	p.End(tr.t.Context(), procs.Kill)
	return is && !result.IsError && tr.requested("Here.") == 1
}

// spends goes on with the conversation, of which a request has this price, until its budget is spent: by the process,
// and not by those before it.
func (tr *trial) spends(price float64) {
	tr.t.Helper()
	work := calls("Bash", map[string]any{"command": "true", "description": "work"})
	tr.spec.Marker.Launch, tr.spec.BudgetUSD = 4, 1.5*price
	tr.start("## WORK", turn("## WORK", work, work, work, says("It is done.")))
	for i, requests := range []float64{2, 0} {
		r := until[procs.Result](tr, nil)
		// 2.1.7 has side requests, at less
		if f := cli.Classify(r, nil); f.Kind != procs.OverBudget || math.Floor(r.CostUSD/price+0.1) != requests {
			tr.t.Errorf("turn %d: %+v; it ought to have made %v requests at %v", i+1, r, requests, price)
		}
		tr.say("## WORK")
	}
	tr.process.End(tr.t.Context(), procs.Kill)
}

// start launches the release with a model that plays these turns, and says the first thing to it. A flag that it
// refuses is left away.
func (tr *trial) start(text string, turns ...examples.Turn) {
	tr.t.Helper()
	tr.api = messagesapi.Serve(examples.Scenario{Name: "release", Turns: turns}, nil)
	tr.t.Cleanup(tr.api.Close)
	tr.spec.Env = Environment(tr.home, tr.api.URL)
	for {
		tr.messages = make(chan procs.Message, 10_000) // more than a trial has
		p, err := procs.Start(cli.Agent{}, tr.spec, func(m procs.Message) { tr.messages <- m })
		tr.must(err)
		tr.t.Cleanup(func() { p.End(context.Background(), procs.Kill) })
		tr.process = p
		_ = p.Send(uuid.NewString(), text) // if it has gone, its end tells why
		if tr.begins() {
			return
		}
	}
}

// begins waits until a process has begun its turn. One that refuses a flag does not, and the next goes without.
func (tr *trial) begins() bool {
	tr.t.Helper()
	for m := range tr.messages {
		switch m := m.(type) {
		case procs.Init:
			return true
		case procs.Exit:
			refused := cli.Classify(procs.Result{}, &m)
			if refused.Flag == "" {
				tr.t.Fatalf("it does not start: %s", refused.Reason)
			}
			tr.spec.Without = append(tr.spec.Without, refused.Flag)
			return false
		}
	}
	panic("unreachable: the channel is never closed")
}

func (tr *trial) say(text string) {
	tr.t.Helper()
	tr.must(tr.process.Send(uuid.NewString(), text))
}

func (tr *trial) must(err error) {
	tr.t.Helper()
	noError(tr.t, err)
}

// requested counts a text in the request that has it most often.
func (tr *trial) requested(text string) (most int) {
	for _, r := range tr.api.Requests() {
		n := 0
		for _, m := range r.Conversation {
			for _, said := range m.Texts {
				n += strings.Count(said, text)
			}
		}
		most = max(most, n)
	}
	return most
}

// until reads up to the next message of a type that is meant, and lets turns end meanwhile.
func until[M procs.Message](tr *trial, meant func(M) bool) M {
	tr.t.Helper()
	for m := range tr.messages {
		switch m := m.(type) {
		case procs.StopHook:
			tr.transcript = m.Transcript
			tr.must(tr.process.Gate(m.Request, ""))
		case procs.Text:
			tr.subtext = tr.subtext || m.Parent != ""
		}
		if found, ok := m.(M); ok && (meant == nil || meant(found)) {
			return found
		}
		if exit, ok := m.(procs.Exit); ok {
			tr.t.Fatalf("it has ended: %+v", exit)
		}
	}
	panic("unreachable: the channel is never closed")
}
