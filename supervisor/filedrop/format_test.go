package filedrop

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// printed is a text of the hybrid document, as it stands there.
func printed(tb testing.TB, name string) []byte {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "drop", name))
	noError(tb, err)
	return text
}

func TestTheQuestionFileOfTheDocumentIsRead(t *testing.T) {
	got, err := parseQuestionFile(printed(t, "question.json"))
	noError(t, err)
	want := &QuestionFile{
		Question: "The question text for the user", Options: []string{"option1", "option2", "option3"},
		WorkflowID: "unique_workflow_identifier", Checkpoint: "/absolute/path/to/checkpoint.json",
		AskedAt: time.Date(2025, 10, 19, 14, 32, 0, 0, time.UTC), AskedBy: "subagent_name",
		Context: "Brief context about why this question is being asked",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionFileIsWrittenInTheFormOfTheDocument(t *testing.T) {
	text := printed(t, "question.json")
	q, err := parseQuestionFile(text)
	noError(t, err)
	got, err := q.encode()
	noError(t, err)
	var before, after bytes.Buffer
	noError(t, errors.Join(json.Compact(&before, text), json.Compact(&after, got)))
	if diff := cmp.Diff(before.String(), after.String()); diff != "" {
		t.Error(diff)
	}
}

func TestTheQueueOfQuestionsOfTheDocument(t *testing.T) {
	text := printed(t, "questions.json")
	if _, err := parseQuestionFile(text); !errors.Is(err, ErrBadQuestionFile) || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("as printed, with its … and comment: %v", err)
	}
	text = bytes.ReplaceAll(text, []byte("[...]"), []byte(`["a", "b"]`))
	text, _, _ = bytes.Cut(text, []byte("//"))
	got, err := parseQuestionFile(append(text, '}'))
	noError(t, err)
	yes := true
	want := &QuestionFile{WorkflowID: "...", AllRequired: &yes, Questions: []FileQuestion{
		{ID: "q1", Question: "...", Options: []string{"a", "b"}},
		{ID: "q2", Question: "...", Options: []string{"a", "b"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The document's types of a question ("Answer Validation") are rules of ours. They stay in the file as they were.
func TestTheTypeOfAQuestionIsTheRuleOfItsAnswer(t *testing.T) {
	for typed, want := range map[string]string{
		`"question_type": "choice", "options": ["a", "b"]`: "choice",
		`"type": "path"`:                                         "path",
		`"type": "regex", "pattern": "^v\\d+$"`:                  `regex:^v\d+$`,
		`"type": "regex"`:                                        "",
		`"question_type": "text"`:                                "",
		`"question_type": 3, "type": "integer"`:                  "integer",
		`"type": "path", "validate": "regex:^/"`:                 "regex:^/",
		`"question_type": "regex", "type": "x", "pattern": "^a"`: "regex:^a",
	} {
		file := `{"question": "Which?", ` + typed + `}`
		q, err := parseQuestionFile([]byte(file))
		if err != nil || q.Validate != want {
			t.Fatalf("%s: its rule is %q, not %q (%v)", file, q.Validate, want, err)
		}
		again, err := q.encode()
		noError(t, err)
		for name := range strings.SplitSeq("question_type type pattern", " ") {
			if member := `"` + name + `": `; strings.Contains(file, member) != strings.Contains(string(again), member) {
				t.Errorf("%s is written back as %s", file, again)
			}
		}
		queue, err := parseQuestionFile([]byte(`{"questions": [` + file + `]}`))
		if err != nil || queue.Questions[0].Validate != want {
			t.Errorf("among several %s has the rule %q (%v)", file, queue.Questions[0].Validate, err)
		}
	}
}

func TestOtherSpellingsAreUnderstoodAndWhatIsNotIsKept(t *testing.T) {
	got, err := parseQuestionFile([]byte(`{
		"question": "Which?", "options": [{"label": "one", "description": "the first"}, 2, true, "four"],
		"multiSelect": true, "asked_at": "2025-10-19T14:32:00+0200", "quick_wait": 1.5, "validate": "choice", "header": null,
		"questions": ["And why?", {"question_id": 7, "text": "How?", "urgent": true, "own_words": "maybe"}],
		"all_required": "yes", "context": ["not", "a text"], "agent": "a-7Qm2xK9fWb4T", "id": "x",
		"claude_supervise": {"run": "r-k3v9x2ab"}}`))
	noError(t, err)
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	want := &QuestionFile{
		Question: "Which?", Options: []string{"one", "2", "true", "four"},
		OptionDescriptions: []string{"the first", "", "", ""}, MultiSelect: true, Validate: "choice",
		AskedAt: time.Date(2025, 10, 19, 12, 32, 0, 0, time.UTC), QuickWait: 1500 * time.Millisecond,
		Questions: []FileQuestion{
			{Question: "And why?"},
			{Question: "How?", Urgent: true,
				Other: map[string]json.RawMessage{"question_id": raw("7"), "own_words": raw(`"maybe"`)}},
		},
		Other: map[string]json.RawMessage{
			"all_required": raw(`"yes"`), "context": raw(`["not", "a text"]`), "agent": raw(`"a-7Qm2xK9fWb4T"`),
			"id":               raw(`"x"`),
			"claude_supervise": raw(`{"run": "r-k3v9x2ab"}`),
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Ours() {
		t.Error("a file that names no agent of ours is taken for ours")
	}
}

func TestAMemberOfNoUseIsKeptAsItIs(t *testing.T) {
	for _, member := range []string{
		`"options": "a"`, `"options": [null]`, `"options": [["a"]]`, `"options": [{"label": "a", "value": 1}]`,
		`"options": [{"label": ""}]`,
		`"asked_at": "yesterday"`, `"asked_at": 1729350000`, `"quick_wait": -1`, `"quick_wait": 86401`, `"quick_wait": "5m"`,
		`"multi_select": "yes"`, `"claude_supervise": {"run": "r-k3v9x2ab", "agent": "../x"}`,
		`"claude_supervise": {"run": "r-k3v9x2ab", "agent": "a-7Qm2xK9fWb4T", "x": 1}`,
	} {
		got, err := parseQuestionFile([]byte(`{"question": "?", ` + member + `}`))
		if err != nil {
			t.Errorf("%s: %v", member, err)
			continue
		}
		name, value, _ := strings.Cut(member, ": ")
		other := map[string]json.RawMessage{strings.Trim(name, `"`): json.RawMessage(value)}
		if diff := cmp.Diff(&QuestionFile{Question: "?", Other: other}, got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestWhatIsNoQuestionFileIsRefusedWithTheReason(t *testing.T) {
	for name, c := range map[string]struct{ text, reason string }{
		"empty":                    {"", "it is empty"},
		"white space":              {" \n", "it is empty"},
		"cut off":                  {"{\"question\": \"a\",\n \"opt", "line 2: unexpected end"},
		"a list":                   {`[]`, "begins with {"},
		"text":                     {"Which?", "begins with {"},
		"two objects":              {"{\"question\": \"a\"}\n{}", "line 2: "},
		"nothing asked":            {`{"options": []}`, "it asks nothing"},
		"a blank question":         {`{"question": " "}`, "it asks nothing"},
		"a question that is none":  {`{"question": 5}`, "it asks nothing"},
		"questions that are none":  {`{"question": "a", "questions": "b"}`, `"questions" is not a list`},
		"one that asks nothing":    {`{"questions": ["a", {"id": "b"}]}`, "question 2 of 2 asks nothing"},
		"one that is a number":     {`{"questions": [1]}`, "question 1 of 1 asks nothing"},
		"one that is null":         {`{"questions": [null]}`, "question 1 of 1 asks nothing"},
		"a member twice":           {`{"question": "a", "question": "b"}`, `"question" is there twice`},
		"a member twice, disguise": {`{"question": "a", "\u0071uestion": "b"}`, `"question" is there twice`},
		"twice further down":       {`{"question": "a", "x": [{"y": 1, "y": 2}]}`, `"y" is there twice`},
		"no UTF-8":                 {"{\"question\": \"\xff\"}", "not UTF-8"},
		"a NUL":                    {`{"question": "a\u0000b"}`, "NUL"},
		"a NUL in a name":          {`{"question": "a", "x\u0000": 1}`, "NUL"},
		"a bare NUL":               {"{\"question\": \"a\x00\"}", "line 1: "},
		"a huge number":            {`{"question": "a", "x": 1e999999999}`, "too large"},
		"a long number":            {`{"question": "a", "x": ` + strings.Repeat("1", 100) + `}`, "too large"},
		"deep lists": {`{"question": "a", "x": ` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`,
			"more than 32 deep"},
		"lists without an end": {`{"question": "a", "x": ` + strings.Repeat("[", 100_000), "line 1: "},
		"a large one":          {`{"question": "` + strings.Repeat("a", fileDropMax) + `"}`, "more than 1 MiB"},
	} {
		q, err := parseQuestionFile([]byte(c.text))
		if q != nil || !errors.Is(err, ErrBadQuestionFile) || !strings.Contains(err.Error(), c.reason) ||
			len(err.Error()) > 250 {
			t.Errorf("%s: %v, want %q", name, err, c.reason)
		}
	}
}

func TestAQuestionFileWithWhatIsNoJSONIsNotWritten(t *testing.T) {
	for _, bad := range []string{"", "{", "1, 2"} {
		other := map[string]json.RawMessage{"x": json.RawMessage(bad)}
		for _, q := range []QuestionFile{
			{Question: "a", Other: other},
			{Questions: []FileQuestion{{Question: "a", Other: other}}},
		} {
			if text, err := q.encode(); err == nil {
				t.Errorf("%s", text)
			}
		}
	}
}

func FuzzParseQuestionFile(f *testing.F) {
	f.Add(printed(f, "question.json"))
	for _, seed := range []string{
		`{"questions":[{"id":"q1","question":"?","options":["a"]},"b",{"text":"c","question_id":"d","id":""}],"all_required":false}`,
		`{"question":"a","options":[{"label":"l","description":"d"},1,false],"multiSelect":true,"multi_select":false,"quick_wait":0.1}`,
		`{"question":"a","option_descriptions":["x",null],"options":[{"label":"l","description":"d"}],"asked_at":"2025-10-19T14:32:00.5+02:00"}`,
		`{"question":"\ud800","claude_supervise":{"run":"r-k3v9x2ab","agent":"a-7Qm2xK9fWb4T"},"claude_supervise ` +
			`":{},"validate":"regex:^a$"}`,
		`{"question":"<&>","asked_at":"","context":null,"header":{"a":  [ 1 ]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		q, err := parseQuestionFile(text)
		if err != nil {
			if q != nil || !errors.Is(err, ErrBadQuestionFile) {
				t.Fatalf("%v, %v", q, err)
			}
			return
		}
		encoded, err := q.encode()
		noError(t, err)
		again, err := parseQuestionFile(encoded)
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if diff := cmp.Diff(q, again, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n%s", diff, encoded)
		}
		if twice, err := again.encode(); err != nil || !bytes.Equal(twice, encoded) {
			t.Fatalf("%v\n%s\n%s", err, encoded, twice)
		}
	})
}
