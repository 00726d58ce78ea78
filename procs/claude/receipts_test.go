package claude

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

// receiptsOf returns the receipts that a conversation makes, each as "uuid state".
func receiptsOf(t *testing.T, lines ...string) (all []string) {
	t.Helper()
	var d decoder
	for _, line := range lines {
		messages, isJSON := d.decode([]byte(line))
		if !isJSON {
			t.Fatalf("not JSON: %s", line)
		}
		for _, m := range messages {
			if r, ok := m.(procs.Receipt); ok {
				all = append(all, r.UUID+" "+r.State)
			}
		}
	}
	return all
}

func TestEveryReleaseGivesReceipts(t *testing.T) {
	const (
		begin  = `{"type":"system","subtype":"init"}`
		good   = `{"type":"result","subtype":"success"}`
		cutOff = `{"type":"result","subtype":"error_during_execution"}`
	)
	echo := func(uuid string) string {
		return `{"type":"user","isReplay":true,"uuid":"` + uuid + `","message":{"content":"x"}}`
	}
	own := func(uuid, state string) string {
		return `{"type":"command_lifecycle","command_uuid":"` + uuid + `","state":"` + state + `"}`
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"without them: a turn", []string{begin, echo("a"), echo("b"), good, begin, good},
			[]string{"a started", "b started", "a completed", "b completed"}},
		{"without them: a turn that failed", []string{begin, echo("a"), cutOff}, []string{"a started", "a cancelled"}},
		{"without them: sent again", []string{echo("a"), begin, echo("b"), good},
			[]string{"a completed", "b started", "b completed"}},
		{"with them: a turn", []string{own("a", "queued"), own("a", "started"), begin, echo("a"),
			good, own("a", "completed")},
			[]string{"a queued", "a started", "a completed"}},
		{"with them: sent again after a relaunch", []string{echo("a"), own("a", "completed")}, []string{"a completed"}},
		{"with them: sent again to the same process",
			[]string{own("a", "started"), begin, own("a", "cancelled"), echo("a"), own("b", "started"), echo("b"), echo("a")},
			[]string{"a started", "a cancelled", "a completed", "b started", "a completed"}},
		{"a task's notice is nobody's message",
			[]string{begin,
				`{"type":"user","isReplay":true,"uuid":"n","origin":{"kind":"task-notification"},"message":{"content":"x"}}`, good},
			nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, receiptsOf(t, c.lines...)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAChildCannotFillTheMemoryWithEchoes(t *testing.T) {
	var r receipts
	r.begin()
	for range maxEchoes + 1 {
		r.echo("u")
	}
	if len(r.echoed) != maxEchoes {
		t.Errorf("%d are kept", len(r.echoed))
	}
}
