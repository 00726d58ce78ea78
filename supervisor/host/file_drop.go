package host

import (
	"context"
	"sync"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/filedrop"
)

// A fileDrop is the folders of question files, and the syncer of one run.
type fileDrop struct {
	*checkpoints.FileDrop
	*filedrop.Syncer
}

// OpenFileDrop opens the folders of question files for a run; nil where there is no folder of Claude's own.
func (m Machine) OpenFileDrop(news chan<- supervisor.FileEvent) (engine.FileDrop, error) {
	if m.Claude == "" {
		return nil, nil
	}
	drop, err := checkpoints.OpenFileDrop(m.Claude)
	if err != nil {
		return nil, err
	}
	return fileDrop{drop, &filedrop.Syncer{
		Drop: drop, Client: client.Client{Dirs: m.Dirs, Store: m.Store, At: m.at}, Log: m.Log,
		Checkpoint: m.checkpointOf,
		Events:     make(chan checkpoints.FileDropEvent), News: news, Changed: make(chan struct{}, 1),
		Seen: map[string]string{}, Done: map[string]bool{}, Up: map[string]bool{}, Told: map[string]string{},
		Useless: map[string]bool{}, Again: time.NewTimer(filedrop.FolderSettles),
	}}, nil
}

// Keep keeps the folders until ctx ends, and then looks at them for the last time.
func (d fileDrop) Keep(ctx context.Context) {
	var actors sync.WaitGroup
	actors.Go(func() {
		if err := checkpoints.MakePrivate(checkpoints.Workflows); err != nil {
			d.Tell(ctx, err.Error()+"; have scripts keep their checkpoints in another folder")
		}
		err := d.Watch(ctx, func(event checkpoints.FileDropEvent) {
			select {
			case d.Events <- event:
			case <-ctx.Done():
			}
		})
		d.Mu.Lock()
		d.Left = true
		d.Mu.Unlock()
		if err != nil && ctx.Err() == nil {
			d.Tell(ctx, "question files are no longer watched: "+err.Error())
		}
	})
	actors.Go(func() { d.Syncer.Keep(ctx) })
	actors.Wait()
}
