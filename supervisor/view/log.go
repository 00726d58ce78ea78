package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/checkpoints/files"
	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/stream"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/calls"
	"claude-supervise/supervisor/listen"
	"claude-supervise/supervisor/text"
)

// A Log is the file of everything that one agent printed, in all of its launches: one JSON object per line, in the form
// that procs.Spec.Log tells. It may not be there yet.
type Log struct {
	Run, Agent string
	Reader     Reader
	from       int64 // where in the file it begins, in bytes
}

// Log finds the log of an agent, or of the root agent of a run, by an id or its start.
func (r Reader) Log(ctx context.Context, id string) (Log, error) {
	run, agent, err := RunNamed(ctx, r.Store, id)
	if err == nil && agent == "" {
		var record supervisor.Run
		record, err = r.Store.Run(ctx, run)
		agent = record.Root
	}
	return Log{Run: run, Agent: agent, Reader: r}, err
}

func (l Log) path() string { return l.Reader.Dirs.AgentLog(l.Run, l.Agent) }

// Each gives the lines of the log with their newlines, byte for byte; a last one that a crash has cut lacks its
// newline. They are valid until each returns. fs.ErrNotExist is the error where the agent has printed nothing.
func (l Log) Each(each func(line []byte) error) error { return EachLogLine(l.path(), l.from, each) }

// maxRecent bounds what Recent reads of a log, in bytes.
const maxRecent = 4 << 20

// Recent returns the last things that the log says in prose, at most n, oldest first, and the log of what is added
// after them. Of a long log only the end is read; where nothing was printed yet there are none.
func (l Log) Recent(n int) (said []string, after Log, err error) {
	recent, after, err := l.recent(n)
	return inWords(recent), after, err
}

func (l Log) recent(n int) (said []Remark, after Log, err error) {
	file, err := os.Open(l.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, l, nil
	}
	if err != nil {
		return nil, l, fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	size, err := file.Seek(0, io.SeekEnd)
	for part := int64(64 << 10); err == nil; part *= 4 {
		from := max(size-part, 0)
		said, l.from, err = saidFrom(file, from, size, proseOf(l.Agent))
		if from == 0 || len(said) >= n || part >= maxRecent {
			break
		}
	}
	if err != nil {
		return nil, l, fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	return said[max(len(said)-n, 0):], l, nil
}

// saidFrom returns what the whole lines of a part of a file say, and where the last of them ends.
func saidFrom(file io.ReaderAt, from, to int64, say func([]byte) []Remark) (said []Remark, end int64, err error) {
	part, err := io.ReadAll(io.NewSectionReader(file, from, to-from))
	if err != nil {
		return nil, from, err
	}
	if from > 0 { // most likely in the middle of a line
		_, rest, found := bytes.Cut(part, []byte("\n"))
		if !found {
			return nil, from, nil
		}
		from, part = from+int64(len(part)-len(rest)), rest
	}
	for line := range bytes.Lines(part) {
		if bytes.HasSuffix(line, []byte("\n")) {
			said, from = append(said, say(line)...), from+int64(len(line))
		}
	}
	return said, from, nil
}

// Until gives the lines of the log, and those that are added to it, until over is closed: all that will be printed is
// in the file then.
func (l Log) Until(ctx context.Context, over <-chan struct{}, each func(line []byte) error) error {
	name := filepath.Base(l.path())
	grown, err := files.NewWatch(func(changed string) bool { return changed == name }, filepath.Dir(l.path()))
	if err != nil {
		return err
	}
	defer grown.Close()
	file := tail{path: l.path(), from: l.from}
	defer file.close()
	err = KeepingUp{}.until(ctx, over, grown.C, func() error { return file.each(each) })
	if err != nil {
		return err
	}
	return file.rest(each)
}

// EachLogLine reads an agent's log from a place in it, as Log.Each says.
func EachLogLine(path string, from int64, each func([]byte) error) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	file := tail{path: path, from: from}
	defer file.close()
	return file.rest(each)
}

// A tail reads a file that grows, line by line. The file may not be there yet.
type tail struct {
	path string
	from int64 // where it begins, in bytes
	file *os.File
	part *io.LimitedReader // of file, as far as it is read
	read *bufio.Reader
	line []byte // so much as there is of the next one
}

// bound lets each and rest read as far as the file goes now, and not beyond. Without it they read all there is.
func (t *tail) bound() error {
	if err := t.open(); err != nil || t.file == nil {
		return err
	}
	at, err := t.file.Seek(0, io.SeekCurrent)
	if err == nil {
		var info fs.FileInfo
		if info, err = t.file.Stat(); err == nil {
			t.part.N = max(info.Size()-at, 0)
			return nil
		}
	}
	return fmt.Errorf("the agent's log cannot be read: %w", err)
}

// open opens the file, if it is there and not open.
func (t *tail) open() error {
	if t.file != nil {
		return nil
	}
	file, err := os.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		t.file, t.part = file, &io.LimitedReader{R: file, N: math.MaxInt64}
		t.read = bufio.NewReaderSize(t.part, 64<<10)
		_, err = file.Seek(t.from, io.SeekStart)
	}
	if err != nil {
		return fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	return nil
}

// tooLong says that a log has a line that is longer than the logs' bound.
func tooLong(path string) error {
	return fmt.Errorf("%s has a line of more than %d MiB; it is whole, but not shown", path, stream.MaxLine>>20)
}

// each gives the whole lines that were added since the last call.
func (t *tail) each(each func([]byte) error) error {
	if err := t.open(); err != nil || t.file == nil {
		return err
	}
	for {
		piece, err := t.read.ReadSlice('\n')
		if len(t.line)+len(piece) > stream.MaxLine {
			return tooLong(t.path)
		}
		if err == nil && len(t.line) == 0 { // nearly always: nothing is copied
			if err := each(piece); err != nil {
				return err
			}
			continue
		}
		t.line = append(t.line, piece...)
		switch {
		case err == nil:
			if err := each(t.line); err != nil {
				return err
			}
			t.line = t.line[:0]
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return nil
		default:
			return fmt.Errorf("the agent's log cannot be read: %w", err)
		}
	}
}

// rest is each, and gives what there is of a line without its newline, too.
func (t *tail) rest(each func([]byte) error) error {
	if err := t.each(each); err != nil || len(t.line) == 0 {
		return err
	}
	return each(t.line)
}

func (t *tail) close() {
	if t.file != nil {
		_ = t.file.Close() // only read
	}
}

// Said says in words what a line of a log holds, with its time; nothing for what only programs need.
func Said(line []byte) []string { return inWords(remarks(line, listen.Said)) }

// Prose returns what says in words what the lines of an agent's log hold, one after the other, as Said does but without
// the agent's signals, which are for the supervisor. A signal that counts only at the end of its turn is prose
// until then, and a question its words.
func Prose(agent string) func(line []byte) []string {
	prose := proseOf(agent)
	return func(line []byte) []string { return inWords(prose(line)) }
}

func proseOf(agent string) func(line []byte) []Remark {
	reader := listen.NewSignalReader(agent, nil, nil)
	return func(line []byte) []Remark {
		return remarks(line, func(m procs.Message) string { return reader.Prose(m, reader.Read(m)) })
	}
}

// CallInWords says a call in a line: of one that asks or tells a person something what that is, of others how their
// input begins.
func CallInWords(name string, input json.RawMessage) string {
	own, served := strings.CutPrefix(name, claude.ToolPrefix)
	var told string
	if sig, ok := signals.Served(own, input); served && ok && len(sig.Problems) == 0 { // others are refused
		switch sig.Kind {
		case signals.Clarification:
			told = textsOf(sig.Questions)
		case signals.Stop:
			told = sig.Field("details")
		case signals.Delegate:
			told = sig.Field("new_task_description")
		case signals.Completion:
			told = sig.Field("status") + ": " + sig.Field("summary")
		default:
			told = listen.Spoken(sig)
		}
	} else if name == ask.AskUserQuestion {
		questions, _ := ask.UserQuestions(input) // one that cannot be read is shown as it is
		told = textsOf(questions)
	}
	if told = text.FirstLine(told); told == "" {
		told = calls.Of(name).Members(input)
		if command := commandOf(input); name == "Bash" && command != "" { // not what the agent says of it
			told = "command: " + command
		}
		return "[" + text.Line(name, ask.MaxToolName) + "] " + text.Line(told, text.MaxLine)
	}
	return "[" + own + "] " + told
}

// commandOf returns the command of a call; "" if it has none.
func commandOf(input json.RawMessage) (command string) {
	text.EachMember(input, func(name, value string) {
		if name == "command" {
			command = value
		}
	})
	return command
}

// textsOf says questions in one line.
func textsOf(questions []signals.Question) string {
	texts := make([]string, len(questions))
	for i, q := range questions {
		texts[i] = text.FirstLine(q.Text)
	}
	return strings.Join(texts, " · ")
}

// From returns the log as it goes on from a place in its file, in bytes, which Part has given.
func (l Log) From(place int64) Log { l.from = place; return l }

// Part returns the whole lines of the log from a place in its file, in bytes, until they are about most bytes long,
// each with its newline, and the place behind them. There are none where the log ends, or nothing was printed yet. A
// line that is longer than the logs' bound is an error; so is a place that the file does not reach.
func (l Log) Part(from int64, most int) (lines [][]byte, next int64, err error) {
	file, err := os.Open(l.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, from, fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	for size := most; ; size *= 4 {
		part, err := io.ReadAll(io.NewSectionReader(file, from, int64(size)))
		if err != nil {
			return nil, from, fmt.Errorf("the agent's log cannot be read: %w", err)
		}
		end := bytes.LastIndexByte(part, '\n') + 1
		switch {
		case end > 0 || len(part) < size:
			for line := range bytes.Lines(part[:end]) {
				lines = append(lines, line)
			}
			return lines, from + int64(end), nil
		case size > stream.MaxLine:
			return nil, from, tooLong(l.path())
		}
	}
}

// Size is how long the log is now, in bytes; 0 where nothing was printed yet.
func (l Log) Size() int64 {
	info, err := os.Stat(l.path())
	if err != nil {
		return 0
	}
	return info.Size()
}

// Place is where in its file the log begins, in bytes.
func (l Log) Place() int64 { return l.from }
