package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"claude-supervise/procs"
)

// elicit has an MCP server ask.
func (w *wire) elicit(id, message string) {
	w.t.Helper()
	w.print(fmt.Sprintf(`{"type":"control_request","request_id":%q,"request":{"subtype":"elicitation",`+
		`"mcp_server_name":"shop","message":%q,"mode":"form","withheld":"x"}}`, id, message))
}

func (w *wire) elicited() (procs.Ask, Elicitation) {
	w.t.Helper()
	ask, ok := w.next().(procs.Ask)
	var asked Elicitation
	if err := json.Unmarshal(ask.Input, &asked); !ok || err != nil || !ask.Elicits || asked.Server != "shop" {
		w.t.Fatalf("it said %+v, %v", ask, err)
	}
	return ask, asked
}

// The CLI makes a cancel in the person's name of an error.
func TestWhatAServerAsksAtLengthIsAskedInBriefAndGetsNoAnswerOfOurs(t *testing.T) {
	w := newWire(t)
	for i, more := range []string{"", strings.Repeat("x", maxElicitation), strings.Repeat("x", maxElicitation) + "y"} {
		id := fmt.Sprint("r", i)
		w.elicit(id, "Which?"+more)
		ask, asked := w.elicited()
		if ask.Request != id || (asked.Why != "") != (more != "") || (asked.Hash != "") != (more != "") ||
			!strings.HasPrefix(asked.Message, "Which?") || len(ask.Input) > procs.MaxShown {
			t.Errorf("%s is %+v", id, asked)
		}
	}
	w.quiet()
	noError(t, w.Elicit("r1", "decline", nil))
	if got := w.read(); got != `{"request_id":"r1","response":{"action":"decline"},"subtype":"success"}` {
		t.Error(got)
	}
}

func TestWhatAServerAsksBeyondWhatAPersonAnswersIsAnsweredAlike(t *testing.T) {
	w := newWire(t)
	for i := range maxElicited {
		w.elicit(fmt.Sprint("r", i), "Which?")
		if ask, asked := w.elicited(); ask.Request != fmt.Sprint("r", i) || asked.Why != "" {
			t.Fatalf("%+v", ask)
		}
	}
	for i := range maxGathered + 2 {
		w.elicit(fmt.Sprint("more", i), "Which?")
	}
	ask, asked := w.elicited()
	if asked.Why != "is all that the server asks beyond 32 things at once" || strings.HasPrefix(ask.Request, "more") {
		t.Errorf("%s: %+v", ask.Request, asked)
	}
	if told := w.next().(procs.Activity).Text; !strings.Contains(told, "gets no answer") {
		t.Error(told)
	}
	for i := range maxGathered - 2 { // the server does not wait for those any more
		w.print(fmt.Sprintf(`{"type":"control_cancel_request","request_id":"more%d"}`, i))
	}
	w.quiet()
	noError(t, w.Elicit(ask.Request, "cancel", nil))
	for i := maxGathered - 2; i < maxGathered; i++ {
		if got, want := w.read(), fmt.Sprintf(`"request_id":"more%d","response":{"action":"cancel"}`, i); !strings.Contains(got, want) {
			t.Errorf("it wrote %s, want %s", got, want)
		}
	}
	w.quiet()
	w.elicit("last", "Which?")
	again, _ := w.elicited()
	w.print(`{"type":"control_cancel_request","request_id":"last"}`)
	if got := w.next(); again.Request == ask.Request || got != (procs.AskCancelled{Request: again.Request}) {
		t.Errorf("%s is taken back: %+v", again.Request, got)
	}
}

// At an interrupt the CLI tells a server that waits for a person that they have cancelled.
func TestAStopInterruptsNoTurnInWhichAServerWaits(t *testing.T) {
	for _, elicits := range []bool{false, true} {
		r := start(t, spec(t, "polite"))
		r.Patience = procs.Patience{Finish: hangs, Interrupt: hangs, Term: hangs}
		next[procs.Init](r)
		if elicits {
			r.waits("r1", byElicit)
		}
		r.End(t.Context(), procs.Stop)
		interrupted := false
		for _, m := range r.rest() {
			result, is := m.(procs.Result)
			interrupted = interrupted || is && result.Text == "interrupted"
		}
		if interrupted == elicits {
			t.Errorf("with a server that waits, %v: interrupted %v", elicits, interrupted)
		}
	}
}
