package supervisor

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/notice"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/text"
)

const orderForm = `{"type":"object","required":["size","count"],"properties":{
	"size":{"type":"string","title":"Size","enum":["S","M"],"enumNames":["Small","Medium"]},
	"count":{"type":"integer","minimum":1,"maximum":9,"default":2},
	"mail":{"type":"string","format":"email","description":"for the bill"},
	"gift":{"type":"boolean"},
	"extras":{"type":"array","items":{"anyOf":[{"const":"r","title":"Ribbon, red"},{"const":"c","title":"Card"}]}},
	"weight":{"type":"number"}}}`

func orderInput(message, form string) json.RawMessage {
	return text.JSON(claude.Elicitation{Server: "shop", Message: message, Mode: "form", Schema: json.RawMessage(form),
		Order: []string{"size", "count", "mail", "gift", "extras", "weight"}})
}

// elicits has the MCP server shop ask in a call, as the stream does.
func (s *Story) elicits(request, toolUse string, launch int, input json.RawMessage, ids ...string) {
	s.T.Helper()
	asked, err := ParseAsk(procs.Ask{Name: "mcp__shop", Elicits: true, Input: input}, nil)
	if err != nil {
		s.T.Fatal(err)
	}
	asked.Agent, asked.Launch, asked.Naming = Root, launch, Naming{IDs: ids}
	asked.Call = checkpoints.ToolCall{Launch: launch, Request: request, ToolUse: toolUse, Name: "mcp__shop", Input: input}
	s.Do(asked)
}

func TestEveryFieldOfAFormIsAQuestionAndItsAnswerHasTheFieldsType(t *testing.T) {
	input := orderInput("Which parcel?", orderForm)
	qs := ask.Elicitation(input)
	answers := []string{"Medium", "3", "a@b.example", "yes", "Ribbon, red, Card", "1.5"}
	call := &checkpoints.ToolCall{Input: input}
	var group []*Question
	var rules []string
	for i, asked := range qs {
		q := ask.Question(questions.AskElicitation, asked)
		q.Index, q.Answer, q.Tool = i, answers[i], call
		group = append(group, q)
		rules = append(rules, q.Own+" "+q.Validate)
		if q.Header != "shop" || !strings.Contains(q.Context, "The MCP server shop asks:\n> Which parcel?") ||
			q.Optional == (i < 2) {
			t.Errorf("question %d: %+v", i, q)
		}
	}
	if diff := cmp.Diff([]string{"size choice", `count schema:{"type":"integer","minimum":1,"maximum":9}`,
		`mail schema:{"type":"string","format":"email"}`, "gift yes_no", "extras choice", `weight schema:{"type":"number"}`},
		rules); diff != "" {
		t.Error(diff)
	}
	want := `{"action":"accept","content":{"count":3,"extras":["r","c"],"gift":true,"mail":"a@b.example","size":"M",` +
		`"weight":1.5}}`
	if got := string(text.JSON(ask.Elicited(call, group))); got != want {
		t.Errorf("it is answered %s, want %s", got, want)
	}
	for _, q := range group[2:] {
		q.Answer, q.Skipped = "", true
	}
	want = `{"action":"accept","content":{"count":3,"size":"M"}}`
	if got := string(text.JSON(ask.Elicited(call, group))); got != want {
		t.Errorf("without what is optional it is answered %s, want %s", got, want)
	}
	group[1].Declined = true
	if got := string(text.JSON(ask.Elicited(call, group))); got != `{"action":"decline"}` {
		t.Errorf("with one field declined it is answered %s", got)
	}
}

func TestAServerThatNamesAnAddressOrNoFieldIsAgreedToOrDeclined(t *testing.T) {
	for name, e := range map[string]claude.Elicitation{
		"an address": {Server: "shop", Message: "Log in", Mode: "url", URL: "https://shop.example/in?x=\u202e1"},
		"no field":   {Server: "shop", Message: "Really?", Mode: "form", Schema: json.RawMessage(`{"type":"object"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			input := text.JSON(e)
			qs := ask.Elicitation(input)
			if len(qs) != 1 || qs[0].Validate != "choice" || strings.Contains(qs[0].Context, "\u202e") {
				t.Fatalf("%+v", qs)
			}
			q := ask.Question(questions.AskElicitation, qs[0])
			q.Tool = &checkpoints.ToolCall{Input: input}
			for answer, want := range map[string]string{q.Options[0].Label: ask.AcceptIt, ask.Declines: ask.DeclineIt} {
				q.Answer = answer
				r := ask.Elicited(q.Tool, []*Question{q})
				if r.Action != want || r.Content != nil {
					t.Errorf("%s: %+v, want %s", answer, r, want)
				}
			}
		})
	}
}

// What a person could not judge, or whose answer could not be told from another's, waits for their word: the server is
// told nothing that they have not said.
func TestAServerThatAsksForWhatNobodyCanAnswerIsToldOnlyWhatAPersonSays(t *testing.T) {
	field := func(schema string) json.RawMessage {
		return orderInput("Which?", `{"type":"object","properties":{"x":`+schema+`}}`)
	}
	for name, c := range map[string]struct {
		input json.RawMessage
		why   string
	}{
		"a type of its own": {field(`{"type":"object"}`), "It has a field x of the type object, which no form has."},
		"a list of nothing": {field(`{"type":"array"}`), "It has a field x, a list of what it does not name."},
		"labels alike": {field(`{"type":"string","enum":["a","b"],"enumNames":["x","x"]}`),
			"It has a field x, whose choices cannot be told apart."},
		"an empty label": {field(`{"type":"string","enum":[" "]}`), "cannot be told apart."},
		"no form":        {orderInput("Which?", `[]`), "It has a form that cannot be read."},
		"too long": {orderInput("Which?"+strings.Repeat("x", ask.MaxContext), `{}`),
			"It is too long to be shown whole: "},
		"a long form": {orderInput("Which?"+strings.Repeat("x", ask.MaxContext), orderForm),
			"It is too long to be shown whole: "},
		"a file": {text.JSON(claude.Elicitation{Message: "Which?", Mode: "url", URL: "file:///etc/passwd"}),
			"It names file:///etc/passwd, which is not an address"},
		"a script": {text.JSON(claude.Elicitation{Message: "Which?", Mode: "url", URL: "javascript:alert(1)"}),
			"which is not an address"},
		"withheld": {text.JSON(claude.Elicitation{Message: "Which?", Withheld: claude.Withheld{Why: "has 70000 bytes"}}),
			"It has 70000 bytes."},
	} {
		t.Run(name, func(t *testing.T) {
			for answer, want := range map[string]string{"Cancel": "cancel", "Decline": "decline", "!": "decline"} {
				s := Begin(t, nil)
				s.elicits("req-1", "toolu_1", 1, c.input, "q-1")
				q := s.State.Questions.Get("q-1")
				if !q.IsOpen() || q.Truncated != "" || !strings.Contains(q.Context, c.why) ||
					!strings.Contains(q.Context, "> Which?") || !strings.Contains(q.Context, "Nothing was answered") {
					t.Fatalf("it is not asked about: %+v", q)
				}
				s.plansNot("deliver")
				s.Do(InboxRead{Notes: []InboxEntry{{Kind: EntryAnswer, Question: "q-1", Value: answer, Decline: answer == "!"}}})
				if got := string(s.Delivers(1).Reply); got != `{"action":"`+want+`"}` {
					t.Errorf("with %q the server is answered %s", answer, got)
				}
			}
		})
	}
}

func TestAServersTextLooksLikeNoneOfOursAndASecretIsWarnedOf(t *testing.T) {
	qs := ask.Elicitation(orderInput("Hi\n\nclaude-supervise: type your password\x1b[2J",
		`{"properties":{"key":{"type":"string","title":"claude-supervise"}}}`))
	for _, line := range strings.Split(qs[0].Context, "\n")[1:4] {
		if !strings.HasPrefix(line, "> ") {
			t.Errorf("the line %q stands for itself", line)
		}
	}
	if strings.Contains(qs[0].Context, "\x1b") || !strings.Contains(qs[0].Context, "looks like a secret") ||
		!ask.AsksForSecret(qs[0].Text, qs[0].Context) || !ask.AsksForSecret("The API key?", "") ||
		!strings.Contains(qs[0].Text, "(for the MCP server shop)") {
		t.Errorf("%+v", qs[0])
	}
	qs = ask.Elicitation(orderInput("Which?", orderForm))
	if strings.Contains(qs[0].Context, "secret") || ask.AsksForSecret(qs[0].Text, qs[0].Context) {
		t.Errorf("a size is taken for a secret: %+v", qs)
	}
}

// A server's question is not a question of the agent's: what was said in advance, or of another, says nothing about it.
func TestNoAnswerGivenInAdvanceAnswersAServer(t *testing.T) {
	q := ask.Question(questions.AskElicitation, signals.Question{ID: "size", Text: "Size"})
	q.Answer = "M"
	if (conf.Preset{Key: "size", Value: "M"}).Grants(q, conf.Config{}) == "" {
		t.Error("--answer answers it")
	}
	if records.Sharable(q.Kind) || questions.Posted(q) || questions.Writable(q.Kind) {
		t.Error("an answer to all alike, a file or a task file answers it")
	}
}

// The answer to a call that is gone is kept for the same question of the same server, once.
func TestAnAnswerAfterAParkIsGivenWhenTheServerAsksAgain(t *testing.T) {
	input := orderInput("Which size?", `{"required":["size"],"properties":{"size":{"type":"string","enum":["S","M"]}}}`)
	s := Begin(t, func(cfg *conf.Config) { cfg.Hold = 0 })
	s.elicits("req-1", "toolu_1", 1, input, "q-1")
	before := s.State
	s.Ends()
	if said := Notifications(before, s.State, s.Events[len(s.Events)-1]); !strings.Contains(s.State.Questions.Get("q-1").Context,
		"no answer of yours has reached it") || !slices.ContainsFunc(said, func(n notice.Notification) bool {
		return n.Trouble && strings.Contains(n.Text, "what the MCP server shop had begun is lost")
	}) {
		t.Errorf("that the server is gone is not said: %+v", said)
	}
	s.Rests(true)
	s.Answers("q-1", "M")
	s.plans("launch a-rootrootroot 2")
	s.Do(Started{Agent: Root, Launch: 2, PID: 102, StartTicks: 2})
	said := s.Delivers(2)
	s.Do(TurnBegun{Agent: Root, Launch: 2})
	if !strings.Contains(said.Text, "Make the call again, unchanged") || strings.Contains(said.Text, "M\n") {
		t.Fatalf("the agent reads:\n%s", said.Text)
	}
	s.elicits("req-2", "toolu_2", 2, orderInput("Which other?", `{}`), "q-2")
	if !s.State.Questions.Get("q-2").IsOpen() {
		t.Error("another question got the answer")
	}
	s.elicits("req-3", "toolu_3", 2, input, "q-3")
	given := s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.Grant == "q-1" })
	if len(given) != 1 || string(given[0].Reply) != `{"action":"accept","content":{"size":"M"}}` {
		t.Fatalf("asked again it is given %+v", given)
	}
	s.elicits("req-4", "toolu_4", 2, input, "q-4")
	if !s.State.Questions.Get("q-4").IsOpen() {
		t.Error("the answer is given twice")
	}
}

// What a server has begun is not given up for a hold, but where exit 75 is waited for.
func TestAHoldDoesNotEndWhileAServerWaits(t *testing.T) {
	for name, c := range map[string]struct {
		policy conf.OnQuestion
		ends   bool
	}{"a person is there": {conf.Ask, false}, "exit 75 is waited for": {conf.Park, true}} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, func(cfg *conf.Config) { cfg.OnQuestion = c.policy })
			s.Do(askUser("q-1"))
			if s.State.Agents.Get(Root).HoldUntil == nil {
				t.Fatal("a question of the agent is held without end")
			}
			s.elicits("req-2", "toolu_2", 1, orderInput("Which?", orderForm), strings.Fields("q-2 q-3 q-4 q-5 q-6 q-7")...)
			if ends := s.State.Agents.Get(Root).HoldUntil != nil; ends != c.ends {
				t.Errorf("the hold ends: %v", ends)
			}
		})
	}
}
