package view

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// From gives the log as it goes on from a place in its file, in bytes, which Part has given.
func (l Log) From(place int64) Log { l.from = place; return l }

// Part gives the whole lines of the log from a place in its file, in bytes, until they are about most bytes long, each
// with its newline, and the place behind them. There are none where the log ends, or nothing was printed yet. A line
// that is longer than the logs' bound is an error; so is a place that the file does not reach.
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
		case size > maxLogLine:
			return nil, from, fmt.Errorf("%s has a line of more than %d MiB; it is whole, but not shown", l.path(),
				maxLogLine>>20)
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
