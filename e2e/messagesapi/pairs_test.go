package messagesapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestACallAndItsResultStandTogetherOrTheRequestIsRefused(t *testing.T) {
	const (
		call       = `{"role":"assistant","content":[{"type":"tool_use","id":"t1"}]}`
		calls      = `{"role":"assistant","content":[{"type":"tool_use","id":"t1"},{"type":"tool_use","id":"t2"}]}`
		answer     = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1"}]}`
		other      = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t2"}]}`
		aside      = `{"role":"system","content":"a date"}`
		goOn       = `{"role":"user","content":"go on"}`
		without    = "ids were found without `tool_result` blocks immediately after: "
		unexpected = "unexpected `tool_use_id` found in `tool_result` blocks: "
	)
	for name, c := range map[string]struct {
		messages []string
		problem  string
	}{
		"in pairs":                            {[]string{task, call, answer}, ""},
		"two at once":                         {[]string{task, calls, answer, other}, ""},
		"the system between them":             {[]string{task, call, aside, answer}, ""},
		"more behind the result":              {[]string{task, call, answer, goOn}, ""},
		"a call that was lost":                {[]string{task, call, goOn}, "messages.1: `tool_use` " + without + "t1."},
		"one of two":                          {[]string{task, calls, answer}, without + "t2."},
		"both":                                {[]string{task, calls, goOn}, without + "t1, t2."},
		"a call at the end":                   {[]string{task, call}, without + "t1."},
		"a result later on":                   {[]string{task, call, goOn, firstOne, result, answer}, without + "t1."},
		"a result without a call":             {[]string{task, firstOne, other}, "messages.2: " + unexpected + "t2."},
		"a result at the beginning":           {[]string{answer}, "messages.0: " + unexpected + "t1."},
		"a result of a call of an older turn": {[]string{task, call, answer, firstOne, result, other}, unexpected + "t2."},
	} {
		t.Run(name, func(t *testing.T) {
			api, server := serve(t, nil)
			code, text := post(t, server.URL+"/v1/messages", body(false, c.messages...))
			if c.problem == "" {
				if code != http.StatusOK {
					t.Errorf("status %d: %s", code, text)
				}
				return
			}
			if code != http.StatusBadRequest || !strings.Contains(text, c.problem) ||
				!strings.Contains(text, "invalid_request_error") {
				t.Errorf("status %d: %s", code, text)
			}
			if len(api.Requests()) > 0 {
				t.Error("the model has received it")
			}
		})
	}
}
