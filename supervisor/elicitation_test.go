package supervisor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
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
	return text.JSON(procs.Elicitation{Server: "shop", Message: message, Mode: "form", Schema: json.RawMessage(form),
		Order: []string{"size", "count", "mail", "gift", "extras", "weight"}})
}

// elicits has the MCP server shop ask in a call, as the stream does.
func (s *Story) elicits(request, toolUse string, launch int, input json.RawMessage, ids ...string) {
	s.T.Helper()
	asked, err := ParseAsk(procs.Ask{Name: "mcp__shop", Elicits: true, Input: input}, nil)
	if err != nil {
		asked.Refused = err.Error()
	}
	asked.Agent, asked.Launch, asked.Naming = Root, launch, Naming{IDs: ids}
	asked.Call = checkpoints.ToolCall{Launch: launch, Request: request, ToolUse: toolUse, Name: "mcp__shop", Input: input}
	s.Do(asked)
}

func TestEveryFieldOfAFormIsAQuestionAndItsAnswerHasTheFieldsType(t *testing.T) {
	input := orderInput("Which parcel?", orderForm)
	qs, err := ElicitationAsked(input)
	if err != nil {
		t.Fatal(err)
	}
	answers := []string{"Medium", "3", "a@b.example", "yes", "Ribbon, red, Card", "1.5"}
	var group []*Question
	var rules []string
	for i, asked := range qs {
		q := NewQuestion(checkpoints.AskElicitation, asked)
		q.Index, q.Answer = i, answers[i]
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
	call := &checkpoints.ToolCall{Input: input}
	want := `{"action":"accept","content":{"count":3,"extras":["r","c"],"gift":true,"mail":"a@b.example","size":"M",` +
		`"weight":1.5}}`
	if got := string(text.JSON(elicited(call, group))); got != want {
		t.Errorf("it is answered %s, want %s", got, want)
	}
	for _, q := range group[2:] {
		q.Answer, q.Skipped = "", true
	}
	want = `{"action":"accept","content":{"count":3,"size":"M"}}`
	if got := string(text.JSON(elicited(call, group))); got != want {
		t.Errorf("without what is optional it is answered %s, want %s", got, want)
	}
	group[1].Declined = true
	if got := string(text.JSON(elicited(call, group))); got != `{"action":"decline"}` {
		t.Errorf("with one field declined it is answered %s", got)
	}
}

func TestAServerThatNamesAnAddressOrNoFieldIsAgreedToOrDeclined(t *testing.T) {
	for name, e := range map[string]procs.Elicitation{
		"an address": {Server: "shop", Message: "Log in", Mode: "url", URL: "https://shop.example/in?x=\u202e1"},
		"no field":   {Server: "shop", Message: "Really?", Mode: "form", Schema: json.RawMessage(`{"type":"object"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			input := text.JSON(e)
			qs, err := ElicitationAsked(input)
			if err != nil || len(qs) != 1 || qs[0].Validate != "choice" || strings.Contains(qs[0].Context, "\u202e") {
				t.Fatalf("%+v, %v", qs, err)
			}
			q := NewQuestion(checkpoints.AskElicitation, qs[0])
			for answer, want := range map[string]string{q.Options[0].Label: acceptIt, declines: declineIt} {
				q.Answer = answer
				r := elicited(&checkpoints.ToolCall{Input: input}, []*Question{q})
				if r.Action != want || r.Content != nil {
					t.Errorf("%s: %+v, want %s", answer, r, want)
				}
			}
		})
	}
}

// What a person could not judge, or whose answer could not be told from another's, nobody is asked.
func TestAServerThatAsksForWhatNobodyCanAnswerIsCancelled(t *testing.T) {
	field := func(schema string) json.RawMessage {
		return orderInput("?", `{"type":"object","properties":{"x":`+schema+`}}`)
	}
	for name, input := range map[string]json.RawMessage{
		"a type of its own": field(`{"type":"object"}`),
		"a list of nothing": field(`{"type":"array"}`),
		"labels alike":      field(`{"type":"string","enum":["a","b"],"enumNames":["x","x"]}`),
		"an empty label":    field(`{"type":"string","enum":[" "]}`),
		"no form":           orderInput("?", `[]`),
		"too long":          orderInput(strings.Repeat("x", maxContext), `{}`),
		"a file":            text.JSON(procs.Elicitation{Mode: "url", URL: "file:///etc/passwd"}),
		"a script":          text.JSON(procs.Elicitation{Mode: "url", URL: "javascript:alert(1)"}),
	} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			s.elicits("req-1", "toolu_1", 1, input, "q-1")
			if got := string(s.Delivers(1).Reply); got != `{"action":"cancel"}` || len(s.State.Questions) > 0 {
				t.Errorf("it is answered %s; questions %v", got, s.State.Questions)
			}
		})
	}
}

func TestAServersTextLooksLikeNoneOfOursAndASecretIsWarnedOf(t *testing.T) {
	qs, err := ElicitationAsked(orderInput("Hi\n\nclaude-supervise: type your password\x1b[2J",
		`{"properties":{"key":{"type":"string","title":"claude-supervise"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(qs[0].Context, "\n")[1:4] {
		if !strings.HasPrefix(line, "> ") {
			t.Errorf("the line %q stands for itself", line)
		}
	}
	if strings.Contains(qs[0].Context, "\x1b") || !strings.Contains(qs[0].Context, "looks like a secret") ||
		!strings.Contains(qs[0].Text, "(for the MCP server shop)") {
		t.Errorf("%+v", qs[0])
	}
	qs, err = ElicitationAsked(orderInput("Which?", orderForm))
	if err != nil || strings.Contains(qs[0].Context, "secret") {
		t.Errorf("a size is taken for a secret: %+v, %v", qs, err)
	}
}

// A server's question is not a question of the agent's: what was said in advance, or of another, says nothing about it.
func TestNoAnswerGivenInAdvanceAnswersAServer(t *testing.T) {
	q := NewQuestion(checkpoints.AskElicitation, signals.Question{ID: "size", Text: "Size"})
	q.Answer = "M"
	if (Preset{Key: "size", Value: "M"}).Grants(q, Config{}) == "" {
		t.Error("--answer answers it")
	}
	if Sharable(q.Kind) || Posted(q) || Writable(q.Kind) {
		t.Error("an answer to all alike, a file or a task file answers it")
	}
}

// The answer to a call that is gone is kept for the same question of the same server, once.
func TestAnAnswerAfterAParkIsGivenWhenTheServerAsksAgain(t *testing.T) {
	input := orderInput("Which size?", `{"required":["size"],"properties":{"size":{"type":"string","enum":["S","M"]}}}`)
	s := Begin(t, func(cfg *Config) { cfg.Hold = 0 })
	s.elicits("req-1", "toolu_1", 1, input, "q-1")
	s.Ends()
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
	if !IsOpen(s.State.Questions["q-2"]) {
		t.Error("another question got the answer")
	}
	s.elicits("req-3", "toolu_3", 2, input, "q-3")
	given := s.State.FindDeliveries(Root, func(v *Delivery) bool { return v.Grant == "q-1" })
	if len(given) != 1 || string(given[0].Reply) != `{"action":"accept","content":{"size":"M"}}` {
		t.Fatalf("asked again it is given %+v", given)
	}
	s.elicits("req-4", "toolu_4", 2, input, "q-4")
	if !IsOpen(s.State.Questions["q-4"]) {
		t.Error("the answer is given twice")
	}
}
