package e2e

import (
	"strings"
	"syscall"
	"testing"
)

// asksInItsTurn is a script in claude's place that asks by a question file, and ends once it has its answer.
const asksInItsTurn = `#!/bin/sh
if [ -n "$CLAUDE_SUPERVISE_ANSWER" ]; then echo "by the prompt it is $CLAUDE_SUPERVISE_ANSWER"; exit; fi
mkdir -p "$HOME/.claude/questions/pending" "$HOME/.claude/answers"
id="colour_q$$"
printf '{"question": "Which colour?", "options": ["green", "blue"], "workflow_id": "w"}' \
  > "$HOME/.claude/questions/pending/$id.json"
until [ -f "$HOME/.claude/answers/$id.txt" ]; do sleep 0.2; done
echo "in its turn it is $(cat "$HOME/.claude/answers/$id.txt")"
`

// A script that polls for the answer to its question file has no end of its turn before: its question is listed all the
// same, and answered where it polls. If its worker dies, it is still open, and the answer goes by the prompt.
func TestTheQuestionOfAScriptThatPollsIsListedAndAnswered(t *testing.T) {
	t.Parallel()
	for _, killed := range []bool{false, true} {
		t.Run(map[bool]string{false: "where it polls", true: "elsewhere"}[killed], func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			script := s.file("asks.sh", []byte(asksInItsTurn))
			one := s.worker("one")
			run := s.must("run", "--lease", "3s", "--exec", "sh "+script, "paint it")
			q := s.asks(run, "one")
			want := "in its turn it is green"
			if killed {
				one.signal(syscall.SIGKILL)
				s.worker("two")
				s.until(run, "taken over", func(l listed) bool { return l.Epoch == 2 && len(l.Questions) == 1 })
				want = "by the prompt it is green"
			}
			s.must("answer", q, "green")
			s.ends(run, 6) // a command reports nothing
			if said := s.must("logs", run); strings.Count(said, want) != 1 {
				t.Errorf("it says %s", said)
			}
			if killed {
				s.workerIn(one.home, "one") // it ends the script that the kill has left
				nothingIsLeft(t, run)
			}
		})
	}
}
