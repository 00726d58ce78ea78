package supervisor

import (
	"strings"
	"testing"

	"claude-supervise/procs"
	"claude-supervise/signals"
)

func TestASubagentsTaskUpdateWithItsOwnIDIsHeard(t *testing.T) {
	call := func(id string) procs.ToolUse {
		return procs.ToolUse{ID: "t1", Parent: "toolu_1", Agent: "a0d59cb1734d13293", Name: "TaskUpdate",
			Input: []byte(`{"taskId":"7","metadata":{"needs_input":true,"question":"Which?","agent_id":"` + id + `"}}`)}
	}
	for id, foreign := range map[string]bool{"a0d59cb1734d13293": false, Root: false, "a-someoneelse0": true} {
		found := NewSignalReader(Root, nil, nil).Read(call(id))
		if len(found) != 1 || found[0].Foreign != foreign {
			t.Errorf("with the id %s: %+v", id, found)
		}
	}
}

func TestTheStateOfAPauseReachesThePerson(t *testing.T) {
	s := Begin(t, nil)
	found := signals.Scan("PAUSED_FOR_INPUT\n\nState:\n- Analyzing: email validation\n  - strict (auth)\n\n"+
		"Question: Which one?\nContext: It is checked twice.\nOptions:\n- strict\n- lenient\n", Root)
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: found[0], Naming: Naming{IDs: []string{"q-1"}}}})
	q := s.State.Questions["q-1"]
	if want := "It is checked twice.\nState:\n- Analyzing: email validation\n  - strict (auth)"; q.Context != want {
		t.Errorf("the person reads:\n%s\nwant:\n%s", q.Context, want)
	}
	if strings.Contains(q.Text, "State") || len(q.Options) != 2 {
		t.Errorf("%+v", q)
	}
}
