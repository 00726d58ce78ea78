package worker

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/pack"
	"claude-supervise/supervisor/view"
)

// What a worker hands in counts as done: the folder of the run is removed, and whoever goes on has the blob store only.
func TestARunIsHandedInOnlyWithItsSnapshotInTheBlobStore(t *testing.T) {
	taken := time.Now()
	before, code := taken.Add(-time.Minute), supervisor.ExitSuccess
	whole, due := view.RunSnapshot{At: &taken}, view.RunSnapshot{At: &before, Due: true}
	full := view.RunSnapshot{At: &before, Problem: "disk full"}
	for name, c := range map[string]struct {
		exit     int
		ended    bool
		back     bool
		snapshot *view.RunSnapshot
		safe     time.Time
		asks     []string

		code         int
		fails, notes string
		givenBack    bool
	}{
		"parked":                    {exit: 75, snapshot: &whole, safe: taken, code: 75},
		"parked for want of budget": {exit: 4, snapshot: &whole, safe: taken, code: 75},
		"parked without a lease":    {exit: 75, snapshot: &due, safe: before, fails: "lease had run out"},
		"parked without a snapshot": {exit: 75, fails: "no snapshot of it was taken"},
		"parked, and not uploaded":  {exit: 75, snapshot: &whole, safe: before, fails: "not in the blob store"},
		"parked with what it asks":  {exit: 75, snapshot: &whole, safe: taken, asks: []string{"q-safe"}, code: 75},
		"parked without what it asks": {exit: 4, snapshot: &whole, safe: taken, asks: []string{"q-safe", "q-late"},
			fails: "q-late is in no snapshot"},
		"parked on a full disk":   {exit: 75, snapshot: &full, safe: before, fails: "disk full"},
		"parked where one leaves": {exit: 75, back: true, snapshot: &whole, safe: before, code: 75, givenBack: true},
		"ended":                   {ended: true, snapshot: &whole, safe: taken},
		"ended, and not uploaded": {ended: true, snapshot: &whole, safe: before, fails: "not in the blob store"},
		"ended without a lease":   {ended: true, snapshot: &due, safe: before, fails: "lease had run out"},
		"ended on a full disk":    {ended: true, snapshot: &full, safe: before, notes: "disk full"},
		"given back":              {exit: 130, back: true, snapshot: &whole, safe: before, code: 130, givenBack: true},
		"broken":                  {exit: 70, snapshot: &whole, safe: taken, fails: "ended with 70"},
	} {
		t.Run(name, func(t *testing.T) {
			h := &held{Worker: &Worker{Name: "one", Log: slog.New(slog.DiscardHandler)}, safe: pack.Moment{At: c.safe, Questions: []string{"q-safe"}},
				Attempt: flow.Attempt{Epoch: 2, Task: flow.Task{Run: "r-abcd1234"}}}
			h.Store = Store{Bucket: memblob.OpenBucket(nil)}
			seen := flow.Seen{Run: &view.RunView{Snapshot: c.snapshot, Agents: []view.AgentView{{OpenQuestions: c.asks}}}}
			if c.ended {
				seen.Run.EndedAt, seen.Run.ExitCode = &taken, &code
			}
			out, err := h.outcome(t.Context(), &process{code: c.exit}, seen, c.back)
			switch {
			case c.fails != "":
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("it is handed in: %+v, %v", out, err)
				}
			case err != nil || out.Code != c.code || out.Back != c.givenBack ||
				!strings.Contains(strings.Join(out.Seen.Notes, ""), c.notes):
				t.Errorf("it is handed in as %+v, %v", out, err)
			}
		})
	}
}

func TestNobodyIsToldThatARunHasEndedBeforeThatIsHandedIn(t *testing.T) {
	now, code := time.Now(), 0
	r := unended(&view.RunView{Status: "succeeded", EndedAt: &now, ExitCode: &code})
	if r.Status.Ended() || r.EndedAt != nil || r.ExitCode != nil {
		t.Errorf("it is told of as %+v", r)
	}
	parked := &view.RunView{Status: "parked"}
	if unended(parked) != parked || unended(nil) != nil {
		t.Error("what has not ended is told otherwise than it is")
	}
}
