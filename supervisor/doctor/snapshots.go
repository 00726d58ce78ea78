package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/text"
)

// folderPatience is how long the file system of a folder has to respond.
const folderPatience = 10 * time.Second

// probeSize is how much is written where snapshots are put, to see whether it can be, in bytes: what most take that
// rest on another one.
const probeSize = 16 << 10

// snapshots returns a finding for each folder below which the snapshots of runs are put that have not ended. It writes
// a file there, and removes it. An error says that the runs cannot be read, which others say.
func snapshots(ctx context.Context, dirs checkpoints.Dirs) ([]Finding, error) {
	store, err := checkpoints.OpenReadOnly(dirs)
	if err != nil {
		return nil, err
	}
	runs, err := store.Runs(ctx, false)
	store.Close()
	if err != nil {
		return nil, err
	}
	in := map[string][]checkpoints.Run{}
	for _, r := range runs {
		var config conf.Config
		if r.Packed != "" || json.Unmarshal(r.Config, &config) != nil || config.Snapshots == nil ||
			config.Snapshots.Dir == "" {
			continue
		}
		in[config.Snapshots.Dir] = append(in[config.Snapshots.Dir], r)
	}
	var found []Finding
	for _, dir := range slices.Sorted(maps.Keys(in)) {
		found = append(found, snapshotsIn(dir, in[dir]))
	}
	return found, nil
}

// snapshotsIn tries a folder for the runs that put their snapshots there.
func snapshotsIn(dir string, runs []checkpoints.Run) Finding {
	var ids, bad []string
	var why error
	for _, r := range runs {
		ids = append(ids, r.ID)
		err := responds(func() error { return takesFiles(filepath.Join(dir, r.ID)) })
		if s := r.Snapshots; err == nil && s != nil && s.Problem != "" && !s.TooLarge {
			err = errors.New("the last try failed: " + text.Line(s.Problem, text.MaxLine))
		}
		if err != nil {
			bad, why = append(bad, r.ID), err
		}
	}
	f := Finding{Name: "snapshots", OK: len(bad) == 0}
	if f.OK {
		f.Text = fmt.Sprintf("%s (of %s)", dir, someOf(ids))
		return f
	}
	f.Text = fmt.Sprintf("%s takes none of %s: %v. Nothing of the work here is lost, but elsewhere it can only be "+
		"continued from the last snapshot that is whole. Make the folder usable: running supervisors try again "+
		"by themselves within %d minutes. Or choose another folder for a run that is not running: claude-supervise resume "+
		"%s --snapshots DIR",
		dir, someOf(bad), why, int(supervisor.SnapshotAgainMost.Minutes()), bad[0])
	return f
}

func someOf(ids []string) string {
	const most = 3
	if more := len(ids) - most; more > 0 {
		return fmt.Sprintf("%s and %s", strings.Join(ids[:most], ", "), text.Plural(more, "more run", "more runs"))
	}
	return strings.Join(ids, ", ")
}

// takesFiles says why no file can be put into a folder.
func takesFiles(folder string) error {
	if info, err := os.Lstat(folder); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is gone (is a disk not mounted?)", folder)
	} else if err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", folder)
	}
	probe, err := os.CreateTemp(folder, ".probe-*")
	if err != nil {
		return err
	}
	_, err = probe.Write(make([]byte, probeSize))
	return errors.Join(err, probe.Sync(), probe.Close(), os.Remove(probe.Name()))
}

// responds does something with a file system that may not respond: then it is left to itself.
func responds(do func() error) error {
	_, err := files.Within(folderPatience, do)
	if errors.Is(err, files.ErrNoResponse) {
		return fmt.Errorf("its file system did not respond within %v", folderPatience)
	}
	return err
}
