package filedrop

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"
)

// Answered is how a question came to its answer.
type Answered struct {
	Question string // where no question file says
	Answer   string
	Path     string    // the way that the answer took, such as terminal, web or file
	At       time.Time // of the answer
	Asked    time.Time // zero: as the question file says
	Since    time.Time // when its file says that it was asked, which may be earlier; zero: Asked
}

// seconds is how long the answer took; nil if nobody knows.
func (a Answered) seconds(q *QuestionFile) *int64 {
	asked := a.Since
	for _, other := range []time.Time{a.Asked, q.AskedAt} {
		if asked.IsZero() {
			asked = other
		}
	}
	if asked.IsZero() {
		return nil
	}
	seconds := max(0, int64(a.At.Sub(asked)/time.Second)) // a clock may have been set back
	return &seconds
}

const unreadableSuffix = ".unreadable"

// Close moves pending/ID.json to answered/ID.json, with the members answer, answered_at, response_seconds and path, and
// adds a line to audit/questions.log, which is on the disk when it returns. Whatever happens, the question lies in one
// of the two afterwards, and Close can be made again with the same Answered: the line comes once. Of several that close
// a question at once one does, and to the others it is no error. Where no question file is left, which an agent's
// script may have removed, Answered is all there is to it; one that cannot be read is kept as answered/ID.unreadable.
// Close waits for at most five seconds for others that close one.
func (d *Folders) Close(id string, a Answered) error {
	return failed("close question", id, d.close(id, a))
}

func (d *Folders) close(id string, a Answered) error {
	pending, err := d.file(pendingFolder, id, questionSuffix)
	if err != nil {
		return err
	}
	answered, err := d.file(answeredFolder, id, questionSuffix)
	if err != nil {
		return err
	}
	log, err := d.openAudit()
	if err != nil {
		return err
	}
	defer log.close()
	d.mu.Lock()
	defer d.mu.Unlock()

	before, err := readClosed(answered)
	if err != nil {
		return err
	}
	q, err := readQuestionFile(pending)
	switch {
	case errors.Is(err, fs.ErrNotExist) && before.is(a):
		return log.add(auditLine(id, before.question(a), a), true) // it may have ended before the line came
	case errors.Is(err, fs.ErrNotExist) && before.since(a.Asked):
		return nil // somebody else's answer was first
	case errors.Is(err, fs.ErrNotExist):
		q = before.question(a)
	case err != nil:
		if err := os.Rename(pending, strings.TrimSuffix(answered, questionSuffix)+unreadableSuffix); err != nil {
			return err
		}
		q = a.question()
	}
	if err := writeClosed(answered, q, a); err != nil {
		return err
	}
	if err := log.add(auditLine(id, q, a), before != nil); err != nil {
		return err
	}
	_, err = d.take(pendingFolder, pending) // the last step: until it is done, all can be done again
	return err
}

func (a Answered) question() *QuestionFile {
	return &QuestionFile{Question: a.Question, AskedAt: a.Asked}
}

// closedFile is what lies in answered/ID.json already: an earlier question of that name, or this one.
type closedFile struct {
	*QuestionFile // nil if it cannot be read as one
	Answer        string
	AnsweredAt    time.Time
	Path          string
}

// readClosed returns nil where nothing is.
func readClosed(path string) (*closedFile, error) {
	text, _, err := readDropFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, files.ErrNotOurs), errors.Is(err, files.ErrTooLarge):
		return &closedFile{}, nil // it is going to be replaced
	case err != nil:
		return nil, err
	}
	c := new(closedFile)
	var m others
	if q, err := parseQuestionFile(text); err == nil {
		c.QuestionFile, m = q, q.Other
	} else if json.Unmarshal(text, &m) != nil {
		return c, nil
	}
	c.Answer = take(m, as[string], "answer")
	c.AnsweredAt = take(m, asTime, "answered_at")
	c.Path = take(m, as[string], "path")
	return c, nil
}

// is reports whether it was closed with this very answer.
func (c *closedFile) is(a Answered) bool {
	return c != nil && c.Answer == a.Answer && c.Path == a.Path && c.AnsweredAt.Equal(a.At.Truncate(time.Second))
}

// since reports whether it was closed after it was asked, and so was not another question before it.
func (c *closedFile) since(asked time.Time) bool {
	return c != nil && !c.AnsweredAt.IsZero() && !c.AnsweredAt.Before(asked.Truncate(time.Second))
}

// question is the question that is closed, if its file is there no more. Another main agent may have moved it, as it
// is.
func (c *closedFile) question(a Answered) *QuestionFile {
	if c == nil || c.QuestionFile == nil || !c.AnsweredAt.IsZero() && !c.is(a) {
		return a.question()
	}
	return c.QuestionFile
}

func writeClosed(path string, q *QuestionFile, a Answered) error {
	text, err := q.encode(
		files.Member{Name: "answer", Value: a.Answer},
		files.Member{Name: "answered_at", Value: a.At.UTC().Format(time.RFC3339)},
		files.Member{Name: "response_seconds", Value: a.seconds(q)},
		files.Member{Name: "path", Value: a.Path},
	)
	if err != nil {
		return err
	}
	// The audit log is synced next, and a journal keeps the order; else Close is made again.
	return files.Replacing(path, text, (*files.Replacement).Rename)
}
