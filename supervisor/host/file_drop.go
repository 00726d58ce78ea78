package host

import (
	"context"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/filedrop"
)

// OpenFileDrop opens the folders of question files for a run; nil where there is no folder of Claude's own.
func (m Machine) OpenFileDrop(run string, news chan<- supervisor.FileEvent) (engine.FileDrop, error) {
	if m.Claude == "" {
		return nil, nil
	}
	drop, err := filedrop.New(filedrop.Config{Folder: m.Claude, Run: run, Dirs: m.Dirs, Questions: m.Store.Questions,
		Inbox: inbox{client.Client{Dirs: m.Dirs, Store: m.Store, At: m.at}}, Checkpoint: m.checkpointOf, News: news,
		Log: m.Log})
	if err != nil {
		return nil, err
	}
	return drop, nil
}

// An inbox takes the answers that stand in files, like those of any other client.
type inbox struct{ client.Client }

// Answer leaves the answer of a file in the inbox.
func (i inbox) Answer(ctx context.Context, question, text string) error {
	return i.Client.Answer(ctx, question, client.Answer{Text: text, By: supervisor.ByFile})
}
