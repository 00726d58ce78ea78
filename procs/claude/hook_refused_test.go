package claude

import (
	"fmt"
	"strings"
	"testing"

	"claude-supervise/procs"
)

// What a hook refuses has no receipt: neither what would have begun a turn, nor what was sent into one.
func TestWhatAHookRefusesIsNotReceived(t *testing.T) {
	lifecycle := func(uuid, state string) string {
		return fmt.Sprintf(`{"type":"command_lifecycle","command_uuid":%q,"state":%q}`, uuid, state)
	}
	const (
		begun   = `{"type":"system","subtype":"init","claude_code_version":"2.1.332"}`
		echo    = `{"type":"user","message":{"role":"user","content":"x"},"uuid":"a","isReplay":true}`
		refused = `{"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\n` +
			`[sh h]: not now\n\n\nOriginal prompt: x","prevent_continuation":true,"prompt_submit_outcome":` +
			`{"kind":"blocked_by_hook","prompt_kept":false,"reason":"not now"}}`
		older = `{"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\nno\n\n` +
			`Original prompt: x","prevent_continuation":true}`
		stopped = `{"type":"system","subtype":"informational","content":"Operation stopped by hook: halt",` +
			`"prevent_continuation":true,"prompt_submit_outcome":{"kind":"stopped_by_hook","prompt_kept":true,"reason":"halt"}}`
		nothing = `{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":""}`
		ended   = `{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"done"}`
		text    = `{"type":"assistant","message":{"content":[{"type":"text","text":"on"}]}}`
	)
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"what begins a turn": {[]string{lifecycle("a", "started"), refused, nothing, lifecycle("a", "completed")},
			"started a, result [sh h]: not now"},
		"what is stopped": {[]string{lifecycle("a", "started"), stopped, echo, nothing, lifecycle("a", "completed")},
			"started a, result Operation stopped by hook: halt, completed a"},
		"before there were receipts": {[]string{older, nothing}, "result no"},
		"what is sent into a turn": {[]string{begun, lifecycle("b", "started"), lifecycle("b", "completed"), refused, text,
			ended}, "started b, refused b [sh h]: not now, result "},
		"what is taken into a turn": {[]string{begun, lifecycle("b", "started"), lifecycle("b", "completed"), text, ended},
			"started b, completed b, result "},
		"what is echoed": {[]string{begun, lifecycle("a", "queued"), echo, lifecycle("a", "started"), lifecycle("a", "completed"),
			ended}, "queued a, started a, completed a, result "},
	} {
		var d decoder
		var got []string
		for _, line := range c.lines {
			messages, _ := d.decode([]byte(line))
			for _, m := range messages {
				switch m := m.(type) {
				case procs.Receipt:
					got = append(got, m.State+" "+m.UUID)
				case procs.Result:
					got = append(got, "result "+m.HookRefused)
				case procs.PromptRefused:
					got = append(got, "refused "+m.UUID+" "+m.Reason)
				}
			}
		}
		if all := strings.Join(got, ", "); all != c.want {
			t.Errorf("%s: %s", name, all)
		}
	}
}
