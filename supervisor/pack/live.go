package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/text"
)

// A LiveSnapshot says what a snapshot of a run holds that goes on.
type LiveSnapshot struct {
	Run  string
	At   time.Time
	Told []string // what a person should know was left out, or is lost for whoever goes on from it
}

// LiveFile is Live into the file at an absolute path, which is there whole or not at all.
func LiveFile(ctx context.Context, c client.Client, run string, now bool, by, path string) (LiveSnapshot, error) {
	to, err := files.Replace(path) // that it can be is known before the run is asked
	if err != nil {
		return LiveSnapshot{}, fmt.Errorf("the pack file cannot be written: %w; nothing was packed", err)
	}
	defer to.Drop()
	return Live(ctx, c, run, now, by, func(from string) error {
		file, err := os.Open(from)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, file)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
		return to.Keep()
	})
}

// Live asks the supervisor of a run for a snapshot: at the end of the turns that its agents are in, or at once with
// now. It blocks until there is one, and keeps it by keep, which is given the file; that is removed afterwards. The
// run goes
// on. by says who asks, for people.
func Live(ctx context.Context, c client.Client, run string, now bool, by string,
	keep func(path string) error) (LiveSnapshot, error) {
	e, err := c.Store.Load(ctx, run)
	if err != nil {
		return LiveSnapshot{}, err
	}
	value := ""
	if now {
		value = supervisor.SnapshotNow
	}
	n, err := c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntrySnapshot, Value: value, By: by,
		At: checkpoints.Now()})
	if err != nil {
		return LiveSnapshot{}, err
	}
	b, err := c.Reader().AwaitSnapshot(ctx, run, e.LastEvent, n.Seq)
	if err != nil {
		return LiveSnapshot{}, err
	}
	if b.Files[n.Seq] == "" {
		why := b.Failed[n.Seq]
		if why == "" {
			why = b.Problem
		}
		return LiveSnapshot{}, fmt.Errorf("%s could not be packed: %s; the run continues", run, why)
	}
	path := c.Dirs.RunFile(run, b.Files[n.Seq])
	defer func() { _ = os.Remove(path) }() // else the next supervisor does
	if err := keep(path); err != nil {
		return LiveSnapshot{}, err
	}
	live := LiveSnapshot{Run: run, At: b.At, Told: b.Told}
	if len(b.Lost) > 0 {
		live.Told = append(live.Told, "the snapshot was taken in the middle of a turn of "+text.JoinLimited(b.Lost)+
			": that turn is not in it, and is done again where the run continues")
	}
	return live, nil
}

// ClearAsked removes snapshots that were asked for and that nobody has taken out of the run's folder.
func ClearAsked(dirs checkpoints.Dirs, run string) error {
	entries, err := os.ReadDir(dirs.RunDir(run))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "snapshot-") && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dirs.RunDir(run), e.Name())))
		}
	}
	return err
}
