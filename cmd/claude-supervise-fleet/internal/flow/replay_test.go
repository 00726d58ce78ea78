package flow

import (
	"path/filepath"
	"testing"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The workflow decides as it did where it was recorded, with every released version: runs that are parked for months
// are replayed by the release of the day. Where this fails, what was changed needs workflow.GetVersion; the histories
// stay as they are. make fleet-histories records those of this version, of each folder testdata/VERSION one.
func TestStoredHistoriesAreReplayed(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.json")
	if err != nil || len(files) < 4 {
		t.Fatalf("the histories are %q, %v", files, err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			if err := replayer().ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
				t.Error(err)
			}
		})
	}
}

func replayer() worker.WorkflowReplayer {
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowName})
	return r
}
