package procs

import (
	"bytes"
	"encoding/json"
	"testing"
)

// A call is the same once its record was written and read, however often, and no other is.
func TestACallHasItsKeyAsRecordsKeepIt(t *testing.T) {
	for _, input := range []string{`{"command":"cd a && make <b >c"}`, `{"command":"\\u0026 \\\\u003c \\\\\u003e \u0041"}`,
		"{\"command\":\"\u2028 \u2029\"}", `{}`, `\`, `\u`, `"\u0026`} {
		var kept bytes.Buffer
		json.HTMLEscape(&kept, []byte(input))
		if CallKey("Bash", kept.Bytes()) != CallKey("Bash", []byte(input)) {
			t.Errorf("%s is not %s", kept.String(), input)
		}
	}
	for a, b := range map[string]string{`"&"`: `"\\u0026"`, `"\\&"`: `"\\\u003c"`, `"<"`: `">"`, `"A"`: `"\u0041"`} {
		if CallKey("Bash", []byte(a)) == CallKey("Bash", []byte(b)) {
			t.Errorf("%s is %s", a, b)
		}
	}
}
