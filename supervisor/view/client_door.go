package view

import (
	"context"

	"claude-supervise/supervisor"
)

// FileQuestions gives the questions that scripts have put into the file-drop folder and that belong to no run: of kind
// file, with no run, their id the file's, oldest first. One that has its answer already, which its script has yet to
// take, is not among them. problems says, for people, which files are no questions and why. Nothing is created where
// there is no folder.
func (r Reader) FileQuestions(ctx context.Context) (open []*supervisor.Question, problems []string, err error) {
	return FileQuestions(ctx, r.Store)
}
