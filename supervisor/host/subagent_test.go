package host

import (
	"path/filepath"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/gittest"
)

// A subagent whose transcript was not written before its process was killed cannot be revived, by whatever way it has
// asked.
func TestASubagentThatIsNotKeptIsNotRevived(t *testing.T) {
	transcript := filepath.Join(t.TempDir(), "s.jsonl")
	gittest.Put(t, transcript, "")
	gittest.Put(t, filepath.Join(filepath.Dir(transcript), "s/subagents/agent-kept.jsonl"), "")
	for _, id := range []string{"kept", "lost"} {
		sub := &checkpoints.Subagent{ID: id, ToolUse: "t1", By: &checkpoints.Subagent{ID: "lost"}}
		in, called := &supervisor.Question{ID: "q-1"}, &supervisor.Question{ID: "q-2"}
		in.From, called.Tool = sub, &checkpoints.ToolCall{ToolUse: "t2", From: sub}
		found, err := lookUp(transcript, []*supervisor.Question{in, called})
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{"q-1", "q-2"} {
			if got := found[q]; (got.ID == "kept") != (id == "kept") || got.By == nil || got.By.ID != "" || sub.ID != id {
				t.Errorf("of %s is found %+v", id, got)
			}
		}
	}
}
