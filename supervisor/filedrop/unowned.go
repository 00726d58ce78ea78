package filedrop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/questions"
)

// ClaudeFolder is where Claude Code keeps what is this person's, and where the file-drop folders are:
// $CLAUDE_CONFIG_DIR, else ~/.claude. It need not exist.
func ClaudeFolder(getenv func(string) string) (string, error) {
	if folder := getenv("CLAUDE_CONFIG_DIR"); folder != "" {
		return filepath.Abs(folder)
	}
	home := getenv("HOME")
	if !filepath.IsAbs(home) {
		return "", errors.New("there is no ~/.claude to look at: set HOME to an absolute path")
	}
	return filepath.Join(home, ".claude"), nil
}

// Unowned returns the questions that scripts have put into the file-drop folder and that belong to no run: of kind
// file, with no run, their id the file's, oldest first. One that has its answer already, which its script has yet to
// take, is not among them. problems says, for people, which files are no questions and why. Nothing is created where
// there is no folder.
func Unowned(ctx context.Context, store Store) (open []*supervisor.Question, problems []string, err error) {
	drop, err := standing()
	if drop == nil || err != nil {
		return nil, nil, err
	}
	files, bad, err := drop.Pending()
	if err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(f QuestionFile) bool { return f.Ours() || drop.Answered(f.ID) })
	var known []supervisor.Question
	if len(files) > 0 { // else it need not be known whose they are
		if known, err = store.Questions(ctx, checkpoints.QuestionFilter{Undelivered: true}); err != nil {
			return nil, nil, err
		}
	}
	for _, f := range files {
		if _, ofRun := runsOwn(known, f.ID); ofRun {
			continue
		}
		open = append(open, question(f))
	}
	slices.SortStableFunc(open, func(a, b *supervisor.Question) int { return a.AskedAt.Compare(b.AskedAt) })
	for i, p := range bad {
		if i == maxFileProblems {
			problems = append(problems, fmt.Sprintf("%d more files in questions/pending are none either", len(bad)-i))
			break
		}
		problems = append(problems, fileProblem(p))
	}
	return open, problems, nil
}

// Named returns the question that the name of a question file stands for: that of the run which has taken the file
// for its own, else the unowned one. The error is a *checkpoints.UnknownError where there is none, and where the
// folders cannot be used: that keeps nobody from answering the questions of runs.
func Named(ctx context.Context, store Store, id string) (*supervisor.Question, error) {
	known, err := store.Questions(ctx, checkpoints.QuestionFilter{Undelivered: true})
	if err != nil {
		return nil, err
	}
	if q, ok := runsOwn(known, id); ok {
		return q, nil
	}
	drop, err := standing()
	if drop == nil || err != nil {
		return nil, &checkpoints.UnknownError{ID: id}
	}
	f, err := drop.Question(id)
	switch {
	case errors.Is(err, ErrBadID), errors.Is(err, fs.ErrNotExist), err == nil && f.Ours():
		return nil, &checkpoints.UnknownError{ID: id}
	case err != nil:
		return nil, err
	}
	return question(*f), nil
}

// Closed returns a question of a file that has its answer, and is not asked any more; nil: there is none that can be
// read.
func Closed(id string) *supervisor.Question {
	drop, err := standing()
	if drop == nil || err != nil {
		return nil
	}
	path, err := drop.fileThere(answeredFolder, id, questionSuffix)
	if err != nil {
		return nil
	}
	c, err := readClosed(path)
	if err != nil || c == nil || c.QuestionFile == nil || c.AnsweredAt.IsZero() {
		return nil
	}
	q := question(*c.QuestionFile)
	q.ID, q.State, q.Answer, q.AnsweredAt = id, checkpoints.QuestionDelivered, c.Answer, &c.AnsweredAt
	return q
}

// A Store reads the questions of runs.
type Store interface {
	Questions(context.Context, checkpoints.QuestionFilter) ([]supervisor.Question, error)
}

// maxFileProblems bounds how many files are complained of: anybody may fill the folder.
const maxFileProblems = 5

func fileProblem(p QuestionProblem) string {
	if p.Name == "" {
		return "questions/pending: " + p.Err.Error()
	}
	why := p.Err
	if inner := errors.Unwrap(why); inner != nil { // without the id, which is the name
		why = inner
	}
	return "questions/pending/" + p.Name + ": " + why.Error()
}

// DroppedFor reports whether an answer file lies there for a question that nobody supervises.
func DroppedFor(q *supervisor.Question) bool {
	if q.File != nil {
		return Lies(q.File.ID)
	}
	return questions.Posted(q) && Lies(q.ID)
}

// standing returns the folders, nil where nobody has made any yet.
func standing() (*Folders, error) {
	folder, err := ClaudeFolder(os.Getenv)
	if err != nil {
		return nil, nil //nolint:nilerr // without a home there are no questions in it
	}
	drop, err := OpenReadOnly(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return drop, err
}

// runsOwn finds the question that a run has of a question file: of several the first that is open.
func runsOwn(known []supervisor.Question, file string) (*supervisor.Question, bool) {
	var found *supervisor.Question
	for i := range known {
		q := &known[i]
		if q.File == nil || q.File.ID != file {
			continue
		}
		if found == nil || found.State != supervisor.Open && q.State == supervisor.Open {
			found = q
		}
	}
	return found, found != nil
}

// question makes a question of a file that no run knows. Its answer is one line: where the file asks several things
// they are asked as one, for the document has no form for several answers.
func question(f QuestionFile) *supervisor.Question {
	q := ask.Question(questions.AskFile, inFile(f))
	q.ID, q.Agent, q.AskedAt = f.ID, f.AskedBy, f.AskedAt
	return q
}

func inFile(f QuestionFile) signals.Question {
	q := signals.Question{
		ID: f.ID, Header: f.Header, Text: f.Question, Context: f.Context, Options: options(f.Options, f.OptionDescriptions),
		MultiSelect: f.MultiSelect, Validate: f.Validate, Urgent: f.Urgent, OwnWords: f.OwnWords,
	}
	if len(f.Questions) == 1 && strings.TrimSpace(f.Question) == "" {
		only := f.Questions[0]
		q.Text, q.Validate, q.MultiSelect = only.Question, only.Validate, only.MultiSelect
		q.Urgent, q.OwnWords = q.Urgent || only.Urgent, only.OwnWords
		q.Options = options(only.Options, only.OptionDescriptions)
		if only.Header != "" {
			q.Header = only.Header
		}
		q.Context = strings.TrimSpace(q.Context + "\n" + only.Context)
		return q
	}
	var b strings.Builder
	b.WriteString(q.Text)
	for _, one := range f.Questions {
		fmt.Fprintf(&b, "\n%s: %s", one.ID, one.Question)
		if len(one.Options) > 0 {
			fmt.Fprintf(&b, " (%s)", strings.Join(one.Options, ", "))
		}
		if one.Context != "" {
			fmt.Fprintf(&b, "\n    %s", one.Context)
		}
	}
	if len(f.Questions) > 0 {
		b.WriteString("\nAnswer all in one line.")
	}
	q.Text = strings.TrimSpace(b.String())
	return q
}

func options(labels, descriptions []string) []signals.Option {
	all := make([]signals.Option, len(labels))
	for i, label := range labels {
		all[i].Label = label
		if i < len(descriptions) {
			all[i].Description = descriptions[i]
		}
	}
	return all
}

// Lies reports whether an answer file lies there for a script's question.
func Lies(id string) bool {
	drop, err := standing()
	return err == nil && drop != nil && drop.Answered(id)
}

// TakeDown removes what a supervisor that was killed at its end may have left of a run's question files. That it cannot
// is no harm: an answer to one is taken by nobody.
func TakeDown(run string) {
	drop, err := standing()
	if drop == nil || err != nil {
		return
	}
	pending, _, err := drop.Pending()
	if err != nil {
		return
	}
	for _, f := range pending {
		if f.Run == run {
			_ = drop.Withdraw(f.ID)
		}
	}
}
