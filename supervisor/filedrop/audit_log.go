package filedrop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/gofrs/flock"
)

// auditPatience is how long one waits for others that write to the log.
const (
	auditPatience = 5 * time.Second
	auditInterval = 5 * time.Millisecond
)

var errAuditBusy = errors.New("another process locks the audit log for too long; nothing was changed: try again")

// auditField bounds a field of the log, in bytes; answered/ID.json has all of it.
const auditField = 4096

// An audit is questions.log ("Audit Trail" in the hybrid document), of which this process alone has the turn: the flock
// of its folder.
type audit struct {
	turn *flock.Flock
	file *os.File
}

func (d *Folders) openAudit() (*audit, error) {
	folder, err := d.folder(auditFolder)
	if err != nil {
		return nil, err
	}
	return openAudit(folder, auditPatience)
}

func openAudit(folder string, patience time.Duration) (*audit, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errAuditBusy)
	defer cancel()
	turn := flock.New(folder, flock.SetFlag(os.O_RDONLY))
	if _, err := turn.TryLockContext(ctx, auditInterval); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	a := &audit{turn: turn}
	if err := a.open(folder); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

func (a *audit) open(folder string) error {
	in, err := files.OpenFolder(folder)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	if a.file, err = files.OpenIn(in, "questions.log", os.O_RDWR|os.O_APPEND|os.O_CREATE); err != nil {
		return err
	}
	info, err := a.file.Stat()
	if err == nil && (!info.Mode().IsRegular() || !files.Ours(info)) {
		err = fmt.Errorf("%s: %w", a.file.Name(), files.ErrNotOurs)
	}
	return err
}

func (a *audit) close() {
	if a.file != nil {
		_ = a.file.Close() // synced
	}
	_ = a.turn.Close()
}

// add writes the line of a question, in one write; if it may be there already, unless it is. What could not be written
// whole is taken back.
func (a *audit) add(line string, maybeThere bool) error {
	if maybeThere {
		if left, err := a.missing([]string{line}); len(left) == 0 || err != nil {
			return err
		}
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > 0 {
		last := make([]byte, 1)
		if _, err := a.file.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' { // a power cut may have torn the last line
			line = "\n" + line
		}
	}
	if _, err := io.WriteString(a.file, line+"\n"); err != nil {
		return errors.Join(err, a.file.Truncate(info.Size()))
	}
	return a.file.Sync()
}

// missing returns the lines that do not stand in the log yet.
func (a *audit) missing(lines []string) ([]string, error) {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	left := slices.Clone(lines)
	all := bufio.NewReaderSize(a.file, 64<<10) // longer than any line of ours
	for rest := false; len(left) > 0; {
		part, more, err := all.ReadLine()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if !rest && !more {
			left = slices.DeleteFunc(left, func(line string) bool { return line == string(part) })
		}
		rest = more
	}
	return left, nil
}

// A Decision is an answer that leaves no question file behind.
type Decision struct {
	ID string // of the question
	Answered
}

// Audit adds a line to audit/questions.log for each decision whose line is not there yet. It waits for at most five
// seconds for others that write there.
func (d *Folders) Audit(decisions []Decision) error {
	if err := d.audit(decisions); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	return nil
}

func (d *Folders) audit(decisions []Decision) error {
	log, err := d.openAudit()
	if err != nil {
		return err
	}
	defer log.close()
	lines := make([]string, len(decisions))
	for i, one := range decisions {
		lines[i] = auditLine(one.ID, one.question(), one.Answered)
	}
	if lines, err = log.missing(lines); err != nil || len(lines) == 0 {
		return err
	}
	return log.add(strings.Join(lines, "\n"), false)
}

// auditLine is a line in the form of the document: time | id | question | answer | seconds | path.
func auditLine(id string, q *QuestionFile, a Answered) string {
	question := q.Question
	for _, f := range q.Questions {
		question = strings.TrimPrefix(question+" / "+f.Question, " / ")
	}
	seconds := "?"
	if s := a.seconds(q); s != nil {
		seconds = fmt.Sprintf("%ds", *s)
	}
	return strings.Join([]string{
		a.At.UTC().Format(time.RFC3339), id, auditText(question), auditText(a.Answer), seconds, auditText(a.Path),
	}, " | ")
}

// auditText escapes what would end a field or a line, and what a terminal acts on, as Go strings do; and | as \|.
func auditText(text string) string {
	var b []byte
	for _, r := range text {
		if len(b) > auditField {
			return string(b) + "…"
		}
		switch {
		case r == '|' || r == '\\':
			b = append(b, '\\', byte(r))
		case strconv.IsPrint(r):
			b = append(b, string(r)...)
		default:
			quoted := strconv.QuoteRune(r)
			b = append(b, quoted[1:len(quoted)-1]...)
		}
	}
	return string(b)
}
