package supervisor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/listen"
)

func TestASubagentsTaskUpdateWithItsOwnIDIsHeard(t *testing.T) {
	call := func(id string) procs.ToolUse {
		return procs.ToolUse{ID: "t1", Parent: "toolu_1", Agent: "a0d59cb1734d13293", Name: "TaskUpdate",
			Input: []byte(`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","agent_id":"` + id + `"}}`)}
	}
	for id, foreign := range map[string]bool{"a0d59cb1734d13293": false, Root: false, "a-someoneelse0": true,
		"agent-abc123": false} {
		own := call(id)
		own.Parent, own.Agent = "", ""
		for _, m := range []procs.ToolUse{call(id), own} { // the main agent's own with an id that is nobody's is heard, too
			found := listen.NewSignalReader(Root, nil, nil).Read(m)
			if len(found) != 1 || found[0].Foreign != foreign || found[0].Inside != (m.Parent != "") {
				t.Errorf("with the id %s: %+v", id, found)
			}
		}
	}
}

func TestAQuestionThatCountsAtTheEndOfItsTurnIsReadInItsWords(t *testing.T) {
	const call = "await TaskUpdate({\n  taskId: currentTaskId,\n  metadata: {\n    needs_input: true,\n    agent_id: %s,\n" +
		"    question: \"Which should be standard?\"\n  }\n});"
	for said, want := range map[string]string{
		"I looked.\n\n" + fmt.Sprintf(call, "myAgentId"):              "I looked.\n\nWhich should be standard?",
		"I looked.\n\n" + fmt.Sprintf(call, `"`+Root+`"`):             "I looked.", // it counts at once, and is asked
		"[STOP_WORK]\nreason: blocked\ndetails: no key\n[/STOP_WORK]": "",          // as it was: the same
		"It calls TaskUpdate({a: 1}) there.":                          "",          // no question
	} {
		reader, m := listen.NewSignalReader(Root, nil, nil), procs.Text{ID: "m1", Text: said}
		if got := reader.Prose(m, reader.Read(m)); got != cmp.Or(want, said) {
			t.Errorf("%q is read as %q", said, got)
		}
	}
}

func TestTheStateOfAPauseReachesThePerson(t *testing.T) {
	s := Begin(t, nil)
	found := signals.Scan("PAUSED_FOR_INPUT\n\nState:\n- Analyzing: email validation\n  - strict (auth)\n\n"+
		"Question: Which one?\nContext: It is checked twice.\nOptions:\n- strict\n- lenient\n", Root)
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: found[0], Naming: Naming{IDs: []string{"q-1"}}}})
	q := s.State.Questions.Get("q-1")
	if want := "It is checked twice.\nState:\n- Analyzing: email validation\n  - strict (auth)"; q.Context != want {
		t.Errorf("the person reads:\n%s\nwant:\n%s", q.Context, want)
	}
	if strings.Contains(q.Text, "State") || len(q.Options) != 2 {
		t.Errorf("%+v", q)
	}
}

// An agent that continues a conversation finds in it the id of the agent that had it before, and may sign with it.
func TestTheIDOfAContinuedAgentCountsAsOnesOwn(t *testing.T) {
	s := State{Config: conf.Config{AcceptIDs: []string{"bg-task-1"}}}
	for _, a := range []Agent{{ID: "a-1"}, {ID: "a-2"}, {ID: "a-3"}, {ID: "a-4"}} {
		a.Run = RunID
		s.Agents.Put(a.ID, &a)
	}
	s.Agents.Get("a-1").ContinuedBy, s.Agents.Get("a-2").ContinuedBy = "a-2", "a-3"
	if got, want := s.FormerIDs("a-3"), []string{"bg-task-1", "a-2", "a-1"}; !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
	if got := s.FormerIDs("a-4"); !slices.Equal(got, []string{"bg-task-1"}) {
		t.Errorf("of another agent they are %q", got)
	}
	said := procs.Text{Text: "[COMPLETION_REPORT]\nagent_id: a-1\nstatus: success\nsummary: done\n[/COMPLETION_REPORT]\n"}
	if found := listen.NewSignalReader("a-3", s.FormerIDs("a-3"), nil).Read(said); len(found) != 1 || found[0].Foreign {
		t.Errorf("the report is read as %+v", found)
	}
}
