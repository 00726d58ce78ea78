package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
	"claude-supervise/procs/pty"
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

// Agent is any program, which procs.Spec.Command names.
type Agent struct{}

// Launch implements procs.Agent.
func (Agent) Launch(p *procs.Process) (procs.Launch, error) {
	path, err := find(p.Spec)
	if err != nil {
		return procs.Launch{}, err
	}
	args, err := args(p.Spec)
	if err != nil {
		return procs.Launch{}, err
	}
	cmd := exec.Command(path, args...)
	cmd.Env = environ(p.Spec)
	// A shell that waits for a program attends to its signals only when that has ended: so the group gets them.
	return procs.Launch{Cmd: cmd, Hint: hint, Window: window, Group: true, Exchange: &monologue{Process: p}}, nil
}

// hint says what to do if the program is missing.
const hint = "give the path of a program, or the name of one in $PATH"

func environ(s procs.Spec) []string {
	return s.Environ(func(env []string) []string {
		if procs.Lookup(env, "TERM") == "" {
			env = append(env, "TERM=dumb") // nobody draws what it prints
		}
		return env
	})
}

// A monologue is a process of a command: it is told its prompt, and then only heard.
type monologue struct {
	*procs.Process
	prompt  *os.File // where feed writes it, nil if it is among the arguments
	feeding sync.WaitGroup
}

// placesPrompt reports whether the prompt is among the command's arguments.
func placesPrompt(s procs.Spec) bool {
	return slices.ContainsFunc(s.Command[1:], func(arg string) bool { return strings.Contains(arg, placeholder) })
}

// find returns the absolute path of the command's program: as seen from its folder, else in the $PATH that it
// gets, of which only absolute folders count.
func find(s procs.Spec) (string, error) {
	name := s.Command[0]
	switch {
	case name == "":
		return "", &procs.StartError{Path: "the command", Err: procs.ErrNotFound,
			Reason: "a pack file names none; give it with --exec"}
	case strings.ContainsRune(name, filepath.Separator):
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		return procs.Executable(path, hint)
	}
	if path := procs.InPath(name, environ(s)); path != "" {
		return path, nil
	}
	return "", &procs.StartError{Path: name, Err: procs.ErrNotFound,
		Reason: "it is not in $PATH; install it, or give its path"}
}

// args returns the command's arguments with the prompt in its places. Each stays one argument whatever the prompt
// is.
func args(s procs.Spec) ([]string, error) {
	args := make([]string, len(s.Command)-1)
	for i, arg := range s.Command[1:] {
		args[i] = strings.ReplaceAll(arg, placeholder, s.Prompt)
		switch {
		case strings.ContainsRune(args[i], 0):
			return nil, &procs.StartError{Path: s.Command[0], Err: errPromptNUL,
				Reason: "leave {} out to give it on standard input"}
		case len(args[i]) > maxArgument:
			return nil, &procs.StartError{Path: s.Command[0], Err: errPromptTooLong, Reason: fmt.Sprintf(
				"%d bytes of at most %d; leave {} out to give it on standard input", len(args[i]), maxArgument)}
		}
	}
	return args, nil
}

// Open opens nothing if its arguments have the prompt.
func (m *monologue) Open() (theirs *os.File, err error) {
	if placesPrompt(m.Spec) {
		return os.Open(os.DevNull)
	}
	if theirs, m.prompt, err = os.Pipe(); err == nil {
		m.feeding.Go(m.feed)
	}
	return theirs, err
}

// feed writes the prompt to the standard input and closes it. A command that does not read all of it, or ends before,
// wants no more.
func (m *monologue) feed() {
	_, _ = io.WriteString(m.prompt, m.Spec.Prompt)
	_ = m.prompt.Close()
}

// Close implements procs.Exchange.
func (m *monologue) Close() {
	if m.prompt != nil {
		_ = m.prompt.Close() // ends a write
		m.feeding.Wait()
	}
}

// Leave waits for it, if it has work left.
func (m *monologue) Leave(ctx context.Context, how procs.Ending) {
	if how == procs.Finish {
		m.Gone(ctx, m.Patience.Finish)
	}
}

// Complain tells it as a sign of life.
func (m *monologue) Complain(line []byte) { m.Tell(procs.Activity{Text: procs.Shown(line)}) }

// errNoMessages says that the process is a command, which nothing can be said to.
var errNoMessages = errors.New("the process is a command, which takes no messages")

// Send fails, as all does that would say something.
func (*monologue) Send(_, _ string, _ ...procs.Image) error { return errNoMessages }

// Allow fails.
func (*monologue) Allow(string, json.RawMessage) error { return errNoMessages }

// Deny fails.
func (*monologue) Deny(_, _ string, _ bool) error { return errNoMessages }

// Return fails.
func (*monologue) Return(_, _ string, _ bool, _ ...procs.Image) error { return errNoMessages }

// Elicit fails.
// SendResults fails: a command makes no calls.
func (*monologue) SendResults(string, []procs.CallResult) error { return errNoMessages }

func (*monologue) Elicit(_, _ string, _ json.RawMessage) error { return errNoMessages }

// Gate fails.
func (*monologue) Gate(_, _ string) error { return errNoMessages }

// Expect does nothing.
func (*monologue) Expect([]string) {}

// CloseInput fails.
func (*monologue) CloseInput() error { return errNoMessages }

// A conversation folds what a command prints in the stream protocol, where there is nobody to talk to, into one turn.
type conversation struct {
	tell   func(procs.Message)
	result procs.Result // of all turns so far
}

// take hands over what tells of the agent's work. The rest belongs to a dialogue: the command is sent nothing, and its
// end is the end of its turn.
func (c *conversation) take(m procs.Message) {
	switch m := m.(type) {
	case procs.Text, procs.ToolUse, procs.ToolResult, procs.Said, procs.Retry, procs.Activity, procs.Garbled:
		c.tell(m)
	case procs.Ask:
		c.tell(procs.Activity{Text: m.Name + " is asked about, and nobody can answer: the command takes no messages"})
	case procs.Result:
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

// Listen has the result of the turn that the process is handed over last.
func (m *monologue) Listen(out *procs.Output) (e procs.Exit, last func()) {
	in := bufio.NewReaderSize(out, maxRaw)
	head := headLine(in, &out.Until)
	all := io.MultiReader(bytes.NewReader(head), in)
	c := conversation{tell: m.Tell, result: procs.Result{Subtype: "success"}}
	words := &procs.Tail{Limit: procs.MaxTail}
	e = procs.Exit{Command: true, Spoke: speaksStream(head)}
	if e.Spoke {
		claude.ReadStream(m.Process, all, c.take)
		_, _ = io.WriteString(words, c.result.Text)
	} else {
		readRaw(all, &out.Until, func(text string) {
			m.LogRaw(text)
			_, _ = io.WriteString(words, text)
			m.Tell(procs.Raw{Text: text})
		})
	}
	e.Output = words.Text()
	return e, func() { m.Tell(c.result) }
}
