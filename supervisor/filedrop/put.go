package filedrop

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// Put leaves the answer to an unowned question where its script looks for it. With change one that the script
// has not taken yet is replaced. by says who has given it, for the audit log.
func Put(q *supervisor.Question, answer, by string, change bool) error {
	if err := questions.Check(q, answer, ""); err != nil {
		return err
	}
	folder, err := ClaudeFolder(os.Getenv)
	if err != nil {
		return err
	}
	drop, err := OpenFolders(folder)
	if err != nil {
		return err
	}
	if change {
		back, err := drop.Unanswer(q.ID)
		if err != nil {
			return err
		}
		if !back {
			return fmt.Errorf(
				"question %s: there is no answer that could be changed; none was given, or its script has taken it", q.ID)
		}
	}
	err = drop.Answer(q.ID, answer)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf(
			"question %s was already answered, and its script has yet to take that (`claude-supervise answer %s --change "+
				"VALUE` replaces it)", q.ID, q.ID)
	}
	if err != nil {
		return err
	}
	return drop.Audit([]Decision{{ID: q.ID, Answered: Answered{
		Question: q.Text, Answer: answer, Path: by, At: checkpoints.Now(), Asked: q.AskedAt}}})
}
