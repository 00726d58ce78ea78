package sessions

import (
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/questions"
)

// What an MCP server asks has the answer that its form wants; what cannot be shown whole the screen shows.
func TestWhatAServerAsksIsAnsweredByItsForm(t *testing.T) {
	const form = `"mode":"form","requested_schema":{"type":"object","properties":{"port":{"type":"integer","maximum":9},` +
		`"host":{"type":"string","enum":["a","b"]}},"required":["port"]}`
	asked := func(what string) (*Ask, error) {
		var in input
		text := `{"hook_event_name":"Elicitation","session_id":"s","cwd":"/w","mcp_server_name":"el","message":"Which?",` + what + `}`
		if err := json.Unmarshal([]byte(text), &in); err != nil {
			t.Fatal(err)
		}
		return newAsk(in, nil, time.Unix(1, 0), rand.Reader)
	}
	for name, c := range map[string]struct {
		asks  string
		given []Given
		says  string
	}{
		"a form":        {form, []Given{{Answer: "b"}, {Answer: "7"}}, `"action":"accept","content":{"host":"b","port":7}`},
		"a field less":  {form, []Given{{Skip: true}, {Answer: "7"}}, `"action":"accept","content":{"port":7}`},
		"it is refused": {form, []Given{{Answer: "no", Decline: true}}, `"action":"decline"}`},
		"an address":    {`"mode":"url","url":"https://example.org/x"`, []Given{{Answer: "Opened"}}, `"action":"accept"}`},
		"not opened":    {`"mode":"url","url":"https://example.org/x"`, []Given{{Answer: "Decline"}}, `"action":"decline"}`},
	} {
		a, err := asked(c.asks)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		a.Mode = ModeAsk
		for i, g := range c.given {
			if err := a.answer(given{a.Questions[i].ID, g}, time.Unix(2, 0)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if said := string(a.decision()); !a.complete() || !strings.Contains(said, c.says) || !strings.Contains(said, `"Elicitation"`) {
			t.Errorf("%s: it says %s", name, said)
		}
	}
	a, err := asked(form)
	if err != nil {
		t.Fatal(err)
	}
	a.Mode = ModeAsk
	for _, g := range []Given{{Answer: "many"}, {Answer: "10"}, {Skip: true}} {
		if err := a.answer(given{a.Questions[1].ID, g}, time.Unix(2, 0)); err == nil {
			t.Errorf("%+v is taken as %s", g, a.Questions[1].Text)
		}
	}
	if !questions.KindOf(a.Questions[0].Kind).Server {
		t.Errorf("it asks %+v", a.Questions[0])
	}
	for name, asks := range map[string]string{
		"no address":     `"mode":"url","url":"javascript:x"`,
		"a strange form": `"mode":"form","requested_schema":{"properties":{"a":{"type":"object"}}}`,
		"too long":       `"mode":"form","requested_schema":{"title":"` + strings.Repeat("x", maxElicited) + `"}`,
		"withheld":       `"mode":"url","url":"","withheld":"by itself"`,
	} {
		if a, err := asked(asks); err == nil {
			t.Errorf("%s: it asks %+v", name, a.Questions[0])
		}
	}
}
