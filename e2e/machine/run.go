package machine

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// A RunView is a run as `ps --json` lists it, here or on a fleet.
type RunView struct {
	ID, Status, Reason string
	EndedAt            *time.Time `json:"ended_at"`
	ExitCode           *int       `json:"exit_code"`
	SupervisorPID      int        `json:"supervisor_pid"`
	OpenQuestions      []string   `json:"open_questions"`
	Agents             []struct {
		ID, Status, Reason string
		Task               string
		SessionID          string `json:"session_id"`
		PID, Launches      int
		CostUSD            float64 `json:"cost_usd"`
	}
}

// A QuestionView is a question as `questions --json` lists it.
type QuestionView struct {
	ID, Run, Agent, Kind, State, Question, Context string
	Options                                        []struct{ Label string }
	Urgent, Optional                               bool
	AnsweredBy                                     string `json:"answered_by"`
	Answer                                         *string
	AnswerCommand                                  string `json:"answer_command"`
}

// An Event is a line of `run --json`.
type Event struct {
	Type, Run, Agent, Text, Status, Reason, Summary string
	Launch                                          int
	ExitCode                                        *int `json:"exit_code"`
	Question                                        *QuestionView
}

// A Run is a `run --json` or `resume --json` under way.
type Run struct {
	Cmd    *exec.Cmd
	Stderr Output
	lines  *bufio.Scanner
}

// Start starts the command of a run.
func Start(cmd *exec.Cmd) (*Run, error) {
	r := &Run{Cmd: cmd}
	cmd.Stderr = &r.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	r.lines = bufio.NewScanner(stdout)
	r.lines.Buffer(nil, 16<<20)
	return r, cmd.Start()
}

// Next blocks until the next event. io.EOF says that the run has printed its last: who reads no further waits for its
// end. After any other error the events that follow can be read.
func (r *Run) Next() (e Event, err error) {
	if !r.lines.Scan() {
		return e, cmp.Or(r.lines.Err(), io.EOF)
	}
	if err = json.Unmarshal(r.lines.Bytes(), &e); err == nil {
		return e, nil
	}
	line := r.lines.Text()
	if !strings.HasSuffix(line, "}") && !r.lines.Scan() { // cut off by a kill: nothing comes after
		return Event{}, cmp.Or(r.lines.Err(), io.EOF)
	}
	return Event{}, fmt.Errorf("a line of --json is not JSON: %w: %s", err, line)
}

// Line is the event that was read last, as it was printed.
func (r *Run) Line() string { return r.lines.Text() }

// Drain reads the rest, for the pipe must not fill, and waits for the end.
func (r *Run) Drain() error {
	for r.lines.Scan() {
	}
	return r.Cmd.Wait()
}
