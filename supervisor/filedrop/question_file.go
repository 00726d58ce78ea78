package filedrop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"
)

// A QuestionFile is what lies in pending/ID.json. Its form is the hybrid document's ("Question File Format", "Question
// Queuing"), with members of ours after the document's. ID is the file's name; a member "id" is among the others.
type QuestionFile struct {
	ID                 string
	Question           string
	Questions          []FileQuestion // instead of Question, or besides it
	AllRequired        *bool          // of Questions; nil where the file does not say
	Options            []string       // of Question
	OptionDescriptions []string       // ours; beside Options, "" for none
	MultiSelect        bool           // ours
	Urgent             bool           // ours: of Question, or of all
	OwnWords           bool           // ours: an answer may be none of Options
	Validate           string         // ours: choice, path, regex:…, integer, number, yes_no
	WorkflowID         string
	Checkpoint         string // path
	AskedBy            string
	Context            string
	Header             string // ours
	Image              string // ours: the path of one that Question shows
	AskedAt            time.Time
	WrittenAt          time.Time // of the file that was read, by the file system
	// ours: how long to wait for a quick answer; in the file a number of seconds, at most a day
	QuickWait  time.Duration
	Run, Agent string                     // whose question it is; only in those that this program wrote
	Other      map[string]json.RawMessage // by name: unknown members, and known ones whose value has another type
}

// A FileQuestion is one of several questions of a file.
type FileQuestion struct {
	ID, Question, Header, Context, Validate string
	Image                                   string // the path of one that it shows
	Options, OptionDescriptions             []string
	MultiSelect, Urgent, OwnWords           bool
	Other                                   map[string]json.RawMessage
}

// Ours reports whether this program wrote the file, which then names run and agent. Who wants to can make it say so.
func (q QuestionFile) Ours() bool { return q.Run != "" && q.Agent != "" }

// AsksTheSame reports whether a person would see no difference between the questions of two files.
func (q QuestionFile) AsksTheSame(o *QuestionFile) bool {
	said := func(q QuestionFile) QuestionFile {
		return QuestionFile{Question: q.Question, Questions: q.Questions, Header: q.Header, Context: q.Context,
			Options: q.Options, OptionDescriptions: q.OptionDescriptions, MultiSelect: q.MultiSelect, Validate: q.Validate,
			Image: q.Image}
	}
	return reflect.DeepEqual(said(q), said(*o))
}

// Post puts a question of ours into pending/, whole; control characters in its texts are left out, for people read them
// on terminals. Posting it again replaces what it was. errNotOurs if a file lies there that is not a question of the
// same run, ErrBadQuestionFile if the file could not be read back.
func (d *Folders) Post(q QuestionFile) error {
	return failed("post question", q.ID, d.post(q.printable()))
}

func (d *Folders) post(q QuestionFile) error {
	if !q.Ours() {
		return errors.New("it names no run and agent")
	}
	text, err := q.encode()
	if err == nil {
		_, err = parseQuestionFile(text)
	}
	if err != nil {
		return err
	}
	path, err := d.file(pendingFolder, q.ID, questionSuffix)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := putUpQuestion(path, q.Run, text); err != nil {
		return err
	}
	d.know(pendingFolder, path, questionContent(text))
	return nil
}

func putUpQuestion(path, run string, text []byte) error {
	err := putUp(path, text)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	there, _, err := readDropFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return putUp(path, text) // it was removed meanwhile
	}
	if bytes.Equal(there, text) {
		return nil
	}
	if old, bad := parseQuestionFile(there); err != nil || bad != nil || old.Run != run {
		return files.ErrNotOurs
	}
	return files.ReplacePrivate(path, text)
}

// Question reads pending/ID.json. Errors: ErrBadID; fs.ErrNotExist; ErrBadQuestionFile with the reason, for a file that
// is there and cannot be used as it is.
func (d *Folders) Question(id string) (*QuestionFile, error) {
	path, err := d.fileThere(pendingFolder, id, questionSuffix)
	var q *QuestionFile
	if err == nil {
		q, err = readQuestionFile(path)
	}
	if err != nil {
		return nil, failed("read question", id, err)
	}
	q.ID = id
	return q, nil
}

func readQuestionFile(path string) (*QuestionFile, error) {
	text, info, err := readDropFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadQuestionFile, err)
	}
	q, err := parseQuestionFile(text)
	if err == nil {
		q.WrittenAt = info.ModTime()
	}
	return q, err
}

// A QuestionProblem says why a file in pending/ is not among the questions.
type QuestionProblem struct {
	Name string // of the file; empty for all that are too many
	Err  error
}

// pendingBytes bounds what Pending reads, besides dropMost: the folder is anybody's to fill.
const pendingBytes = 64 << 20

// Pending reads the questions in pending/, sorted by id, and says what could not be read and why. Files whose names do
// not end in .json, or begin with a dot, are nobody's business.
func (d *Folders) Pending() ([]QuestionFile, []QuestionProblem, error) {
	folder, err := d.standing(pendingFolder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	} else if err != nil {
		return nil, nil, fmt.Errorf("list the question files: %w", err)
	}
	names, more, err := dropNames(folder, questionSuffix)
	if err != nil {
		return nil, nil, fmt.Errorf("list the question files: %w", err)
	}
	var questions []QuestionFile
	var problems []QuestionProblem
	room := int64(pendingBytes)
	for i, name := range names {
		id := strings.TrimSuffix(name, questionSuffix)
		if info, err := os.Lstat(d.at(pendingFolder + "/" + name)); err == nil {
			room -= info.Size()
		}
		if i == dropMost || room < 0 {
			more = true
			break
		}
		q, err := d.Question(id)
		switch {
		case err == nil:
			questions = append(questions, *q)
		case !errors.Is(err, fs.ErrNotExist): // one that is gone by now is none
			problems = append(problems, QuestionProblem{name, err})
		}
	}
	if more {
		problems = append(problems, QuestionProblem{Err: errCrowded})
	}
	return questions, problems, nil
}

// Withdraw removes a question of ours from pending/; it is no error if it is gone. errNotOurs for another's.
func (d *Folders) Withdraw(id string) error { return failed("withdraw question", id, d.withdraw(id)) }

func (d *Folders) withdraw(id string) error {
	path, err := d.file(pendingFolder, id, questionSuffix)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	q, err := readQuestionFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err == nil && !q.Ours(), errors.Is(err, ErrBadQuestionFile):
		return files.ErrNotOurs
	case err != nil:
		return err
	}
	_, err = d.take(pendingFolder, path)
	return err
}

// Discard removes the question of an agent's script whose agent is gone, and an answer that it has not taken; it is no
// error if they are gone.
func (d *Folders) Discard(id string) error {
	path, err := d.file(pendingFolder, id, questionSuffix)
	if err == nil {
		d.mu.Lock()
		_, err = d.take(pendingFolder, path)
		d.mu.Unlock()
	}
	if err == nil {
		_, err = d.takeAnswer(id)
	}
	return failed("remove question", id, err)
}

// printable is the question without characters that a terminal acts on, and with a time that jq and date read.
func (q QuestionFile) printable() QuestionFile {
	all := func(texts []string) []string {
		texts = slices.Clone(texts)
		for i, text := range texts {
			texts[i] = files.Printable(text)
		}
		return texts
	}
	for _, text := range []*string{&q.Question, &q.Validate, &q.WorkflowID, &q.Checkpoint, &q.AskedBy,
		&q.Context, &q.Header} {
		*text = files.Printable(*text)
	}
	q.Options, q.OptionDescriptions = all(q.Options), all(q.OptionDescriptions)
	q.Questions = slices.Clone(q.Questions)
	for i := range q.Questions {
		f := &q.Questions[i]
		for _, text := range []*string{&f.ID, &f.Question, &f.Header, &f.Context, &f.Validate} {
			*text = files.Printable(*text)
		}
		f.Options, f.OptionDescriptions = all(f.Options), all(f.OptionDescriptions)
	}
	q.AskedAt = q.AskedAt.UTC().Truncate(time.Second)
	return q
}
