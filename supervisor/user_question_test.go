package supervisor

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
)

// userQuestion is one question as AskUserQuestion has it.
func userQuestion(text string, labels ...string) map[string]any {
	var options []map[string]string
	for _, l := range labels {
		options = append(options, map[string]string{"label": l, "description": "it is " + l})
	}
	return map[string]any{"question": text, "header": "Choice", "multiSelect": false, "options": options}
}

func userInput(questions ...map[string]any) json.RawMessage {
	return raw(map[string]any{"questions": questions})
}

func TestAskUserQuestionIsReadWithAllThatItShows(t *testing.T) {
	asked, err := ParseAsk(procs.Ask{Name: ask.AskUserQuestion, Input: json.RawMessage(`{"questions":[
		{"question":"Which layout?","header":"Layout","multiSelect":false,"options":[
			{"label":"Rows","description":"one below the other","preview":"a\nb"},
			{"label":"Columns","description":"side by side","preview":"a b"}]},
		{"question":"Which colours?","header":"Colours","multiSelect":true,"options":[{"label":"Red"},{"label":"Blue"}]},
		{"question":"What is it called?","header":"Name","options":[]}],"metadata":{"source":"x"}}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []signals.Question{
		{ID: "Q1", Text: "Which layout?", Header: "Layout", Options: []signals.Option{
			{Label: "Rows", Description: "one below the other", Preview: "a\nb"},
			{Label: "Columns", Description: "side by side", Preview: "a b"},
		}},
		{ID: "Q2", Text: "Which colours?", Header: "Colours", MultiSelect: true,
			Options: []signals.Option{{Label: "Red"}, {Label: "Blue"}}},
		{ID: "Q3", Text: "What is it called?", Header: "Name", Options: []signals.Option{}},
	}
	if diff := cmp.Diff(want, asked.Questions); diff != "" || asked.Kind != questions.AskClarification {
		t.Errorf("%s: %s", asked.Kind, diff)
	}
}

func TestANoteIsGivenBesideTheChoiceThatItIsTo(t *testing.T) {
	input := json.RawMessage(`{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B","preview":"#"}]},` +
		`{"question":"Else?","options":[{"label":"A"}]}]}`)
	qs, err := ask.UserQuestions(input)
	if err != nil {
		t.Fatal(err)
	}
	var group []*Question
	for i, asked := range qs {
		q := ask.Question(questions.AskClarification, asked)
		q.Index, q.Answer = i, []string{"B: but \"green\"", "A"}[i]
		group = append(group, q)
	}
	const want = `{"annotations":{"Which?":{"preview":"#","notes":"but \"green\""}},"answers":{"Which?":"B","Else?":"A"},`
	if got := string(ask.WithAnswers(input, group)); !strings.HasPrefix(got, want) {
		t.Errorf("the CLI is given\n%s", got)
	}
}

func TestAnAskUserQuestionMayAskForANumberOrForText(t *testing.T) {
	asked, err := ParseAsk(procs.Ask{Name: ask.AskUserQuestion, Input: json.RawMessage(`{"title":"First","questions":[
		{"question":"How many?","kind":"number","options":[],"min":1,"max":9,"step":2,"defaultValue":3,"unit":"machines"},
		{"question":"What for?","kind":"text","description":"its label","defaultValue":"search","multiSelect":true},
		{"question":"Where?","kind":"choice","options":[{"label":"North"}]},
		{"question":"When?","kind":"date","defaultValue":{"a":1}}]}`)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []signals.Question{
		{ID: "Q1", Text: "How many?", Context: "First\nIt suggests: 3 machines", Options: []signals.Option{},
			Validate: `schema:{"type":"number","step":2,"unit":"machines","minimum":1,"maximum":9}`},
		{ID: "Q2", Text: "What for?", Context: "First\nits label\nIt suggests: search"},
		{ID: "Q3", Text: "Where?", Context: "First", Options: []signals.Option{{Label: "North"}}},
		{ID: "Q4", Text: "When?", Context: "First"},
	}
	if diff := cmp.Diff(want, asked.Questions); diff != "" {
		t.Error(diff)
	}
}

// What cannot be put to a person, or answered so that the model knows what was meant, is told to the model.
func TestAnAskUserQuestionThatNobodyCouldAnswerIsRefusedWithWhatIsWrong(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		input json.RawMessage
		says  string
	}{
		"no object":                 {json.RawMessage(`[1]`), "cannot be read"},
		"questions of another type": {json.RawMessage(`{"questions":"Which?"}`), "cannot be read"},
		"no questions":              {json.RawMessage(`{}`), "it holds 0 questions; it takes 1 to 4"},
		"five questions": {userInput(userQuestion("1?"), userQuestion("2?"), userQuestion("3?"),
			userQuestion("4?"), userQuestion("5?")), "it holds 5 questions"},
		"a number of none": {json.RawMessage(`{"questions":[{"question":"?!","kind":"number","min":9,"max":1}]}`),
			"question 1 has a min that is more than its max"},
		"a step of none": {json.RawMessage(`{"questions":[{"question":"?!","kind":"number","step":0}]}`),
			"question 1 has a step that is not more than 0"},
		"a number that is none": {json.RawMessage(`{"questions":[{"question":"?!","kind":"number","min":"one"}]}`),
			"cannot be read"},
		"a text with options": {json.RawMessage(`{"questions":[{"question":"?!","kind":"text","options":[{"label":"a"}]}]}`),
			"asks for a text and has options"},
		"no text": {userInput(userQuestion("Which?"), userQuestion(" \u200b\x00\x1b")),
			"question 2 has no text"},
		"the same text twice": {userInput(userQuestion("Which?", "a"), userQuestion("Which?", "b")),
			"have the same text"},
		"five options": {userInput(userQuestion("Which?", "a", "b", "c", "d", "e")),
			"question 1 has 5 options; it takes at most 4"},
		"a thousand options": {userInput(userQuestion("Which?", strings.Split(strings.Repeat("o ", 1000), " ")...)),
			"it takes at most 4"},
		"no label": {userInput(userQuestion("Which?", "a", "\u2060")),
			"option 2 of question 1 has no label"},
		"the same label twice": {userInput(userQuestion("Which?", "a", "a")),
			"two options of question 1 have the same label"},
		"a megabyte of text": {userInput(userQuestion(long)),
			"its text has 1048576 bytes, of which 16384 are kept. Put what is long into a file"},
		"a megabyte of a label": {userInput(userQuestion("Which?", "a", long)), "its option 2's label has 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			qs, err := ask.UserQuestions(c.input)
			if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "Nobody was asked: ") ||
				len(qs) != 0 {
				t.Errorf("%d questions, %v", len(qs), err)
			}
			if err != nil && len(err.Error()) > 400 {
				t.Errorf("the model reads %d bytes", len(err.Error()))
			}
		})
	}
}

func TestARefusedAskUserQuestionIsDeniedAtOnceAndAsksNobody(t *testing.T) {
	s := Begin(t, nil)
	s.Do(Asked{
		Agent: Root, Launch: 1, Kind: questions.AskClarification, Refused: "Nobody was asked: it holds 0 questions.",
		Call: checkpoints.ToolCall{Launch: 1, Request: "req-1", ToolUse: "toolu_1", Name: ask.AskUserQuestion,
			Input: json.RawMessage("{}")},
	})
	d := s.Delivers(1)
	if string(d.Reply) != `{"behavior":"deny","message":"Nobody was asked: it holds 0 questions."}` ||
		s.State.Questions.Len() != 0 {
		t.Fatalf("%d questions, the reply is %s", s.State.Questions.Len(), d.Reply)
	}
	s.is(checkpoints.Running)
}

// The CLI finds an answer by the text of its question, to the byte: also where that cannot be held by Go, or is shown
// cut.
func TestAnAnswerStandsUnderTheTextThatTheCLIHasWritten(t *testing.T) {
	input := json.RawMessage(
		`{"questions":[{"question":"half a pair \ud83d?"},{"question":"<b>\u00e9 ` +
			`\u0000\"?","multiSelect":true}],"metadata":{"source":"x"}}`)
	qs, err := ask.UserQuestions(input)
	if err != nil {
		t.Fatal(err)
	}
	var group []*Question
	for i, asked := range qs {
		q := ask.Question(questions.AskClarification, asked)
		q.Index, q.Answer = i, []string{`my "own"`, "A, B"}[i]
		group = append(group, q)
	}
	const want = `{"answers":{"half a pair \ud83d?":"my \"own\"","\u003cb\u003e\u00e9 \u0000\"?":"A, B"},` +
		`"metadata":{"source":"x"},"questions":[{"question":"half a pair \ud83d?"},{"question":"\u003cb\u003e\u00e9 ` +
		`\u0000\"?","multiSelect":true}]}`
	if got := string(ask.WithAnswers(input, group)); got != want {
		t.Errorf("the CLI is given\n%s, not\n%s", got, want)
	}
}

// FuzzAskUserQuestion holds that any input is either refused with a short reason or becomes questions within the
// bounds, whose answers stand under as many texts.
func FuzzAskUserQuestion(f *testing.F) {
	f.Add([]byte(userInput(userQuestion("Which?", "a", "b"))))
	f.Add([]byte(`{"questions":[{"question":"\ud800","options":[{"label":"\u202e"}]}]}`))
	f.Add([]byte(`{"questions":[{"question":"a"},{"question":"a"}],"answers":{"a":"b"}}`))
	f.Add([]byte(`{"Questions":[{"QUESTION":"a"}],"questions":null}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		qs, err := ask.UserQuestions(input)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Fatalf("a reason of %d bytes", len(err.Error()))
			}
			return
		}
		var group []*Question
		for i, asked := range qs {
			q := ask.Question(questions.AskClarification, asked)
			q.Index, q.Answer = i, asked.ID
			if len(q.Text) > ask.MaxText || len(q.Options) > ask.MaxUserOptions || q.Truncated != "" ||
				!utf8.ValidString(q.Text) {
				t.Fatalf("out of bounds: %+v", q)
			}
			group = append(group, q)
		}
		var given struct{ Answers map[string]string }
		if err := json.Unmarshal(ask.WithAnswers(input, group), &given); err != nil || len(given.Answers) != len(qs) {
			t.Fatalf("%d answers to %d questions, %v", len(given.Answers), len(qs), err)
		}
	})
}
