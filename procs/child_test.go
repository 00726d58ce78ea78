package procs

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// The test binary is the child, too: with this variable set, or this before its first argument, it plays the part of
// that name.
const (
	partVariable = "PROCS_TEST_CHILD"
	partArgument = "part="
)

func TestMain(m *testing.M) {
	name := os.Getenv(partVariable)
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], partArgument) {
		name = strings.TrimPrefix(os.Args[1], partArgument)
	}
	if name != "" {
		part, ok := parts[name]
		if !ok {
			fmt.Fprintln(os.Stderr, "no such part:", name)
			os.Exit(2)
		}
		c := &child{in: bufio.NewReader(os.Stdin)}
		part(c)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is the far end of the protocol.
type child struct{ in *bufio.Reader }

// read gives the next line of input, nil at its end.
func (c *child) read() map[string]any {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		fmt.Fprintln(os.Stderr, "not JSON:", err)
		os.Exit(1) // as the CLI does
	}
	return v
}

func (c *child) write(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

func (c *child) text(text string) {
	c.write(map[string]any{"type": "assistant", "parent_tool_use_id": nil, "message": map[string]any{
		"id": "msg_1", "role": "assistant", "content": []any{map[string]any{"type": "text", "text": text}},
	}})
}

func (c *child) init() {
	c.write(map[string]any{"type": "system", "subtype": "init", "session_id": "s"})
}

func (c *child) result(subtype, text string) {
	c.write(map[string]any{"type": "result", "subtype": subtype, "is_error": subtype != "success", "result": text})
}

// again runs this binary as another child of that part.
func again(part string, attr *syscall.SysProcAttr, env []string) *exec.Cmd {
	exe, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(exe)
	cmd.Env, cmd.SysProcAttr = append(env, partVariable+"="+part), attr
	return cmd
}

func ignoreSignals() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
}

// start returns once the command has printed something.
func (*child) start(cmd *exec.Cmd) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		panic(err)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
}

// stay waits for the end that others make.
func stay() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGCHLD) // so that this is no deadlock
	select {}
}

var parts = map[string]func(*child){
	// echo answers each message with its own text, in a turn.
	"echo": func(c *child) {
		for v := c.read(); v != nil; v = c.read() {
			if v["type"] != "user" {
				continue
			}
			c.init()
			c.text(v["message"].(map[string]any)["content"].(string))
			c.result("success", "")
		}
	},

	// show prints each line that it reads, as text.
	"show": func(c *child) {
		for v := c.read(); v != nil; v = c.read() {
			line, _ := json.Marshal(v)
			c.text(string(line))
		}
	},

	// facts tells what it was started as.
	"facts": func(c *child) {
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
		c.text(string(line))
	},

	// nonsense prints what no release prints, between lines that are right.
	"nonsense": func(c *child) {
		c.read()
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
			c.text(fmt.Sprint(c.read()["response"]))
		}
		out("\xff\xfe\n")
		out(strings.Repeat("x", maxLine+1) + "\n")
		out("\x1b[0m")
		c.text("still here")
		out("no newline\x1b[?25h")
	},

	// client calls a tool of ours in a turn, again and again, and says what each call gave.
	"client": func(c *child) {
		c.read()
		c.init()
		for i, m := range []string{hello, begun, toList} {
			c.write(mcpRequest(fmt.Sprint("begin-", i), m))
			c.read()
		}
		for i := 2; ; i++ {
			c.write(mcpRequest(fmt.Sprint("call-", i), fmt.Sprintf(openRequest, i)))
			answer := c.read()
			if answer == nil {
				return
			}
			line, _ := json.Marshal(answer["response"])
			c.text(string(line))
		}
	},

	// deaf never reads.
	"deaf": func(c *child) { c.init(); stay() },

	// polite has a turn under way and ends as the CLI does.
	"polite": func(c *child) {
		term := make(chan os.Signal, 1)
		signal.Notify(term, syscall.SIGTERM)
		go func() {
			<-term
			os.Exit(143)
		}()
		c.init()
		for v := c.read(); v != nil; v = c.read() {
			request, _ := v["request"].(map[string]any)
			if v["type"] == "control_request" && request["subtype"] == "interrupt" {
				c.result("error_during_execution", "interrupted")
			}
		}
	},

	// stubborn does not end unless it is killed.
	"stubborn": func(c *child) { ignoreSignals(); c.init(); stay() },

	// cut is killed in the middle of a line.
	"cut": func(c *child) {
		c.text("whole")
		os.Stdout.WriteString(`{"type":"assistant","mess`)
		os.Stderr.WriteString("last words")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	},

	// holder ends and leaves a process behind that keeps its streams open.
	"holder": func(c *child) {
		cmd := again("stubborn silent", &syscall.SysProcAttr{Setsid: true}, os.Environ())
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		c.text(fmt.Sprint(cmd.Process.Pid))
	},
	"stubborn silent": func(*child) { ignoreSignals(); stay() },

	// family starts a process in a session of its own, one that is an orphan, and one without our environment, all
	// deaf to SIGTERM; says their pids, and stays until its input ends.
	"family": func(c *child) {
		const relative = `trap '' TERM HUP; echo $$; exec sleep 86400`
		var pids []int
		for _, member := range []*exec.Cmd{
			{Args: []string{"sh", "-c", relative}},
			{Args: []string{"sh", "-c", `sh -c "$0" &`, relative}},
			{Args: []string{"sh", "-c", relative}, Env: []string{"PATH=" + os.Getenv("PATH")}},
		} {
			member.Path, member.SysProcAttr = "/bin/sh", &syscall.SysProcAttr{Setsid: true}
			out, err := member.StdoutPipe()
			if err != nil {
				panic(err)
			}
			if err := member.Start(); err != nil {
				panic(err)
			}
			var pid int
			if _, err := fmt.Fscan(out, &pid); err != nil {
				panic(err)
			}
			pids = append(pids, pid)
			if pid != member.Process.Pid {
				_, _ = member.Process.Wait() // now its child is an orphan
			}
		}
		line, _ := json.Marshal(pids)
		c.text(string(line))
		for c.read() != nil {
		}
	},

	// version prints what `claude --version` does.
	"version":     func(*child) { fmt.Println("2.1.329 (Claude Code)") },
	"not claude":  func(*child) { fmt.Println("GNU bash, version 5.2") },
	"no version":  func(*child) { os.Exit(2) },
	"no protocol": func(*child) { fmt.Fprintln(os.Stderr, "usage: cat [FILE]"); os.Exit(1) },
}
