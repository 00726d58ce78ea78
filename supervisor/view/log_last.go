package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"claude-supervise/procs/stream"
)

// A LogPart says which part of a log is wanted: its end.
type LogPart struct {
	Last   int                // at most so many lines that count; 0: all
	Since  time.Time          // none from before; zero: all
	Counts func(LogLine) bool // the lines that Last counts
}

// Only returns the log as it begins with the part. It reads as little of the files as that takes, from their ends.
func (l RunLog) Only(ctx context.Context, p LogPart) (RunLog, error) {
	if p.Last == 0 && p.Since.IsZero() {
		return l, nil
	}
	agents, err := l.reader.Store.Agents(ctx, l.Run)
	if err != nil {
		return l, err
	}
	slices.SortFunc(agents, asTheyCame)
	var begins []begin
	l.from, l.answers = map[string]int64{}, p.Since
	for _, a := range agents {
		if l.Agent != "" && l.Agent != a.ID {
			continue
		}
		file := Log{Run: l.Run, Agent: a.ID, Reader: l.reader}
		own, err := file.lastLines(LogLine{Run: l.Run, Agent: a.ID}, p)
		if err != nil {
			return l, err
		}
		begins = append(begins, own...)
		l.from[a.ID] = file.Size()
		if len(own) > 0 {
			l.from[a.ID] = own[0].at
		}
	}
	if p.Last == 0 {
		return l, nil
	}
	given := answers{log: l, told: map[string]time.Time{}}
	all, err := given.look(ctx)
	if err != nil {
		return l, err
	}
	for line, err := range all {
		if err != nil {
			return l, err
		}
		begins = append(begins, begin{line: line})
	}
	slices.SortStableFunc(begins, func(a, b begin) int { return a.line.Time.Compare(b.line.Time) })
	left := begins[:max(len(begins)-p.Last, 0)]
	for _, b := range left { // each begins after the last that is left out
		if b.line.Answer != nil {
			l.answers = b.line.Time.Add(1)
		} else {
			l.from[b.line.Agent] = b.at + int64(b.length)
		}
	}
	return l, nil
}

// A begin is a line that a part of a log may begin with.
type begin struct {
	line   LogLine // without its text
	at     int64   // where in its file it stands, in bytes
	length int
}

// logStep is how much of a log is read at a time from its end, in bytes.
const logStep = 256 << 10

// lastLines returns the lines of a log that count, of its part.
func (l Log) lastLines(like LogLine, p LogPart) (found []begin, err error) {
	file, err := os.Open(l.path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var size int64
	if err == nil {
		defer func() { _ = file.Close() }() // only read
		size, err = file.Seek(0, io.SeekEnd)
	}
	var rest []byte // the end of a line whose beginning is still to be read
	for to := size; err == nil && to > 0; {
		from := max(to-logStep, 0)
		part := make([]byte, to-from, to-from+int64(len(rest)))
		if _, err = file.ReadAt(part, from); err != nil {
			break
		}
		part = append(part, rest...)
		whole := part
		if to, rest = from, nil; from > 0 {
			cut := bytes.IndexByte(part, '\n') + 1
			if cut == 0 {
				cut = len(part)
			}
			if cut > stream.MaxLine {
				return nil, tooLong(l.path())
			}
			rest, whole = part[:cut], part[cut:]
			from += int64(cut)
		}
		var own []begin
		early := false
		for text := range bytes.Lines(whole) {
			line := like
			line.Line, line.Time = text, timeOf(text)
			if line.Time.Before(p.Since) && !line.Time.IsZero() {
				early, own = true, nil
			} else if p.Counts == nil || p.Counts(line) {
				line.Line = nil
				own = append(own, begin{line: line, at: from, length: len(text)})
			}
			from += int64(len(text))
		}
		found = append(own, found...)
		if early || p.Last > 0 && len(found) >= p.Last {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the agent's log cannot be read: %w", err)
	}
	return found, nil
}
