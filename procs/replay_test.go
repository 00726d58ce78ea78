package procs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestALogReplaysWhatALaunchSaid(t *testing.T) {
	var log bytes.Buffer
	said := []string{
		`{"type":"system","subtype":"init","session_id":"s"}`,
		`{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"hello"}]}}`,
		`{"type":"result","subtype":"success","result":"hello","total_cost_usd":0.5}`,
	}
	for launch := 1; launch <= 2; launch++ {
		l := lineLog{w: &log, launch: launch}
		for _, line := range said {
			l.stdout([]byte(strings.ReplaceAll(line, "hello", strings.Repeat("hello ", launch))), true)
		}
		l.stderr([]byte("a warning"))
		l.stdout([]byte("not JSON"), false)
	}
	log.WriteString(`{"launch":2,"time":"2026-01-11T09:00:00Z","line":{"type":"assistant","mess`) // cut by a crash

	var got []Message
	if err := Replay(&log, 2, func(m Message) { got = append(got, m) }); err != nil {
		t.Fatal(err)
	}
	want := []Message{
		Init{SessionID: "s"}, Text{ID: "m1", Text: "hello hello "},
		Result{Subtype: "success", Text: "hello hello ", CostUSD: 0.5},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
