package procs

import (
	"encoding/json"
	"io"
	"strconv"
	"sync"
	"time"
)

// A lineLog writes each line that a child prints as one JSON object. Its form is told at Spec.Log.
type lineLog struct {
	mu     sync.Mutex
	w      io.Writer // nil: nothing is kept
	launch int
	buf    []byte
	broken bool  // the last write failed and may have left half a line
	err    error // the first
}

// LogLine logs a line that the process has printed; isJSON says that it may stand in the log as it is.
func (p *Process) LogLine(line []byte, isJSON bool) { p.log.add("line", line, isJSON) }

// LogRaw logs output that has no protocol, as a line of a type of its own.
func (p *Process) LogRaw(text string) {
	line, _ := json.Marshal(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{"raw", text})
	p.LogLine(line, true)
}

func (l *lineLog) add(stream string, line []byte, isJSON bool) {
	if l.w == nil {
		return
	}
	if !isJSON {
		line, _ = json.Marshal(string(line))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf[:0]
	if l.broken {
		b = append(b, '\n')
	}
	b = append(b, `{"launch":`...)
	b = strconv.AppendInt(b, int64(l.launch), 10)
	b = append(b, `,"time":"`...)
	b = time.Now().UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, `","`...)
	b = append(b, stream...)
	b = append(b, `":`...)
	b = append(b, line...)
	b = append(b, '}', '\n')
	_, err := l.w.Write(b)
	l.broken = err != nil
	if l.err == nil {
		l.err = err
	}
	if cap(b) <= 1<<20 {
		l.buf = b
	}
}

func (l *lineLog) firstError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
