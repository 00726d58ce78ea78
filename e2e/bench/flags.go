package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/google/uuid"
	"golang.org/x/term"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	cli "claude-supervise/procs/claude"
	"claude-supervise/procs/pty"
	"claude-supervise/signals"
)

// An outfit is something that a supervisor asks of the CLI and a person who runs it alone does not. What the CLI does
// for it is no doing of ours.
type outfit struct {
	name     string
	session  bool // its id is given
	text     bool // of its subagents is printed
	tools    bool // of ours, served to it
	hooks    bool // it asks before it calls and as it ends
	terminal bool // its output is one
}

// whole is the outfit of an agent under the program.
var whole = outfit{name: "  with all of it", session: true, text: true, tools: true, hooks: true, terminal: true}

// outfits are what procs/claude asks of the CLI (flags.go, input.go there), one by one, then all of it.
var outfits = []outfit{
	{name: "  with a session's id", session: true},
	{name: "  with its subagents' text", text: true},
	{name: "  with tools", tools: true},
	{name: "  with hooks", hooks: true},
	{name: "  on a terminal", terminal: true},
	whole,
}

// args are the arguments that ask for it. session is how the conversation is named, where it is.
func (o outfit) args(session ...string) []string {
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--replay-user-messages"}
	if o.text {
		args = append(args, "--forward-subagent-text")
	}
	if o.tools {
		args = append(args, `--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`)
		for _, t := range signals.Tools() {
			args = append(args, "--allowedTools=mcp__supervise__"+t.Name)
		}
	}
	return append(args, session...)
}

// initialize is the request that it begins with.
func (o outfit) initialize() map[string]any {
	request := map[string]any{"subtype": "initialize"}
	if o.tools {
		request["sdkMcpServers"] = []string{"supervise"}
	}
	if o.hooks {
		request["hooks"] = cli.Hooks()
	}
	return request
}

// flags measures what the real CLI takes alone, for the task of run, when it is asked for what we ask of it: its time
// from start to end, and the processor that it uses meanwhile.
func (b *bench) flags(ctx context.Context) error {
	path := os.Getenv(claude.Variable)
	if path == "" {
		return nil
	}
	api := messagesapi.Serve(scenario(0), nil)
	defer api.Close()
	h, err := b.home("flags", program{name: "bare"})
	if err != nil {
		return err
	}
	h.Reaches(api.URL)
	var plain, used samples
	took, uses := make([]samples, len(outfits)), make([]samples, len(outfits))
	for i := range realTimes + 1 {
		for which, o := range append([]outfit{{}}, outfits...) {
			wall, processor, err := h.alone(ctx, path, o)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", o.name, err)
			case i == 0: // it fills the caches
			case which == 0:
				plain.add(wall)
				used.add(processor)
			default:
				took[which-1].add(wall)
				uses[which-1].add(processor)
			}
		}
	}
	b.table.add(figure{name: "the CLI alone", unit: "ms", values: []samples{plain}})
	b.table.add(figure{name: "  its processor", unit: "ms", values: []samples{used}})
	for i, o := range outfits {
		b.table.add(figure{name: o.name, unit: "ms", values: []samples{took[i]}, floor: plain})
		b.table.add(figure{name: "    its processor", unit: "ms", values: []samples{uses[i]}, floor: used})
	}
	return nil
}

// aloneMost is how long the CLI may take for it: it takes a second, and something is wrong then.
const aloneMost = 2 * time.Minute

// alone has the CLI do a task with nobody around it.
func (h home) alone(ctx context.Context, path string, o outfit) (took, processor time.Duration, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, aloneMost, fmt.Errorf("it took longer than %v", aloneMost))
	defer cancel()
	b := &bare{home: h, path: path, outfit: o}
	var session []string
	if o.session {
		session = []string{"--session-id", uuid.NewString()}
	}
	began := clock()
	if err := b.start(ctx, "## YOUR TASK\n\nYour agent id: "+bareID, session...); err != nil {
		return 0, 0, err
	}
	defer func() { _ = b.out.Close() }()
	if _, err := b.until(isResult); err != nil {
		return 0, 0, err
	}
	if err := b.in.Close(); err != nil {
		return 0, 0, err
	}
	if !o.terminal { // a terminal that our side has open as well has no end
		for range b.lines {
		}
	}
	if err := ignoreExit(b.cmd.Wait()); err != nil {
		return 0, 0, err
	}
	return since(began, clock()), b.cmd.ProcessState.UserTime() + b.cmd.ProcessState.SystemTime(), nil
}

// begin starts the command, and gives what it prints.
func (b *bare) begin(onTerminal bool) (io.ReadCloser, error) {
	if !onTerminal {
		out, err := b.cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		return out, b.cmd.Start()
	}
	ours, its, err := pty.Open()
	if err != nil {
		return nil, err
	}
	if _, err := term.MakeRaw(int(its.Fd())); err != nil {
		return nil, errors.Join(err, ours.Close(), its.Close())
	}
	b.cmd.Stdout, b.cmd.SysProcAttr = its, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 1}
	if err := errors.Join(b.cmd.Start(), its.Close()); err != nil {
		return nil, errors.Join(err, ours.Close())
	}
	return ours, nil
}
