package claude

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/procs"
)

func TestWhereAConversationIsContinuedAtItsOpenCalls(t *testing.T) {
	const (
		prompt = `{"type":"user","uuid":"p","message":{"role":"user","content":"paint"}}`
		before = `{"type":"assistant","uuid":"b","message":{"id":"m0","content":[{"type":"text","text":"well"}]}}`
		side   = `{"type":"assistant","isSidechain":true,"uuid":"s","message":{"id":"m9","content":[]}}`
		said   = `{"type":"user","uuid":"x","message":{"role":"user","content":"stop"}}`
		taken  = `{"type":"attachment","uuid":"x","attachment":{"type":"queued_command","prompt":"y"}}`
		boiled = `{"type":"system","subtype":"compact_boundary","uuid":"c"}`
	)
	call := func(id string) string {
		return `{"type":"assistant","uuid":"line-` + id + `","message":{"id":"m1","content":[{"type":"tool_use","id":"` + id +
			`","name":"x","input":{}}]}}`
	}
	result := func(id string) string {
		return `{"type":"user","uuid":"result-` + id + `","message":{"content":[{"type":"tool_result","tool_use_id":"` + id +
			`","content":"out"}]}}`
	}
	lost := strings.ReplaceAll(result("bash"), `"content":"out"`, `"is_error":true,"content":"[Tool call interrupted"`)
	for name, c := range map[string]struct {
		calls string
		lines []string
		at    string
		err   error
	}{
		"one call":                  {"ask", []string{prompt, before, call("ask"), side}, "line-ask", nil},
		"two that asked":            {"ask ask2", []string{call("ask"), call("ask2")}, "line-ask2", nil},
		"one with its result there": {"ask", []string{call("ask"), result("ask")}, "line-ask", nil},
		"beside one that is done":   {"ask", []string{call("bash"), call("ask"), result("bash")}, "result-bash", nil},
		"between two that are done": {"ask",
			[]string{call("bash"), call("ask"), call("b2"), result("b2"), result("bash")}, "result-bash", nil},
		"before one that was not made":       {"ask", []string{call("ask"), call("bash")}, "line-ask", nil},
		"after one that was not made":        {"ask", []string{call("bash"), call("ask")}, "", errSibling},
		"between one done and one not made":  {"ask", []string{call("b"), call("ask"), call("c"), result("b")}, "", errSibling},
		"beside one that was broken off":     {"ask", []string{call("bash"), call("ask"), lost}, "", errSibling},
		"no such call":                       {"other", []string{call("ask")}, "", errNoCall},
		"one of two":                         {"ask other", []string{call("ask")}, "", errMoved},
		"the assistant has spoken since":     {"ask", []string{call("ask"), result("ask"), before}, "", errNoCall},
		"a person has spoken since":          {"ask", []string{call("ask"), said}, "", errMoved},
		"a message was taken since":          {"ask", []string{call("ask"), taken}, "", errMoved},
		"it was compacted since":             {"ask", []string{call("ask"), boiled}, "", errSummary},
		"compacted, and summed up":           {"ask", []string{call("ask"), boiled, said}, "", errSummary},
		"none":                               {"", []string{call("ask")}, "", errMoved},
		"nothing":                            {"ask", nil, "", errNoCall},
		"the line of the call is torn":       {"ask", []string{prompt, call("ask")[:60]}, "", errNoCall},
		"what is no message":                 {"ask", []string{call("ask"), `[1]`, `"x"`, `{"type":"user","message":7}`}, "line-ask", nil},
		"the call twice, as of another fork": {"ask", []string{call("ask"), call("ask")}, "line-ask", nil},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		noError(t, os.WriteFile(path, []byte(strings.Join(c.lines, "\n")), 0o600))
		if at, err := PlaceOf(path, strings.Fields(c.calls)); at != c.at || !errors.Is(err, c.err) {
			t.Errorf("%s: at %q (%v), not %q (%v)", name, at, err, c.at, c.err)
		}
	}
	if _, err := PlaceOf(filepath.Join(t.TempDir(), "none"), []string{"ask"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a transcript: %v", err)
	}
}

// What is kept for another answer ends before the first one, or before whatever else came of the call.
func TestTheBeginningOfAConversationEndsAtItsOpenCall(t *testing.T) {
	const (
		prompt = `{"type":"user","uuid":"p","message":{"role":"user","content":"paint"}}`
		later  = `{"type":"assistant","uuid":"b","message":{"id":"m2","content":[{"type":"text","text":"well"}]}}`
		said   = `{"type":"user","uuid":"x","message":{"role":"user","content":"the answer is: no"}}`
		taken  = `{"type":"attachment","uuid":"x","attachment":{"type":"queued_command","prompt":"y"}}`
		boiled = `{"type":"system","subtype":"compact_boundary","uuid":"c"}`
		side   = `{"type":"assistant","isSidechain":true,"uuid":"s","message":{"id":"m9","content":[]}}`
	)
	call := func(id string) string {
		return `{"type":"assistant","uuid":"line-` + id + `","message":{"id":"m1","content":[{"type":"tool_use","id":"` + id +
			`","name":"x","input":{}}]}}`
	}
	result := func(id string) string {
		return `{"type":"user","uuid":"result-` + id + `","message":{"content":[{"type":"tool_result","tool_use_id":"` + id +
			`","content":"out"}]}}`
	}
	for name, c := range map[string]struct {
		keeps, goesOn []string
		err           error
	}{
		"answered":              {[]string{prompt, call("ask")}, []string{result("ask"), later}, nil},
		"open":                  {[]string{prompt, call("ask"), side}, nil, nil},
		"restated by a prompt":  {[]string{prompt, call("ask")}, []string{said, later}, nil},
		"compacted since":       {[]string{prompt, call("ask")}, []string{boiled, result("ask")}, nil},
		"compacted before":      {[]string{prompt, later, boiled, call("ask")}, []string{result("ask"), later}, nil},
		"a message taken since": {[]string{call("ask")}, []string{taken, result("ask")}, nil},
		"beside one that is done": {[]string{call("bash"), call("ask"), result("bash")},
			[]string{result("ask")}, nil},
		"before another that asked": {[]string{call("ask"), call("ask2")}, []string{result("ask"), result("ask2")}, nil},
		"beside one not done then":  {[]string{call("bash"), call("ask")}, []string{result("ask"), result("bash")}, errSibling},
		"no such call":              {[]string{prompt, later}, nil, errNoCall},
		"nothing":                   {nil, nil, errNoCall},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		text := func(lines []string) string { return strings.Join(append(lines, ""), "\n") }
		all := text(append(slices.Clone(c.keeps), c.goesOn...)) + later // whose newline is not written yet
		noError(t, os.WriteFile(path, []byte(all), 0o600))
		size, err := PrefixOf(path, []string{"ask"})
		if size != int64(len(text(c.keeps))) || !errors.Is(err, c.err) {
			t.Errorf("%s: %d bytes (%v), not %d (%v)", name, size, err, len(text(c.keeps)), c.err)
		}
	}
	if _, err := PrefixOf(filepath.Join(t.TempDir(), "none"), []string{"ask"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a transcript: %v", err)
	}
}

func TestAnAnsweredQuestionReadsAsTheCLIWritesIt(t *testing.T) {
	const chosen, own = "Your questions have been answered: ", "The user answered: "
	ask := func(answers string) string {
		return `{"questions":[{"question":"Which \"x\"?","options":[{"label":"A"},{"label":"B, C"}]},` +
			`{"question":"Some?","multiSelect":true,"options":[{"label":"A"},{"label":"B"}]}],"answers":` + answers + `}`
	}
	for input, want := range map[string]string{
		ask(`{"Which \"x\"?":"A","Some?":"A, B"}`):     chosen + `"Which "x"?"="A", "Some?"="A, B".`,
		ask(`{"Which \"x\"?":"B, C","Some?":"B"}`):     chosen + `"Which "x"?"="B, C", "Some?"="B".`,
		ask(`{"Which \"x\"?":"a","Some?":"B"}`):        own + `"Which "x"?"="a", "Some?"="B".`,
		ask(`{"Which \"x\"?":"A, B","Some?":"A"}`):     own + `"Which "x"?"="A, B", "Some?"="A".`,
		ask(`{"Which \"x\"?":"A","Some?":"A, \"B\""}`): own + `"Which "x"?"="A", "Some?"="A, "B"".`,
		ask(`{"Some?":"A\nnot B"}`):                    own + `"Some?"="A` + "\n" + `not B".`,
		ask(`{}`):                                      "The user did not answer the questions.",
		`[`:                                            "The user did not answer the questions.",
	} {
		if got := AnsweredText(json.RawMessage(input)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", input, got)
		}
	}
}

// A reply that a killed process has not written to its transcript is in its log.
func TestWhatWasSaidAfterResultsIsFound(t *testing.T) {
	write := func(text string) string {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		noError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	const given, reply = `{"type":"user","uuid":"u","message":{"content":[]}}` + "\n",
		`{"type":"assistant","uuid":"a","message":{"id":"m","content":[]}}` + "\n"
	for text, want := range map[string]bool{"": false, given: false, given + reply: true, reply + given: false,
		given + reply + given: false, given + reply[:30]: false} {
		if got, err := RepliedIn(write(text), "u"); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	log := write(`{"launch":1,"line":` + strings.TrimSpace(reply) + "}\n" + `{"launch":2,"line":{"type":"system"}}` + "\n" +
		`{"launch":2,"line":{"type":"assistant","parent_tool_use_id":"t"}}` + "\n" + `{"launch":2,"line":"assistant"}` + "\n")
	for launch, want := range map[int]bool{1: true, 2: false, 3: false} {
		if got, err := SpokeIn(log, launch); got != want || err != nil {
			t.Errorf("launch %d: %v, %v", launch, got, err)
		}
	}
}

// Without the place the CLI would drop the results, and tell the model that the calls were interrupted.
func TestResultsAreSentOnlyWhereTheConversationIsContinued(t *testing.T) {
	for _, spec := range []procs.Spec{{Resume: true}, {At: "x"}, {}} {
		d := &dialogue{Process: &procs.Process{Spec: spec}}
		if err := d.SendResults("u", []procs.CallResult{{ToolUse: "t", Text: "x"}}); err == nil {
			t.Errorf("they are sent to %+v", spec)
		}
	}
}
