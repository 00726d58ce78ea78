package e2e

import (
	"strings"
	"testing"

	"claude-supervise/e2e/messagesapi"
	"claude-supervise/examples"
)

// With --permission-prompts none the real CLI refuses AskUserQuestion by itself, so that the question would reach nobody.
// --permissions deny refuses permissions, and the question is asked.
func TestNobodysPermissionPromptsAreRefusedAndDenyStillAsks(t *testing.T) {
	t.Parallel()
	s, err := examples.Load("ask-user-question")
	noError(t, err)
	w := newWorld(t).real(s, func(messagesapi.Request) {})
	args := w.runArgs(s, "--permissions", "deny", "--hold", "0", "--on-question", "park")
	if code, _, said := w.run(append(args, "--permission-prompts", "none")...); code != 2 ||
		!strings.Contains(said, "claude's --permission-prompts cannot be passed on") {
		t.Errorf("with --permission-prompts none it exits %d and says %s", code, said)
	}
	if code, _, said := w.run(args...); code != 75 || !strings.Contains(said, "Which layout?") {
		t.Errorf("with --permissions deny it exits %d and says %s", code, said)
	}
}
