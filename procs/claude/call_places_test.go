package claude

import (
	"fmt"
	"testing"

	"claude-supervise/procs"
)

// The request to permit a call does not say where it is made; the hook before it does.
func TestARequestSaysWhereItsCallIsMade(t *testing.T) {
	var d decoder
	hook := func(id, cwd string) {
		d.decode([]byte(fmt.Sprintf(`{"type":"control_request","request_id":"h","request":{"subtype":"hook_callback",`+
			`"callback_id":"call","input":{"tool_name":"Bash","tool_use_id":%q,"cwd":%q}}}`, id, cwd)))
	}
	asked := func(id string) string {
		messages, _ := d.decode([]byte(fmt.Sprintf(`{"type":"control_request","request_id":"r","request":`+
			`{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":%q,"input":{}}}`, id)))
		return messages[0].(procs.Ask).Cwd
	}
	hook("t1", "/work/sub")
	hook("t2", "/work")
	for id, want := range map[string]string{"t1": "/work/sub", "t2": "/work", "t3": ""} {
		if got := asked(id); got != want {
			t.Errorf("%s is made in %q, not %q", id, got, want)
		}
	}
	for i := range 2 * maxCallPlaces {
		hook(fmt.Sprint("many", i), "/many")
	}
	if n := len(d.places.of); n != maxCallPlaces || asked("t1") != "" || asked(fmt.Sprint("many", 2*maxCallPlaces-1)) != "/many" {
		t.Errorf("%d calls are remembered", n)
	}
}
