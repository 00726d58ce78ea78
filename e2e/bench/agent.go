package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"claude-supervise/examples"
	"claude-supervise/examples/standin"
)

// With this variable in its environment the program is an agent: the stand-in, which asks so many questions one after
// the other and then reports. It says in each when it printed it, when it was last spoken to, and when it began. With
// the value stamp it only prints when it began, with family it delegates and is told of the end (tree.go).
const envAgent = "CLAUDE_SUPERVISE_BENCH_AGENT"

const stampOnly = "stamp"

// began is as good as the first instruction of the process that is ours.
var began = clock()

// clock reads the clock that all processes of the machine share, in ns.
func clock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(fmt.Sprintf("bench: %v", err)) // every kernel has it
	}
	return t.Nano()
}

// What stands in the context of a question until it is printed, each as long as the number that takes its place.
const (
	printedMark  = "PPPPPPPPPPPPPPPPPPPP"
	receivedMark = "HHHHHHHHHHHHHHHHHHHH"
	beganMark    = "BBBBBBBBBBBBBBBBBBBB"
)

func playAgent() int {
	if os.Getenv(envAgent) == stampOnly {
		fmt.Println(began)
		return 0
	}
	s := delegating()
	if os.Getenv(envAgent) != family {
		n, err := strconv.Atoi(os.Getenv(envAgent))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		s = scenario(n)
	}
	var received atomic.Int64
	return standin.Main(context.Background(), s, os.Args[1:], os.Environ(),
		timed{os.Stdin, &received}, stamping{os.Stdout, &received}, os.Stderr)
}

func scenario(questions int) examples.Scenario {
	s := examples.Scenario{Name: "bench", Prompt: task}
	when := "## YOUR TASK"
	for i := range questions {
		text := fmt.Sprintf("What is the answer to question %d of the bench?", i+1)
		s.Turns = append(s.Turns,
			examples.Turn{When: when, Replies: []examples.Reply{{Text: fmt.Sprintf(`[CLARIFICATION_NEEDED]
agent_id: {{agent}}
timestamp: 2026-01-11T08:45:00Z
questions:
  - question_id: Q1
    text: %s
    context: %s %s %s
[/CLARIFICATION_NEEDED]`, text, printedMark, receivedMark, beganMark)}}})
		when = text
	}
	s.Turns = append(s.Turns, examples.Turn{When: when, Replies: []examples.Reply{{Text: `[COMPLETION_REPORT]
agent_id: {{agent}}
timestamp: 2026-01-11T12:00:00Z
status: success
summary: all is asked
[/COMPLETION_REPORT]`}}})
	return s
}

const task = "Ask what is to be asked."

// timed notes when a message comes in.
type timed struct {
	io.Reader
	at *atomic.Int64
}

func (h timed) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if bytes.Contains(p[:n], []byte(`"type":"user"`)) {
		h.at.Store(clock())
	}
	return n, err
}

// stamping writes the times into what is printed, as the last thing before it is.
type stamping struct {
	io.Writer
	received *atomic.Int64
}

func (s stamping) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte(printedMark)) {
		for mark, at := range map[string]int64{receivedMark: s.received.Load(), beganMark: began, printedMark: clock()} {
			p = bytes.ReplaceAll(p, []byte(mark), fmt.Appendf(nil, "%020d", at))
		}
	}
	return s.Writer.Write(p)
}

// since returns the time from one reading of the clock to another.
func since(from, to int64) time.Duration { return time.Duration(to - from) }
