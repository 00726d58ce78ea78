package procs

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"

	"claude-supervise/procs/pty"
)

// An Agent is a kind of program that a child can be: Claude and what speaks like it, or any command (package command).
// The process around it is the same for all: its terminal, its log, how it is ended and what is swept.
type Agent interface {
	// Launch readies a launch, which p.Spec says and Launch may complete. Its errors are StartErrors.
	Launch(p *Process) (Launch, error)
}

// A Launch is how an agent's process is started, and how it is spoken with.
type Launch struct {
	Cmd    *exec.Cmd    // without its streams and its folder
	Hint   string       // what to do if the program is missing
	Window *pty.Winsize // of its terminal; nil: the system's
	Group  bool         // SIGTERM goes to its whole group
	Exchange
}

// An Exchange is what goes between a process and its supervisor, from before the start until the process has ended.
type Exchange interface {
	Talk

	// Open returns the process's standard input. It is called once, before the start.
	Open() (theirs *os.File, err error)

	// Listen hands over what the process prints, until the end of its output, and returns what Exit has of that. last is
	// called once the process has ended, before its Exit is handed over.
	Listen(out *Output) (e Exit, last func())

	// Complain takes a line that the process has printed to stderr.
	Complain(line []byte)

	// Leave has the process end by itself, or get ready for the next step of the ladder, within its Patience.
	Leave(ctx context.Context, how Ending)

	// Close closes the process's input at once.
	Close()
}

// A Talk is what may be said to a process. A command takes nothing.
type Talk interface {
	Send(uuid, text string, images ...Image) error
	SendResults(uuid string, results []CallResult) error
	Allow(request string, updatedInput json.RawMessage) error
	Deny(request, message string, interrupt bool) error
	Return(request, text string, isError bool, images ...Image) error
	Elicit(request, action string, content json.RawMessage) error
	Gate(request, block string) error
	CloseInput() error

	// Expect has the hook before a call ask about those with these keys (CallKey), in place of those of the last
	// Expect. It does not block. Without Spec.AsksRefused, and of a command, nothing is asked.
	Expect(calls []string)
}

// A CallResult is the result of a call that an earlier process has made, as that would have written it.
type CallResult struct {
	ToolUse string // the call's id
	Text    string
	IsError bool
	Blocks  bool // it is a list of one text block: what an MCP server returns
	Images  []Image
}

// An Image is a picture that goes with words.
type Image struct {
	File, Hash string // under which the caller keeps it, and the SHA-256 of what it is to be, in hex
	Type       string // its media type
	Data       []byte
}

// ErrNotWaiting says that nothing waits for an answer: it was given before, or withdrawn, or never asked for. Nothing
// was written.
var ErrNotWaiting = errors.New("nothing waits for this answer")
