package filedrop

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// This file asks by a question file for a program whose host cannot wait for ever, so that nothing is lost while nobody
// waits: the question lies there until it has its answer, and the answer until it is taken; who asks the same again,
// from the same place, waits for the same.
//
//	asked     pending/ID.json
//	answered  answers/ID.txt, too: a person has, or the supervisor of the agent that asks
//	taken     answered/ID.json alone, which says the same to who asks by the id again

// inquiryPrefix begins the ids of such questions. The rest cannot be guessed: who knows an id has asked.
const inquiryPrefix = "ask-"

// repeats is for how long who asks the same again is told the same: the answer may have come as the host broke off.
const repeats = time.Minute

// maxInquiries is how many such questions may lie there. Anybody may ask; a person reads no more.
const maxInquiries = 100

// What becomes of a question that somebody waits for, but an answer.
var (
	ErrTooManyAsked = fmt.Errorf("%d questions wait for answers already; none was added", maxInquiries)
	ErrNotAsked     = errors.New("there is no such question; it was taken away, or never asked")
	// ErrAnswerLost: whoever took the answer left nothing that can be read.
	ErrAnswerLost = errors.New("it was answered, and the answer cannot be read any more: ask again")
)

// Inquire asks a question, unless the very same lies there already, and returns its id. AskedBy says who asks, and from
// where.
func (d *Folders) Inquire(q QuestionFile) (id string, err error) {
	pending, _, err := d.Pending()
	if err != nil {
		return "", err
	}
	lie := 0
	q = q.printable()
	for _, other := range pending {
		switch {
		case !strings.HasPrefix(other.ID, inquiryPrefix):
		case other.AskedBy == q.AskedBy && other.AsksTheSame(&q):
			return other.ID, nil
		default:
			lie++
		}
	}
	if id := d.justTaken(q); id != "" {
		return id, nil
	}
	if lie >= maxInquiries {
		return "", ErrTooManyAsked
	}
	q.ID = inquiryPrefix + strings.ToLower(rand.Text()[:16])
	path, err := d.file(pendingFolder, q.ID, questionSuffix)
	if err != nil {
		return "", failed("ask", q.ID, err)
	}
	text, err := q.encode()
	if err == nil {
		_, err = parseQuestionFile(text)
	}
	if err == nil {
		err = publish(path, text)
	}
	return q.ID, failed("ask", q.ID, err)
}

// maxLooked is how many of those that were answered are looked at for one that was just taken.
const maxLooked = 2000

// justTaken returns the same question, if its answer was taken a moment ago: nothing lies there then for longer.
func (d *Folders) justTaken(q QuestionFile) string {
	folder, err := os.Open(d.at(answeredFolder))
	if err != nil {
		return "" // it is asked again
	}
	defer func() { _ = folder.Close() }() // only read
	if info, err := folder.Stat(); err != nil || time.Since(info.ModTime()) > repeats {
		return ""
	}
	entries, _ := folder.ReadDir(maxLooked) // of more it is asked again
	for _, e := range entries {
		id, is := strings.CutSuffix(e.Name(), questionSuffix)
		if !is || !strings.HasPrefix(id, inquiryPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) > repeats {
			continue
		}
		path, err := d.fileThere(answeredFolder, id, questionSuffix)
		if err != nil {
			continue
		}
		c, err := readClosed(path)
		if err == nil && c != nil && c.QuestionFile != nil && c.AskedBy == q.AskedBy && c.AsksTheSame(&q) {
			return id
		}
	}
	return ""
}

// AwaitAnswer blocks until a question that Inquire has asked has its answer, or ctx ends: the kernel tells of it.
// ErrNotAsked where there is none, or none any more.
func (d *Folders) AwaitAnswer(ctx context.Context, id string) (string, error) {
	if !strings.HasPrefix(id, inquiryPrefix) {
		return "", ErrNotAsked
	}
	mine := func(name string) bool { return name == id+answerSuffix || name == id+questionSuffix }
	watch, err := files.NewWatch(mine, d.at(pendingFolder), d.at(answersFolder), d.at(answeredFolder))
	if err != nil {
		return "", failed("wait for the answer to", id, err)
	}
	defer watch.Close()
	for {
		answer, there, err := d.answerTo(id)
		if err != nil || answer != "" {
			return answer, failed("wait for the answer to", id, err)
		}
		var settles <-chan time.Time // an answer that is being written, or is about to be put there
		if there {
			settles = time.After(lineSettles)
		}
		select {
		case <-watch.C:
		case <-settles:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// answerTo returns the answer to a question, "" if it has none yet; soon: it may have one without being told of.
func (d *Folders) answerTo(id string) (answer string, soon bool, err error) {
	answer, err = d.readAnswer(id)
	if err == nil {
		return answer, false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", false, err
	}
	path, err := d.file(answeredFolder, id, questionSuffix)
	if err != nil {
		return "", false, err
	}
	taken, err := readClosed(path)
	switch {
	case err != nil:
		return "", false, err
	case taken != nil && taken.Answer == "":
		return "", false, ErrAnswerLost
	case taken != nil:
		return taken.Answer, false, nil
	}
	if soon = d.Answered(id); soon {
		return "", true, nil
	}
	if _, err := d.Question(id); errors.Is(err, fs.ErrNotExist) {
		return "", false, ErrNotAsked
	}
	return "", false, nil
}

// Take takes the answer to a question that Inquire has asked: it does not wait any more, and who asks by its id again
// is told the same.
func (d *Folders) Take(id, answer string) error {
	return failed("take the answer to", id, d.takeOne(id, answer))
}

func (d *Folders) takeOne(id, answer string) error {
	q, err := d.Question(id)
	switch {
	case errors.Is(err, fs.ErrNotExist): // it was taken, or a supervisor has closed it
		_, err = d.takeAnswer(id)
		return err
	case err != nil:
		return err
	}
	path, err := d.file(answeredFolder, id, questionSuffix)
	if err == nil {
		err = writeClosed(path, q, Answered{Answer: answer, Path: "file", At: checkpoints.Now(), Asked: q.AskedAt})
	}
	if err == nil {
		err = files.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	return d.Discard(id)
}
