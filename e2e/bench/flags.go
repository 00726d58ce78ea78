package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/google/uuid"
	"golang.org/x/term"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/signals"
)

// An outfit is something that a supervisor asks of the CLI and a person who runs it alone does not. What the CLI does
// for it is no doing of ours.
type outfit struct {
	name     string
	flags    []string
	tools    bool // of ours, served to it
	hooks    bool // it asks before it calls and as it ends
	terminal bool // its output is one
}

// outfits are what procs asks of the CLI (procs/command.go, procs/input.go), one by one, then all of it.
var outfits = []outfit{
	{name: "  with a session's id", flags: []string{"--session-id"}},
	{name: "  with its subagents' text", flags: []string{"--forward-subagent-text"}},
	{name: "  with tools", tools: true},
	{name: "  with hooks", hooks: true},
	{name: "  on a terminal", terminal: true},
	{name: "  with all of it", flags: []string{"--session-id", "--forward-subagent-text"}, tools: true, hooks: true,
		terminal: true},
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
	h.Env = append(claude.Environment(h.Home, api.URL), h.Env...)
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
	b := &bare{home: h, path: path}
	args := []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
		"--permission-prompt-tool", "stdio", "--replay-user-messages"}
	for _, flag := range o.flags {
		if args = append(args, flag); flag == "--session-id" {
			args = append(args, uuid.NewString())
		}
	}
	request := map[string]any{"subtype": "initialize"}
	if o.tools {
		args = append(args, `--mcp-config={"mcpServers":{"supervise":{"type":"sdk","name":"supervise"}}}`)
		for _, t := range signals.Tools() {
			args = append(args, "--allowedTools=mcp__supervise__"+t.Name)
		}
		request["sdkMcpServers"] = []string{"supervise"}
	}
	if o.hooks {
		hook := func(matcher any, id string) []any {
			return []any{map[string]any{"matcher": matcher, "hookCallbackIds": []string{id}}}
		}
		request["hooks"] = map[string]any{"Stop": hook(nil, "stop"), "PreToolUse": hook("Write|Edit|Bash", "call")}
	}
	began := clock()
	b.cmd = h.command(ctx, path, args...)
	b.cmd.Stderr = &b.said
	if b.in, err = b.cmd.StdinPipe(); err != nil {
		return 0, 0, err
	}
	out, err := b.begin(o.terminal)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = out.Close() }()
	b.lines = make(chan line, receivedMost)
	go b.read(out, b.lines)
	if err := errors.Join(b.say(map[string]any{"type": "control_request", "request_id": "init", "request": request}),
		b.prompt("## YOUR TASK\n\nYour agent id: "+bareID)); err != nil {
		return 0, 0, err
	}
	if _, err := b.until(b.unhooked); err != nil {
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

// unhooked reports whether a line is the result, and lets the CLI go on where it asks a hook.
func (b *bare) unhooked(l line) bool {
	if l.Request.Subtype == "hook_callback" {
		_ = b.say(map[string]any{"type": "control_response", "response": map[string]any{ // it ends if it does not come
			"subtype": "success", "request_id": l.RequestID, "response": map[string]any{}}})
	}
	return isResult(l)
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
