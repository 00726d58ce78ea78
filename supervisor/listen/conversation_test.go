package listen

import (
	"fmt"
	"testing"

	"claude-supervise/procs"
)

func TestNobodyIsAtWorkBesideACallThatWaits(t *testing.T) {
	use := func(id, parent, name string) procs.Message { return procs.ToolUse{ID: id, Parent: parent, Name: name} }
	done := func(id, parent string) procs.Message { return procs.ToolResult{ToolUse: id, Parent: parent} }
	for name, c := range map[string]struct {
		said []procs.Message
		want bool
	}{
		"the call alone": {[]procs.Message{use("ask", "", "AskUserQuestion")}, false},
		"with a command": {[]procs.Message{use("ask", "", "x"), use("sh", "", "Bash")}, true},
		"with a command that has ended": {[]procs.Message{use("ask", "", "x"), use("sh", "", "Bash"),
			done("sh", "")}, false},
		"in a subagent": {[]procs.Message{use("sub", "", "Task"), use("ask", "sub", "x")},
			false},
		"in one of two, the other thinks": {[]procs.Message{use("sub", "", "Agent"),
			use("ask", "sub", "x"), use("two", "", "Agent")}, true},
		"in one of two, the other works": {[]procs.Message{use("sub", "", "Agent"),
			use("ask", "sub", "x"), use("two", "", "Agent"), use("sh", "two", "Bash")}, true},
		"in one of two, the other has ended": {[]procs.Message{use("sub", "", "Agent"),
			use("ask", "sub", "x"), use("two", "", "Agent"), use("sh", "two", "Bash"), done("two", "")}, false},
		"in the background, while the main one talks": {[]procs.Message{use("sub", "", "Agent"),
			done("sub", ""), use("ask", "sub", "x")}, true},
		"two levels down": {[]procs.Message{use("sub", "", "Agent"),
			use("deep", "sub", "Agent"), use("ask", "deep", "x")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var talk Conversation
			for _, m := range c.said {
				talk.Read(m)
			}
			if got := talk.AtWorkBesides(map[string]bool{"ask": true}); got != c.want {
				t.Errorf("at work beside it: %v", got)
			}
		})
	}
}

// A subagent in the background has no call that lasts: what it and those below it have under way is looked at alone.
func TestASubagentInTheBackgroundMayWorkBesideACallThatWaits(t *testing.T) {
	use := func(id, parent, name string) procs.Message { return procs.ToolUse{ID: id, Parent: parent, Name: name} }
	for name, c := range map[string]struct {
		said []procs.Message
		want bool
	}{
		"it asks":                    {[]procs.Message{use("ask", "sub", "x")}, false},
		"it asks and runs a command": {[]procs.Message{use("ask", "sub", "x"), use("sh", "sub", "Bash")}, true},
		"one below it asks":          {[]procs.Message{use("deep", "sub", "Agent"), use("ask", "deep", "x")}, false},
		"one below asks, another works": {[]procs.Message{use("deep", "sub", "Agent"), use("ask", "deep", "x"),
			use("other", "sub", "Agent")}, true},
		"it has no lines": {[]procs.Message{use("main", "", "Bash")}, false},
	} {
		var talk Conversation
		for _, m := range c.said {
			talk.Read(m)
		}
		if got := talk.CallsBesides("sub", map[string]bool{"ask": true}); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAConversationForgetsWhatHasEnded(t *testing.T) {
	var talk Conversation
	for i := range 3 * maxCalls {
		talk.Read(procs.ToolUse{ID: fmt.Sprint(i), Name: "Bash"})
		talk.Read(procs.ToolResult{ToolUse: fmt.Sprint(i)})
	}
	if n := len(talk.calls); n > 0 {
		t.Errorf("%d calls are kept", n)
	}
	for i := range 2 * maxCalls {
		talk.Read(procs.ToolUse{ID: fmt.Sprint(i), Name: "Bash"})
	}
	if n := len(talk.calls); n > maxCalls {
		t.Errorf("%d calls are kept", n)
	}
	talk.Read(procs.Result{})
	if n := len(talk.calls); n > 0 {
		t.Errorf("%d calls outlive their turn", n)
	}
}

func TestAConversationKnowsWhatItsTurnWasNotToldOf(t *testing.T) {
	lives := procs.Background{Tasks: []procs.Task{{ID: "sub1"}}}
	ended := procs.Background{}
	for name, c := range map[string]struct {
		said []procs.Message
		want bool
	}{
		"nothing has ended":           {[]procs.Message{procs.Init{}, lives}, false},
		"it ends in the last request": {[]procs.Message{procs.Init{}, lives, ended}, true},
		"a call of the main one follows": {[]procs.Message{procs.Init{}, lives, ended, procs.ToolResult{ToolUse: "t"}},
			false},
		"only a call of a subagent follows": {[]procs.Message{procs.Init{},
			lives, ended, procs.ToolResult{ToolUse: "t", Parent: "p"}}, true},
		"another turn has begun": {[]procs.Message{procs.Init{}, lives, ended, procs.Init{}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var talk Conversation
			for _, m := range c.said {
				talk.Read(m)
			}
			if talk.EndUnreported != c.want {
				t.Errorf("untold: %v", talk.EndUnreported)
			}
		})
	}
}
