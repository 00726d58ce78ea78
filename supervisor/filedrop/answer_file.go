package filedrop

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"claude-supervise/checkpoints/files"
)

// What keeps a file from being an answer, as people read it.
var (
	errAnswerEmpty = errors.New("its first line is empty")
	errAnswerBytes = errors.New("it is not UTF-8 text")
)

// answerOf reads the first line of an answer file, without the white space around it, and reports whether the line is
// complete.
func answerOf(text []byte) (answer string, complete bool, err error) {
	line, _, complete := bytes.Cut(text, []byte("\n"))
	// some editors begin with that
	line = bytes.TrimFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	switch {
	case !utf8.Valid(line) || bytes.ContainsRune(line, 0):
		return "", complete, errAnswerBytes
	case len(line) == 0:
		return "", complete, errAnswerEmpty
	}
	return string(line), complete, nil
}

// fileAnswer is answerOf for a file that a person has written, perhaps in another encoding.
func fileAnswer(text []byte) (answer string, complete bool, err error) { return answerOf(inUTF8(text)) }

// readAnswerFile reads an answer file, of one that is too large the beginning. A file's answer is its first line,
// however much follows: who looks while the file is being written must read the same as who looks later.
func readAnswerFile(path string) ([]byte, fs.FileInfo, error) {
	text, info, err := readDropFile(path)
	if errors.Is(err, files.ErrTooLarge) && bytes.Contains(text, []byte("\n")) {
		err = nil
	}
	return text, info, err
}

// Answer puts an answer into answers/ID.txt for an agent's script that looks there, whole; lines are joined by spaces,
// for the file has one. fs.ErrExist if there is one already, errBadAnswer for nothing, a NUL or what is not UTF-8.
func (d *Folders) Answer(id, answer string) error {
	line, _, err := answerOf([]byte(strings.Join(strings.FieldsFunc(answer, lineBreak), " ")))
	if err != nil {
		return failed("write answer", id, fmt.Errorf("%w: %w", errBadAnswer, err))
	}
	path, err := d.file(answersFolder, id, answerSuffix)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		err = publish(path, []byte(line+"\n"))
	}
	if errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s: %w", answersFolder+"/"+id+answerSuffix, fs.ErrExist) // without the name that it had meanwhile
	}
	if err == nil {
		d.know(answersFolder, path, line)
	}
	return failed("write answer", id, err)
}

func lineBreak(r rune) bool { return r == '\n' || r == '\r' }

// Answered reports whether an answer to the question lies there that its script has not taken yet.
func (d *Folders) Answered(id string) bool {
	path, err := d.fileThere(answersFolder, id, answerSuffix)
	if err != nil {
		return false
	}
	_, err = os.Lstat(path)
	return err == nil
}

// ReadAnswer returns the answer in answers/ID.txt as Watch would tell it; fs.ErrNotExist where none lies, or none that
// is whole.
func (d *Folders) ReadAnswer(id string) (string, error) {
	answer, err := d.readAnswer(id)
	return answer, failed("read answer", id, err)
}

func (d *Folders) readAnswer(id string) (string, error) {
	path, err := d.fileThere(answersFolder, id, answerSuffix)
	if err != nil {
		return "", err
	}
	text, info, err := readAnswerFile(path)
	if err != nil {
		return "", err
	}
	answer, complete, err := fileAnswer(text)
	if err == nil && !complete && time.Since(info.ModTime()) < lineSettles {
		return "", fs.ErrNotExist
	}
	return answer, err
}

// Unanswer takes back what Answer has put there, and reports whether it was there still: false means that the script
// has it.
func (d *Folders) Unanswer(id string) (taken bool, err error) {
	taken, err = d.takeAnswer(id)
	return taken, failed("take back answer", id, err)
}

// Consume removes answers/ID.txt, once its answer is saved; it is no error if it is gone.
func (d *Folders) Consume(id string) error {
	_, err := d.takeAnswer(id)
	return failed("remove answer", id, err)
}

func (d *Folders) takeAnswer(id string) (bool, error) {
	path, err := d.file(answersFolder, id, answerSuffix)
	if err != nil {
		return false, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.take(answersFolder, path)
}

// take removes a file, and makes Watch silent about that.
func (d *Folders) take(folder, path string) (taken bool, err error) {
	if taken, err = remove(path); err == nil {
		d.forget(folder, path)
	}
	return taken, err
}

// rejection begins the line that says why an answer was rejected. It stands below the answer, so that the file is an
// answer file still: people correct the first line and give it its name back.
const rejection = "rejected: "

// Reject makes answers/ID.txt answers/ID.rejected, with the reason below what stands in it. It is no error if the
// answer is gone. An answer that came in its place meanwhile is rejected with it, and kept.
func (d *Folders) Reject(id, reason string) error {
	path, err := d.file(answersFolder, id, answerSuffix)
	if err == nil {
		err = d.reject(path, strings.TrimSuffix(path, answerSuffix)+rejectedSuffix, reason)
	}
	return failed("reject answer", id, err)
}

func (d *Folders) reject(path, rejected, reason string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := os.Rename(path, rejected)
	switch {
	case err == nil:
		d.forget(answersFolder, path)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	// Where it is gone, a crash may have come between its new name and the reason.
	text, _, err := readAnswerFile(rejected)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		text = nil // not to be read, and so not to be kept
	case bytes.Contains(text, []byte("\n"+rejection)):
		return nil
	}
	text = inUTF8(text) // as the reason is
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	reason = strings.Join(strings.FieldsFunc(reason, lineBreak), " ")
	return files.ReplacePrivate(rejected, append(text, rejection+reason+"\n"...))
}

// know makes Watch silent about what this file drop itself has put at a path.
func (d *Folders) know(folder, path, content string) {
	if d.watched == nil {
		return
	}
	if info, err := os.Lstat(path); err == nil {
		d.watched.folders[folder].know(filepath.Base(path), info, content)
	}
}

// forget makes Watch silent about what this file drop itself has removed.
func (d *Folders) forget(folder, path string) {
	if d.watched != nil {
		delete(d.watched.folders[folder].seen, filepath.Base(path))
	}
}
