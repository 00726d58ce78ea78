package engine_test

import (
	"compress/gzip"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// The history that the program has written at two commits still gives its records: every event is read, and means what
// it meant. e2e TestRunsOfAnEarlierRelease says how the databases were made.
func TestTheHistoryOfAnEarlierReleaseFoldsToItsRecords(t *testing.T) {
	kinds := map[string]bool{}
	for _, database := range []string{"release.db.gz", "ae20620.db.gz"} {
		t.Run(database, func(t *testing.T) { foldsToItsRecords(t, "../../checkpoints/testdata/"+database, kinds) })
	}
	if len(kinds) < 45 {
		t.Errorf("only %d kinds of event are in it", len(kinds))
	}
}

func foldsToItsRecords(t *testing.T, database string, kinds map[string]bool) {
	dirs := checkpoints.Dirs{State: t.TempDir(), Runtime: t.TempDir()}
	unzip(t, database, dirs.Database())
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	runs, err := store.Runs(t.Context(), true)
	if err != nil || len(runs) < 40 {
		t.Fatalf("%d runs (%v)", len(runs), err)
	}
	for _, r := range runs {
		l, err := store.Load(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		onDisk, err := supervisor.Loaded(l)
		if err != nil {
			t.Fatal(err)
		}
		history, err := store.Events(t.Context(), r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
		var folded supervisor.State
		for _, record := range history {
			kinds[record.Type] = true
			e, err := supervisor.Recorded(record)
			if err != nil {
				t.Fatal(err)
			}
			if folded, err = supervisor.Step(folded, e); err != nil {
				t.Fatalf("run %s, event %d, %s: %v", r.ID, record.Seq, record.Type, err)
			}
		}
		if diff := cmp.Diff(asWritten(t, onDisk), asWritten(t, folded), cmp.FilterPath(isWorded, cmp.Ignore()),
			cmp.FilterPath(isNewer, cmp.Ignore()),
			cmp.FilterPath(isReason, cmp.Comparer(sameButForTimes))); diff != "" {
			t.Errorf("run %s: -records +history\n%s", r.ID, diff)
		}
	}
}

// isWorded reports whether it is a text that the program words itself, what an agent was told or is to be told, the
// context of a question whether a child may start or of one of an MCP server, or whether a command may run: the release
// before may have put it in other words.
func isWorded(p cmp.Path) bool {
	key, ok := p.Last().(cmp.MapIndex)
	if !ok {
		return false
	}
	switch key.Key().String() {
	case "text":
		return strings.Contains(p.GoString(), `"Deliveries"`) || strings.Contains(p.GoString(), `"sayings"`) ||
			ofKind(p, questions.AskCommand)
	case "context":
		return ofKind(p, questions.AskDelegation) || ofKind(p, questions.AskElicitation)
	}
	return false
}

// ofKind reports whether it is a member of a question of a kind.
func ofKind(p cmp.Path, kind checkpoints.QuestionKind) bool {
	question, _ := p.Index(-2).Values()
	for question.Kind() == reflect.Interface {
		question = question.Elem()
	}
	if !strings.Contains(p.GoString(), `"Questions"`) || question.Kind() != reflect.Map {
		return false
	}
	is := question.MapIndex(reflect.ValueOf("kind"))
	return is.IsValid() && is.Interface() == string(kind)
}

// isNewer reports whether it is what records of that release do not have: when a delivery has arrived, and that what an
// MCP server asked is lost.
func isNewer(p cmp.Path) bool {
	key, ok := p.Last().(cmp.MapIndex)
	return ok && (key.Key().String() == "arrived_at" || key.Key().String() == "lost")
}

func isReason(p cmp.Path) bool {
	return slices.ContainsFunc(p, func(step cmp.PathStep) bool {
		key, ok := step.(cmp.MapIndex)
		return ok && key.Key().String() == "reason"
	})
}

var timeInReason = regexp.MustCompile(
	`\d\d:\d\d UTC|\d{4}-\d\d-\d\dT[\d:.]+Z|Run (this command )?now, as you, in .*`)

// sameButForTimes reports whether reasons are the same: the releases before wrote their times, and the question whether
// a command may run, in other ways.
func sameButForTimes(a, b string) bool {
	return timeInReason.ReplaceAllString(a, "TIME") == timeInReason.ReplaceAllString(b, "TIME")
}

func unzip(t *testing.T, from, to string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
