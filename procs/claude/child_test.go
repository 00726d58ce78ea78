package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"claude-supervise/procs/internal/childtest"
	"claude-supervise/procs/stream"
)

func TestMain(m *testing.M) { childtest.Main(m, parts) }

func result(c *childtest.Child, subtype, text string) {
	c.Write(map[string]any{"type": "result", "subtype": subtype, "is_error": subtype != "success", "result": text})
}

var parts = map[string]func(*childtest.Child){
	// echo answers each message with its own text, in a turn.
	"echo": func(c *childtest.Child) {
		for v := c.Read(); v != nil; v = c.Read() {
			if v["type"] != "user" {
				continue
			}
			c.Init()
			c.Text(v["message"].(map[string]any)["content"].(string))
			result(c, "success", "")
		}
	},

	// show prints each line that it reads, as text.
	"show": func(c *childtest.Child) {
		for v := c.Read(); v != nil; v = c.Read() {
			line, _ := json.Marshal(v)
			c.Text(string(line))
		}
	},

	// facts tells what it was started as.
	"facts": func(c *childtest.Child) {
		_, err := term.GetState(1)
		columns, _, _ := term.GetSize(1)
		flags, _ := unix.FcntlInt(1, unix.F_GETFL, 0)
		group, _ := unix.IoctlGetInt(1, unix.TIOCGPGRP)
		session, _ := unix.Getsid(0)
		dir, _ := os.Getwd()
		line, _ := json.Marshal(map[string]any{
			"stdout is a terminal": err == nil,
			"stdin is a terminal":  term.IsTerminal(0),
			"stderr is a terminal": term.IsTerminal(2),
			"stdout blocks":        flags&unix.O_NONBLOCK == 0,
			"leads its session":    session == os.Getpid(),
			"is in the foreground": group == os.Getpid(),
			"args":                 os.Args[1:],
			"env":                  os.Environ(),
			"dir":                  dir,
			"columns":              columns,
		})
		c.Text(string(line))
	},

	// nonsense prints what no release prints, between lines that are right.
	"nonsense": func(c *childtest.Child) {
		c.Read()
		out := func(s string) { os.Stdout.WriteString(s) }
		out("\x1b]0;title\x07\x1b[2J\n")
		out("npm warn deprecated\r\n")
		out("\n \n{\"type\":\"assistant\"\n")
		out("[1,2]\n\"text\"\nnull\n5\n")
		out(`{"type":5,"message":"no object"}` + "\n")
		out(`{"type":"assistant","message":{"id":7,"content":[{"type":"text","text":"half right"}]}}` + "\n")
		out(`{"type":"tomorrow","message":{"content":[]}}` + "\n")
		for _, request := range []string{
			`{"type":"control_request","request_id":"r1","request":{"subtype":"tomorrow"}}`,
			`{"type":"control_request","request_id":"r2"}`,
		} { // one by one, for their answers have no order
			out(request + "\n")
			c.Text(fmt.Sprint(c.Read()["response"]))
		}
		out("\xff\xfe\n")
		out(strings.Repeat("x", stream.MaxLine+1) + "\n")
		out("\x1b[0m")
		c.Text("still here")
		out("no newline\x1b[?25h")
	},

	// client calls a tool of ours in a turn, again and again, and says what each call gave.
	"client": func(c *childtest.Child) {
		c.Read()
		c.Init()
		for i, m := range []string{hello, begun, toList} {
			c.Write(mcpRequest(fmt.Sprint("begin-", i), m))
			c.Read()
		}
		for i := 2; ; i++ {
			c.Write(mcpRequest(fmt.Sprint("call-", i), fmt.Sprintf(openRequest, i)))
			answer := c.Read()
			if answer == nil {
				return
			}
			line, _ := json.Marshal(answer["response"])
			c.Text(string(line))
		}
	},

	// deaf never reads.
	"deaf": func(c *childtest.Child) { c.Init(); childtest.Stay() },

	// polite has a turn under way and ends as the CLI does.
	"polite": func(c *childtest.Child) {
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		go func() {
			<-term
			os.Exit(143)
		}()
		c.Init()
		for v := c.Read(); v != nil; v = c.Read() {
			request, _ := v["request"].(map[string]any)
			if v["type"] == "control_request" && request["subtype"] == "interrupt" {
				result(c, "error_during_execution", "interrupted")
			}
		}
	},

	// stubborn does not end unless it is killed.
	"stubborn": func(c *childtest.Child) { childtest.IgnoreSignals(); c.Init(); childtest.Stay() },

	// cut is killed in the middle of a line.
	"cut": func(c *childtest.Child) {
		c.Text("whole")
		os.Stdout.WriteString(`{"type":"assistant","mess`)
		os.Stderr.WriteString("last words")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	},

	// holder ends and leaves a process behind that keeps its streams open.
	"holder": func(c *childtest.Child) {
		cmd := childtest.Again("stubborn silent", &syscall.SysProcAttr{Setsid: true}, os.Environ())
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		c.Text(fmt.Sprint(cmd.Process.Pid))
	},
	"stubborn silent": func(*childtest.Child) { childtest.IgnoreSignals(); childtest.Stay() },

	// version prints what `claude --version` does.
	"version":     func(*childtest.Child) { fmt.Println("2.1.329 (Claude Code)") },
	"not claude":  func(*childtest.Child) { fmt.Println("GNU bash, version 5.2") },
	"no version":  func(*childtest.Child) { os.Exit(2) },
	"no protocol": func(*childtest.Child) { fmt.Fprintln(os.Stderr, "usage: cat [FILE]"); os.Exit(1) },
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
