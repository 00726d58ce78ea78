package worker

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"
	"gocloud.dev/blob/memblob"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/pack"
)

// What a worker hands in counts as done: the folder of the run is removed, and whoever goes on has the blob store only.
func TestARunIsHandedInOnlyWithItsSnapshotInTheBlobStore(t *testing.T) {
	taken := time.Now()
	before, code := taken.Add(-time.Minute), exit.Success
	whole, due := flow.SnapshotInfo{At: &taken}, flow.SnapshotInfo{At: &before, Due: true}
	full := flow.SnapshotInfo{At: &before, Problem: "disk full"}
	large := flow.SnapshotInfo{At: &before, Problem: "the work is too large", TooLarge: true}
	for name, c := range map[string]struct {
		exit     int
		ended    bool
		back     bool
		snapshot *flow.SnapshotInfo
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
		"parked on a full disk": {exit: 75, snapshot: &full, safe: before, fails: "disk full"},
		"parked with too much": {exit: 75, snapshot: &large, safe: before,
			fails: "the work is too large. It is kept on one in KEPT: take from there what you need, and remove it. Then " +
				"go on from its last snapshot: claude-supervise fleet resume --failed r-abcd1234"},
		"ended with too much":     {ended: true, snapshot: &large, safe: before, notes: "It is kept on one in KEPT"},
		"parked where one leaves": {exit: 75, back: true, snapshot: &whole, safe: before, code: 75, givenBack: true},
		"ended":                   {ended: true, snapshot: &whole, safe: taken},
		"ended, and not uploaded": {ended: true, snapshot: &whole, safe: before, fails: "not in the blob store"},
		"ended without a lease":   {ended: true, snapshot: &due, safe: before, fails: "lease had run out"},
		"ended on a full disk":    {ended: true, snapshot: &full, safe: before, notes: "disk full"},
		"given back":              {exit: 130, back: true, snapshot: &whole, safe: before, code: 130, givenBack: true},
		"broken":                  {exit: 70, snapshot: &whole, safe: taken, fails: "ended with 70"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			h := &held{Worker: &Worker{Name: "one", Dir: dir, Log: slog.New(slog.DiscardHandler)},
				safe: pack.Moment{At: c.safe, Questions: []string{"q-safe"}}, dir: filepath.Join(dir, "runs", "r-abcd1234.2"),
				Attempt: flow.Attempt{Epoch: 2, Task: flow.Task{Run: "r-abcd1234"}}}
			h.Store = Store{Bucket: memblob.OpenBucket(nil)}
			if err := os.MkdirAll(h.work(), 0o700); err != nil {
				t.Fatal(err)
			}
			keeps := strings.Contains(c.fails+c.notes, "KEPT")
			c.fails = strings.ReplaceAll(c.fails, "KEPT", h.keptWork())
			c.notes = strings.ReplaceAll(c.notes, "KEPT", h.keptWork())
			seen := flow.Seen{Run: &flow.RunInfo{Snapshot: c.snapshot, Agents: []flow.AgentInfo{{OpenQuestions: c.asks}}}}
			if c.ended {
				seen.Run.EndedAt, seen.Run.ExitCode = &taken, &code
			}
			out, err := h.outcome(&process{code: c.exit}, seen, c.back)
			switch {
			case c.fails != "":
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("it is handed in: %+v, %v", out, err)
				}
			case out.Code == exit.Parked && !out.Back && out.Seen.Left != c.exit:
				t.Errorf("its supervisor is said to have left it with %d", out.Seen.Left)
			case err != nil || out.Code != c.code || out.Back != c.givenBack ||
				!strings.Contains(strings.Join(out.Seen.Notes, ""), c.notes):
				t.Errorf("it is handed in as %+v, %v", out, err)
			}
			if err := os.RemoveAll(h.dir); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(h.keptWork()); (err == nil) != keeps && c.snapshot != &full {
				t.Errorf("what its agents have written is kept: %v", err)
			}
			var never *temporal.ApplicationError
			if errors.As(err, &never) && never.Type() == flow.ErrNever != (c.snapshot == &large) {
				t.Errorf("it is given up: %v", err)
			}
		})
	}
}

// An end that stands in a snapshot is the end of the run, but where a person has resumed the run after it.
func TestAnEndInASnapshotIsFinalUnlessAPersonHasResumedTheRun(t *testing.T) {
	for _, c := range []struct {
		of, revive int
		retry      bool
		final      bool
	}{
		{of: 3, final: true}, {of: 3, revive: 3}, {of: 3, revive: 3, retry: true}, {of: 2, revive: 3},
		{of: 4, revive: 3, final: true}, {of: 4, revive: 3, retry: true, final: true}, {of: 3, retry: true},
	} {
		h := &held{Attempt: flow.Attempt{Revive: c.revive, Retry: c.retry}}
		if h.isFinal(c.of) != c.final {
			t.Errorf("of %+v the contrary", c)
		}
	}
}

func TestNobodyIsToldThatARunHasEndedBeforeThatIsHandedIn(t *testing.T) {
	now, code := time.Now(), 0
	r := unended(&flow.RunInfo{Status: "succeeded", EndedAt: &now, ExitCode: &code})
	if r.Status.Ended() || r.EndedAt != nil || r.ExitCode != nil {
		t.Errorf("it is told of as %+v", r)
	}
	parked := &flow.RunInfo{Status: "parked"}
	if unended(parked) != parked || unended(nil) != nil {
		t.Error("what has not ended is told otherwise than it is")
	}
}

// A task that is refused for what the worker itself has added is one for another worker.
func TestATaskThatOnlyThisMachineCannotTakeIsTriedElsewhere(t *testing.T) {
	for said, never := range map[string]bool{
		"claude-supervise: --snapshots: /w/snapshots is in /w, where the agents work":   false,
		"claude-supervise: --cwd: /w/work is gone":                                      false,
		"claude-supervise: --max-turns takes a number, not \"x\"":                       true,
		strings.Repeat("a warning that is long\n", 500) + "claude-supervise: --cwd: no": false,
	} {
		h := &held{Worker: &Worker{Name: "one"}, Attempt: flow.Attempt{Epoch: 1, Task: flow.Task{Run: "r-abcd1234"}}}
		p := &process{code: exit.Usage}
		p.stderr.WriteString(said)
		_, err := h.outcome(p, flow.Seen{}, false)
		var failed *temporal.ApplicationError
		_, why, _ := strings.Cut(said, "claude-supervise: ")
		if err == nil || errors.As(err, &failed) != never || !strings.Contains(err.Error(), ": "+why) {
			t.Errorf("of %.80q it is %v", said, err)
		}
	}
}

// A worker in a git work tree would fail each run.
func TestAWorkerBelowAGitDoesNotStart(t *testing.T) {
	for name, make := range map[string]func(path string) error{
		"repository": func(path string) error { return errors.Join(os.Mkdir(path, 0o700), os.Mkdir(path+"/objects", 0o700)) },
		"empty file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
	} {
		top := t.TempDir()
		if err := make(filepath.Join(top, ".git")); err != nil {
			t.Fatal(err)
		}
		w := &Worker{Name: "one", Dir: filepath.Join(top, "below", "worker")}
		if err := w.Run(t.Context(), func() {}); err == nil || !strings.Contains(err.Error(), "is in a git work tree: "+top) {
			t.Errorf("%s: it is %v", name, err)
		}
	}
}
