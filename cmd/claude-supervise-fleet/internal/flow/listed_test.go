package flow

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
)

// The server is told when the first question was asked that is open, so that those are found that asked first.
func TestTheServerKnowsWhenARunHasAsked(t *testing.T) {
	first, second := time.Unix(1e9, 0), time.Unix(2e9, 0)
	r := run{Input: Input{Task: Task{Run: id}, Seen: Seen{Questions: []QuestionInfo{{ID: "q-2", AskedAt: second},
		{ID: "q-1", AskedAt: first}}}}}
	for _, want := range []time.Time{first, second, {}} {
		at, is := temporal.NewSearchAttributes(r.askedAt()).GetTime(attributeAskedAt)
		if is == want.IsZero() || is && !at.Equal(want) {
			t.Errorf("with the answers %v it is %s, %t", r.Answers, at, is)
		}
		r.Answers = append(r.Answers, Answer{Question: fmt.Sprintf("q-%d", len(r.Answers)+1)})
	}
}

// Whatever a run asks, and however much, a list and what a worker tells have room for it: a server fails a workflow whose
// memo or search attribute is too large, again and again.
func TestWhatIsListedOfARunHasRoom(t *testing.T) {
	long := strings.Repeat("what it is about \x1b\n", 300)
	questions := make([]QuestionInfo, 300)
	options, err := json.Marshal([]map[string]string{{"label": "A", "description": long, "preview": long}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range questions {
		questions[i] = QuestionInfo{ID: fmt.Sprintf("q-%06d", i), Question: long, Context: long, Header: long, Task: long,
			AllowRule: long, Input: json.RawMessage(`{"content":"` + strings.Repeat("x", 10_000) + `"}`)}
		if err := json.Unmarshal(options, &questions[i].Options); err != nil {
			t.Fatal(err)
		}
	}
	agents := make([]AgentInfo, 1000)
	for i := range agents {
		agents[i] = AgentInfo{ID: fmt.Sprintf("a-%06d", i), Task: long, Reason: long}
	}
	seen := Seen{Run: &RunInfo{ID: id, Status: "running", Agents: agents}, Questions: questions}
	for name, bounded := range map[string]Seen{"from a worker": seen.Bounded(), "as it is": seen} {
		if doc, err := json.Marshal(bounded); name == "from a worker" && (err != nil || len(doc) > 512<<10) {
			t.Errorf("a worker tells %d bytes, %v", len(doc), err)
		}
		r := run{Input: Input{Task: Task{Run: id}, Seen: bounded}, held: true}
		for range 1000 {
			r.Seen.Notes = append(r.Seen.Notes, long)
			r.Answers = append(r.Answers, Answer{Question: "q-none", Text: long})
		}
		l := r.listed()
		doc, err := json.Marshal(l)
		ids, err2 := json.Marshal(l.OpenQuestions)
		if err != nil || err2 != nil || len(doc)*MostListed > 128<<20 || len(ids) > 2<<10 {
			t.Errorf("%s: a list has %d bytes of it, its ids are %d: %v, %v", name, len(doc), len(ids), err, err2)
		}
		if len(l.Questions) == 0 || l.Questions[0].ID != "q-000000" || !strings.Contains(l.Questions[0].Question, "bytes)") {
			t.Errorf("%s: listed are %d, the first as %.200v", name, len(l.Questions), l.Questions)
		}
	}
	if questions[0].Question != long || agents[0].Task != long || questions[0].Options[0].Preview != long {
		t.Error("what was given is changed")
	}
	few := []QuestionInfo{{ID: "q-1", Question: "Which?", Context: long, Input: json.RawMessage(`{}`)}}
	if kept := (Seen{Questions: few}).Bounded().Questions[0]; kept.Context != long || kept.Input == nil {
		t.Error("what has room is cut")
	}
}
