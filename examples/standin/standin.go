// Package standin is a scripted agent that takes the place of the claude CLI: it speaks the streams of Claude Code
// 2.1.332 in its headless form, keeps its conversation where the CLI keeps it, runs Bash, Read, Write and Edit for
// real, and takes what the model says from a scenario of package examples.
//
// Use it to show and to test the program without an account, quickly and by the thousand, and to have a child that
// crashes where the scenario says. A conformance test runs it and the real CLI side by side (package e2e/claude).
//
// Its subagents work in conversations of their own, in the foreground and in the background, and are revived with their
// work; the tools of the other side are called over the stream (MCP servers of type sdk), and those of MCP servers that
// it starts over pipes, which may ask with a form in the middle of a call. A conversation that has grown too long for
// the CLI is compacted, in the middle of a turn too.
//
// It is no model and no sandbox. It knows no other MCP servers, output styles, hooks other than Stop, time-outs of
// Bash, or retries of the API: each failure of the API is final, and a subagent's ends the work of all. Of the
// transcript it writes what a conversation is continued from, and what others may read: messages, calls and results,
// under the uuids of the stream.
package standin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"claude-supervise/examples"
)

// version is the release of Claude Code whose streams the stand-in speaks.
const version = "2.1.332"

// How the process ends.
const (
	exitGood   = 0
	exitFailed = 1
	exitHangUp = 129
	exitTerm   = 143
)

// showCursor is the last that the CLI writes to a terminal.
const showCursor = "\x1b[?25h"

// Main plays the scenario and gives the exit status. args are the CLI's flags without the program's name, env is the
// environment (HOME or CLAUDE_CONFIG_DIR says where conversations are kept); the folder is that of the process.
//
// It blocks until its input ends and its work is done. SIGTERM and SIGHUP are taken while it runs and do what they do
// to the CLI; the end of ctx does what SIGTERM does. A crash of the scenario returns at once, with nothing tidied up.
func Main(ctx context.Context, scenario examples.Scenario, args, env []string, stdin io.Reader,
	stdout, stderr io.Writer) int {
	opts, err := parseFlags(args)
	if err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return exitFailed
	}
	cwd, err := os.Getwd()
	if err != nil {
		_, _ = fmt.Fprintln(stderr, "Error:", err)
		return exitFailed
	}
	a := newAgent(scenario, opts, cwd, env, stdout)
	if err := a.open(); err != nil {
		_, _ = fmt.Fprintln(stderr, err)
		return exitFailed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	a.done, a.signals, a.input = ctx.Done(), signals, lines(ctx, stdin)

	err = a.run()
	var end ending
	if !errors.As(err, &end) {
		_, _ = fmt.Fprintln(stderr, err)
		end = ending{code: exitFailed}
	}
	if end.crashed {
		return end.code
	}
	a.tidy()
	if f, ok := stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		_, _ = io.WriteString(stdout, showCursor)
	}
	return end.code
}

// An ending is why the agent leaves: not a failure of the stand-in, but what it plays.
type ending struct {
	code    int
	crashed bool
}

func (e ending) Error() string { return fmt.Sprintf("the process ends with %d", e.code) }
