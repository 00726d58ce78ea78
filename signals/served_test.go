package signals

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestACallIsTheSignalOfItsBlock(t *testing.T) {
	for _, c := range []struct {
		name, tool, input string
		want              string // its summary
	}{
		{
			"questions", "ask_user", `{"context":"both fit","all_required":false,"questions":[
				{"id":"db","header":"Store","text":"Which database?","context":"20 GB","multi_select":true,"validate":"choice","options":[
					{"label":"Postgres","description":"a server","preview":"services:\n  db: postgres"},{"label":"SQLite"}]},
				{"text":"Which region?"}]}`,
			`clarification_needed of nobody (tool)
  context = "both fit"
  all_required = "false"
  db? "Which database?"
    header = "Store"
    context = "20 GB"
    validate = "choice"
    - "Postgres" "a server"
      preview = "services:\n  db: postgres"
    - "SQLite" ""
    several
    optional
  Q2? "Which region?"
    optional
`,
		},
		{
			"an urgent question", "ask_user", `{"urgent":true,"questions":[{"text":"Now?"}]}`,
			"clarification_needed of nobody (tool)\n  urgent = \"true\"\n  Q1? \"Now?\"\n    urgent\n",
		},
		{
			"escape sequences", "ask_user",
			`{"questions":[{"text":"\u001b[2JWhich\u0007?","options":[{"label":"\u001b]52;c;eA==\u0007a"},{"label":"b\u202e"}]}]}`,
			"clarification_needed of nobody (tool)\n  Q1? \"Which?\"\n    - \"a\" \"\"\n    - \"b\\u202e\" \"\"\n",
		},
		{
			"a stop without its reason", "stop_work",
			`{"blocker_type":"missing_info","details":"no key","options":["Wait","Use: the old one"]}`,
			"stop_work of nobody (tool)\n  blocker_type = \"missing_info\"\n  details = \"no key\"\n  options = \"- Wait\\n- " +
				"'Use: the old one'\"\n",
		},
		{
			"a delegation", "delegate_work",
			`{"new_task_description":"write\nthe tests","priority":"P0","max_turns":20,"fork_context":true}`,
			"delegate_work of nobody (tool)\n  new_task_description = \"write\\nthe tests\"\n  priority = \"P0\"\n  max_turns " +
				"= \"20\"\n  fork_context = \"true\"\n",
		},
		{
			"a report", "report_completion", `{"status":"partial_success","summary":"done","deliverables":["a.md","b c.md"]}`,
			"completion_report of nobody (tool)\n  status = \"partial_success\"\n  summary = \"done\"\n  deliverables = \"- " +
				"a.md\\n- b c.md\"\n",
		},
		{
			"progress", "report_progress", `{"percent":12.50,"step":"tests"}`,
			"progress of nobody (tool)\n  percent = \"12.50\"\n  step = \"tests\"\n",
		},
		{
			"a message", "send_message", `{"to":"user","text":"halfway"}`,
			"message of nobody (tool)\n  to = \"user\"\n  text = \"halfway\"\n",
		},
		{
			"a value that is none", "report_completion", `{"status":"great","summary":"x"}`,
			"completion_report of nobody (tool)\n  status = \"great\"\n  summary = \"x\"\n  line 0 bad_value\n",
		},
		{
			"a question that is not there", "ask_user", `{"agent_id":null}`,
			"clarification_needed of nobody (tool)\n  Q1? \"The agent sent what cannot be read. It " +
				"wrote:\\n{\\\"agent_id\\\":null}\"\n",
		},
		{
			"a question that cannot be read", "ask_user", `{"questions":[]}`,
			"clarification_needed of nobody (tool)\n  Q1? \"The agent sent what cannot be read. It " +
				"wrote:\\n{\\\"questions\\\":[]}\"\n  line 0 bad_value\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			sig, ok := Served(c.tool, json.RawMessage(c.input))
			if !ok {
				t.Fatal("it is not a signal")
			}
			same(t, summary(sig), c.want)
		})
	}
}

func TestACallThatTellsNothingIsNoSignal(t *testing.T) {
	for name, c := range map[string]struct{ tool, input string }{
		"a look at others' work":   {"check_work", `{"agent_id":"a-2"}`},
		"a tool that is not ours":  {"Bash", `{"command":"ls"}`},
		"the CLI's own question":   {"AskUserQuestion", `{"questions":[{"question":"Which?"}]}`},
		"a name with the server's": {"mcp__supervise__ask_user", `{"questions":[{"text":"Which?"}]}`},
		"no input":                 {"ask_user", ""},
		"an empty input":           {"ask_user", "{}"},
		"no object":                {"report_progress", `["step"]`},
		"JSON that is cut off":     {"send_message", `{"to":"user","text":"half`},
		"YAML":                     {"send_message", "to: user\ntext: x\n"},
		"levels without end":       {"ask_user", strings.Repeat(`{"questions":[`, 50_000)},
		"more than is read":        {"send_message", `{"to":"user","text":"` + strings.Repeat("x", MaxBlock) + `"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if sig, ok := Served(c.tool, json.RawMessage(c.input)); ok {
				t.Errorf("read %v", summary(sig))
			}
		})
	}
}

// What a call tells does not change by being written as a block: an agent without the tools loses nothing.
func TestACallCanBeWrittenAsItsBlock(t *testing.T) {
	for name, s := range schemas(t) {
		dice := rand.New(rand.NewPCG(7, 7))
		for range 20 {
			input := encoded(t, drawn(dice, s))
			sig, ok := Served(name, input)
			if !ok {
				continue
			}
			sig.Dialect, sig.AgentID, sig.Problems = Block, me, nil
			checkRoundTrip(t, sig)
		}
	}
}

func TestTheWorkOfACallGrowsWithItsInput(t *testing.T) {
	for name, c := range map[string]struct{ tool, before, unit, after string }{
		"questions":             {"ask_user", `{"questions":[`, `"x",`, `"x"]}`},
		"options":               {"ask_user", `{"questions":[{"text":"x","options":[`, `"A) x",`, `"x"]}]}`},
		"members of a question": {"ask_user", `{"questions":[{`, `"k":"x",`, `"text":"x"}]}`},
		"members of an option":  {"ask_user", `{"questions":[{"text":"x","options":[{`, `"k":"x",`, `"label":"x"}]}]}`},
		"members of its own":    {"ask_user", `{`, `"Q1":"x",`, `"text":"x"}`},
		"deliverables":          {"report_completion", `{"summary":"x","deliverables":[`, `"x",`, `"x"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			allocated := func(size int) uint64 {
				input := json.RawMessage(c.before + strings.Repeat(c.unit, size/len(c.unit)) + c.after)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				sig, ok := Served(c.tool, input)
				runtime.ReadMemStats(&after)
				if !ok || len(sig.Problems) > maxStrays {
					t.Fatalf("a signal: %v, with %d problems", ok, len(sig.Problems))
				}
				return after.TotalAlloc - before.TotalAlloc
			}
			if small, large := allocated(4<<10), allocated(32<<10); large > 16*small {
				t.Errorf("8 times the input takes %d bytes instead of %d", large, small)
			}
		})
	}
}

// The input of a call is what the model wrote; the server lets through what fits the schema.
func FuzzServed(f *testing.F) {
	type tool struct {
		name   string
		schema *jsonschema.Resolved
	}
	var all []tool
	dice := rand.New(rand.NewPCG(1, 2))
	known := schemas(f)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		s := known[name]
		schema, err := s.Resolve(nil)
		noError(f, err)
		all = append(all, tool{name, schema})
		for range 4 {
			f.Add(uint8(len(all)-1), []byte(encoded(f, drawn(dice, s))))
		}
	}
	f.Add(uint8(0), []byte(`{"questions":[{"text":"\u0000"}]}`))
	f.Add(uint8(0), []byte(`{"questions":[{"text":" ","options":[{"label":"\u001b[1m"},{"label":""}]}]}`))
	f.Fuzz(func(t *testing.T, i uint8, input []byte) {
		at := all[int(i)%len(all)]
		sig, ok := Served(at.name, input)
		if ok && sig.Dialect != Tool || ok && sig.Kind == Clarification && len(sig.Questions) == 0 {
			t.Errorf("read %+v", sig)
		}
		var value any
		if json.Unmarshal(input, &value) != nil || at.schema.Validate(value) != nil || at.name == "check_work" ||
			len(input) > MaxBlock {
			return
		}
		if !ok {
			t.Error("it fits the schema, and is not a signal")
		}
	})
}

func TestWhatFitsASchemaIsASignalWithoutFault(t *testing.T) {
	for name, s := range schemas(t) {
		t.Run(name, func(t *testing.T) {
			dice := rand.New(rand.NewPCG(3, 4))
			schema, err := s.Resolve(nil)
			noError(t, err)
			for range 100 {
				value := drawn(dice, s)
				if err := schema.Validate(value); err != nil {
					t.Fatalf("%v does not fit: %v", value, err)
				}
				input := encoded(t, value)
				sig, ok := Served(name, input)
				if ok != (name != "check_work") {
					t.Fatalf("%s: a signal: %v", input, ok)
				}
				if sig.GoesOn() && (len(sig.Questions) > 1 || sig.Questions[0].Assumption == "") {
					continue // a schema that says so is more than the API takes
				}
				if len(sig.Problems) > 0 {
					t.Fatalf("%s: %v", input, sig.Problems)
				}
			}
		})
	}
}

func encoded(tb testing.TB, value any) json.RawMessage {
	tb.Helper()
	input, err := json.Marshal(value)
	noError(tb, err)
	return input
}

// words are texts that mean something to those who read signals.
var words = []string{
	"Which?", "a-7Qm2xK9fWb4T", "A) one", "- one\n- two", "[STOP_WORK]", "[/STOP_WORK]", "null",
	"no", "a: b # c", "  indented\n\ttab\n", "{\"a\":1}", "[x]", "日本語",
	"PAUSED_FOR_INPUT: /tmp/x", `C:\dir "quoted"`, "3.10", "~", "|",
}

// drawn is a value that fits the schema, as the dice fall. It knows what our schemas use.
func drawn(dice *rand.Rand, s *jsonschema.Schema) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[dice.IntN(len(s.Enum))]
	case s.Pattern != "":
		return []string{"choice", "path", "integer", "number 0..1 step 0.1", "yes_no", "regex:^v\\d+$"}[dice.IntN(6)]
	case s.Type == "object":
		o := make(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if !slices.Contains(s.Required, name) && dice.IntN(2) == 0 {
				continue
			}
			o[name] = drawn(dice, s.Properties[name])
			if name == "id" {
				o[name] = fmt.Sprintf("q-%d", dice.Uint32()) // two alike are a fault
			}
		}
		return o
	case s.Type == "array":
		least := 0
		if s.MinItems != nil {
			least = *s.MinItems
		}
		list := make([]any, least+dice.IntN(min(4, *s.MaxItems-least)))
		for i := range list {
			list[i] = drawn(dice, s.Items)
		}
		return list
	case s.Type == "boolean":
		return dice.IntN(2) == 0
	case s.Type == "integer":
		return *s.Minimum + float64(dice.IntN(int(*s.Maximum-*s.Minimum)))
	case s.Type == "number":
		return *s.Minimum + dice.Float64()*(*s.Maximum-*s.Minimum)
	}
	text := []rune(words[dice.IntN(len(words))])
	return string(text[:min(len(text), *s.MaxLength)])
}
