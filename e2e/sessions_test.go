package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
)

// An otherSession is one of the person's own, by bare claude: it lives until the test ends, and does what it is told.
type otherSession struct {
	t      *testing.T
	stdin  io.Writer
	stdout *bufio.Scanner
	socket string // on which it takes messages of other sessions
}

// otherSession starts one beside the runs of this world.
func (w *world) otherSession(s examples.Scenario) *otherSession {
	w.t.Helper()
	api := messagesapi.Serve(s, nil)
	w.t.Cleanup(api.Close)
	cmd := exec.Command(claude.Program(w.t), "-p", "--input-format=stream-json", "--output-format=stream-json",
		"--verbose", "--replay-user-messages", "--allowedTools=Bash,SendMessage", "--permission-mode=default")
	cmd.Dir, cmd.Env = w.Cwd, claude.Environment(w.Home, api.URL)
	stdin, err := cmd.StdinPipe()
	noError(w.t, err)
	stdout, err := cmd.StdoutPipe()
	noError(w.t, err)
	noError(w.t, cmd.Start())
	w.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	o := &otherSession{t: w.t, stdin: stdin, stdout: bufio.NewScanner(stdout)}
	o.stdout.Buffer(nil, 16<<20)
	return o
}

// told tells it something, and waits until it has dealt with it, and with what came before.
func (o *otherSession) told(text string) {
	o.t.Helper()
	id := uuid.NewString()
	line, err := json.Marshal(map[string]any{"type": "user", "uuid": id, "message": map[string]any{"role": "user", "content": text}})
	noError(o.t, err)
	if _, err := o.stdin.Write(append(line, '\n')); err != nil {
		o.t.Fatal(err)
	}
	for o.stdout.Scan() {
		var l struct {
			State  string
			UUID   string `json:"command_uuid"`
			Socket string `json:"messaging_socket_path"`
		}
		noError(o.t, json.Unmarshal(o.stdout.Bytes(), &l))
		if l.Socket != "" {
			o.socket = l.Socket
		}
		if l.UUID == id && (l.State == "completed" || l.State == "cancelled") {
			return
		}
	}
	o.t.Fatal("the session has ended")
}

// made reports whether a file of this world's folder is there.
func (w *world) made(name string) bool {
	_, err := os.Stat(filepath.Join(w.Cwd, name))
	return err == nil
}

// said reports whether an event that was read so far says this.
func (s *supervised) said(text string) bool {
	return slices.ContainsFunc(s.seen, func(e event) bool { return strings.Contains(e.Text, text) })
}

func replies(when string, replies ...examples.Reply) examples.Turn {
	return examples.Turn{When: when, Replies: replies}
}

func doing(calls ...examples.ToolCall) examples.Reply { return examples.Reply{Tools: calls} }

func saying(text string) examples.Reply { return examples.Reply{Text: text} }

// obeying is an agent that does what another session says.
func obeying() examples.Scenario {
	return examples.Scenario{Name: "obeying", Prompt: "## WORK", Turns: []examples.Turn{
		replies("make the proof", doing(bashCall("touch proof")), saying("I have done what I was told.")),
		replies("## IDLE", saying("Idle.")),
		replies("## LAST", saying("The last.")),
		replies("## WORK", doing(examples.ToolCall{Name: "AskUserQuestion", Input: map[string]any{"questions": []any{
			map[string]any{"question": "Which way?", "header": "Way", "multiSelect": false, "options": []any{
				map[string]any{"label": "Left", "description": "l"}, map[string]any{"label": "Right", "description": "r"},
			}}}}}), saying("I go left."), saying("I have gone.")),
	}}
}

// sending is an agent that sends a message to a socket.
func sending(socket string) examples.Scenario {
	return examples.Scenario{Name: "sending", Prompt: "## SEND", Turns: []examples.Turn{
		replies("## SEND", doing(examples.ToolCall{Name: "ListAgents", Input: map[string]any{}}),
			doing(examples.ToolCall{Name: "SendMessage", Input: map[string]any{
				"to": "uds:" + socket, "message": "Please make the proof.", "summary": "a proof", "recipient_kind": "agent",
			}}), saying("It is sent."), saying("Nothing is left.")),
	}}
}

// A run in which nothing is allowed has no other session of the person act for it. In bare claude it comes off.
func TestNoRunReachesAnotherSessionOfThePerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		proof bool
	}{
		"bare":           {proof: true},
		"run":            {flags: []string{"--permissions", "deny"}},
		"run, permitted": {flags: []string{"--permissions", "deny", "--allow", "sessions"}, proof: true},
	} {
		if !everyAttack && !sample.Has("to another "+name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, plainProgram)
			other := w.otherSession(obeying())
			other.told("## IDLE")
			s := sending(other.socket)
			if c.flags == nil {
				w.otherSession(s).told("## SEND")
			} else {
				w.real(s, nil)
				code, stdout, stderr := w.run(w.runArgs(s, append(c.flags, "--check", "off", "--json")...)...)
				if code != 6 {
					t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
				}
				said := "SendMessage is refused: uds:" + other.socket
				if c.proof {
					said = "message to another session, uds:" + other.socket + ": Please make the proof."
				}
				lacksNone(t, "the run", stdout, said)
				if listed := !strings.Contains(stdout, "ListAgents is refused"); listed != c.proof {
					t.Errorf("the agent sees which sessions the person has: %v", listed)
				}
			}
			other.told("## LAST") // what came before has had its turn
			if made := w.made("proof"); made != c.proof {
				t.Errorf("the other session makes the proof: %v", made)
			}
		})
	}
}

// No other session of the person has a run act for it, unless the person lets it: then each message is shown. In bare
// claude it comes off.
func TestNoSessionOfThePersonReachesARun(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		flags []string
		proof bool
	}{
		"bare":           {proof: true},
		"run":            {flags: []string{"--allow", "Bash"}},
		"run, permitted": {flags: []string{"--allow", "Bash", "--allow", "sessions"}, proof: true},
	} {
		if !everyAttack && !sample.Has("from another "+name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldWith(t, plainProgram)
			if c.flags == nil {
				other := w.otherSession(obeying())
				other.told("## IDLE")
				w.otherSession(sending(other.socket)).told("## SEND")
				other.told("## LAST")
			} else {
				s := obeying()
				w.real(s, nil)
				run := w.start(append([]string{"run", "--on-question", "ask", "--check", "off"},
					append(c.flags, w.agent...)...)...)
				q := run.until("question").Question
				_, socket, _ := strings.Cut(w.must("logs", q.Run, "--raw"), `"messaging_socket_path":"`)
				socket, _, _ = strings.Cut(socket, `"`)
				w.otherSession(sending(socket)).told("## SEND")
				w.must("answer", q.ID, "Left")
				w.ends(run, 6)
				if told := run.said("message from another session"); told != c.proof {
					t.Errorf("the message is shown: %v", told)
				}
			}
			if made := w.made("proof"); made != c.proof {
				t.Errorf("it makes the proof: %v", made)
			}
		})
	}
}
