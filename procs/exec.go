package procs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/creack/pty"
)

// placeholder is where the arguments of a Spec.Command have the prompt.
const placeholder = "{}"

// maxArgument is the longest argument that Linux takes, in bytes: MAX_ARG_STRLEN of execve(2) without its NUL.
const maxArgument = 128<<10 - 1

// window is the size of the terminal that a command sees: wide, so that what wraps its lines leaves most of them whole.
var window = &pty.Winsize{Rows: 50, Cols: 200}

// Why a prompt cannot be an argument, as a StartError's cause.
var (
	errPromptTooLong = errors.New("the prompt is too long to be an argument")
	errPromptNUL     = errors.New("an argument cannot hold a NUL byte")
)

// isCommand reports whether another program runs in claude's place.
func (s Spec) isCommand() bool { return len(s.Command) > 0 }

// placesPrompt reports whether the prompt is among the command's arguments.
func (s Spec) placesPrompt() bool {
	return slices.ContainsFunc(s.Command[1:], func(arg string) bool { return strings.Contains(arg, placeholder) })
}

// cmd makes what is to be started, all but its streams. Its errors are StartErrors.
func (s Spec) cmd() (cmd *exec.Cmd, err error) {
	if s.isCommand() {
		path, err := s.findCommand()
		if err != nil {
			return nil, err
		}
		args, err := s.commandArgs()
		if err != nil {
			return nil, err
		}
		cmd = exec.Command(path, args...)
	} else {
		cmd = exec.Command(s.Path, s.args()...)
	}
	cmd.Dir, cmd.Env = s.Dir, s.environ()
	return cmd, nil
}

// findCommand gives the absolute path of the command's program: as seen from its folder, else in the $PATH that it
// gets, of which only absolute folders count.
func (s Spec) findCommand() (string, error) {
	name := s.Command[0]
	switch {
	case name == "":
		return "", &StartError{Path: "the command", Err: errNotFound, Reason: "a pack file names none; give it with --exec"}
	case strings.ContainsRune(name, filepath.Separator):
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		return executable(path, commandHint)
	}
	if path := InPath(name, s.environ()); path != "" {
		return path, nil
	}
	return "", &StartError{Path: name, Err: errNotFound,
		Reason: "it is not in $PATH; install it, or give its path"}
}

// hint says what to do if the program is missing.
func (s Spec) hint() string {
	if s.isCommand() {
		return commandHint
	}
	return claudeHint
}

// commandArgs gives the command's arguments with the prompt in its places. Each stays one argument whatever the prompt
// is.
func (s Spec) commandArgs() ([]string, error) {
	args := make([]string, len(s.Command)-1)
	for i, arg := range s.Command[1:] {
		args[i] = strings.ReplaceAll(arg, placeholder, s.Prompt)
		switch {
		case strings.ContainsRune(args[i], 0):
			return nil, &StartError{Path: s.Command[0], Err: errPromptNUL, Reason: "leave {} out to give it on standard input"}
		case len(args[i]) > maxArgument:
			return nil, &StartError{Path: s.Command[0], Err: errPromptTooLong, Reason: fmt.Sprintf(
				"%d bytes of at most %d; leave {} out to give it on standard input", len(args[i]), maxArgument)}
		}
	}
	return args, nil
}

// input opens the child's standard input: for claude a pipe with the first line in it; for a command a pipe that feed
// writes to, or nothing at all if its arguments have the prompt.
func (p *Process) input() (theirs *os.File, err error) {
	if p.spec.isCommand() && p.spec.placesPrompt() {
		return os.Open(os.DevNull)
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if p.spec.isCommand() {
		p.prompt = ours
		return theirs, nil
	}
	p.stdin = newWriter(ours)
	if err := p.stdin.write(p.spec.initialize()); err != nil { // fits in the pipe
		theirs.Close()
		return nil, err
	}
	return theirs, nil
}

// feed writes the prompt to a command's standard input and closes it. A command that does not read all of it, or ends
// before, wants no more.
func (p *Process) feed() {
	_, _ = io.WriteString(p.prompt, p.spec.Prompt)
	_ = p.prompt.Close()
}

// A conversation folds what a command prints in the stream protocol, where there is nobody to talk to, into one turn.
type conversation struct {
	tell   func(Message)
	result Result // of all turns so far
}

// take hands over what tells of the agent's work. The rest belongs to a dialogue: the command is sent nothing, and its
// end is the end of its turn.
func (c *conversation) take(m Message) {
	switch m := m.(type) {
	case Text, ToolUse, ToolResult, Said, Retry, Activity, Garbled:
		c.tell(m)
	case Ask:
		c.tell(Activity{Text: m.Name + " is asked about, and nobody can answer: the command takes no messages"})
	case Result:
		c.result.Text = m.Text
		c.result.NumTurns += m.NumTurns
		c.result.InputTokens += m.InputTokens
		c.result.CacheRead += m.CacheRead
		c.result.CacheCreation += m.CacheCreation
		c.result.ServiceTier = m.ServiceTier
		c.result.OutputTokens += m.OutputTokens
		c.result.CostUSD += m.CostUSD
	}
}

// readCommand hands over what a command prints, until the end of its output. It gives the result of the turn that the
// process is, the tail of what it printed, and whether that was the stream protocol.
func (p *Process) readCommand(out *drained) (result Result, last string, spoke bool) {
	in := bufio.NewReaderSize(out, maxRaw)
	head := headLine(in, &out.until)
	all := io.MultiReader(bytes.NewReader(head), in)
	c := conversation{tell: p.tell, result: Result{Subtype: "success"}}
	words := &tail{limit: maxTail}
	if speaksStream(head) {
		p.readLines(newLines(all, maxLine), c.take)
		_, _ = io.WriteString(words, c.result.Text)
		return c.result, words.text(), true
	}
	readRaw(all, &out.until, func(text string) {
		p.log.raw(text)
		_, _ = io.WriteString(words, text)
		p.tell(Raw{Text: text})
	})
	return c.result, words.text(), false
}
