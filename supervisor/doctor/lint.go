package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"claude-supervise/signals"
	"claude-supervise/supervisor/text"
)

// A LintedSignal is one signal that Lint has found.
type LintedSignal = signals.Found

// Lint finds the signals in a text or a conversation and what is wrong with their form; see signals.Lint. agent is the
// id that they must carry, "" for any. The error is the reader's.
func Lint(r io.Reader, agent string) (signals.Findings, error) {
	return signals.Lint(r, signals.LintConfig{Agent: agent})
}

// maxHookInput bounds what a hook is given on stdin, in bytes: above all the last message.
const maxHookInput = 64 << 20

// LintHook reads the input of a Claude Code Stop hook and gives the reason to send the model on, "" if it may end: the
// form of the signals in its last message has problems. It sends on once: a model that a hook has sent on already
// (stop_hook_active) may end whatever it says, so that no fault can hold it for ever. The last message is read from the
// transcript where the release does not tell it.
func LintHook(r io.Reader, agent string) (reason string, err error) {
	var in struct {
		Event      string  `json:"hook_event_name"`
		Active     bool    `json:"stop_hook_active"`
		Message    *string `json:"last_assistant_message"` // from 2.1.100 on
		Transcript string  `json:"transcript_path"`
	}
	if err := json.NewDecoder(io.LimitReader(r, maxHookInput)).Decode(&in); err != nil {
		return "", fmt.Errorf("stdin is not the JSON that a Stop hook is given: %s", text.Misread(err))
	}
	switch in.Event {
	case "Stop", "SubagentStop":
	default:
		return "", fmt.Errorf("lint --hook is a Stop hook; it cannot judge the event %.40q", in.Event)
	}
	if in.Active {
		return "", nil
	}
	if in.Message == nil {
		text, err := lastMessage(in.Transcript)
		if err != nil {
			return "", err
		}
		in.Message = &text
	}
	found := signals.LintMessage(*in.Message, signals.LintConfig{Agent: agent})
	if len(found.Problems) == 0 {
		return "", nil
	}
	return mending(found.Problems), nil
}

// lastMessage reads a transcript. One that is not there yet has none.
func lastMessage(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a fifo in its place must not hold the hook
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the transcript cannot be read: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("the transcript %s is not a regular file", path)
	}
	text, err := signals.LastMessage(f)
	if err != nil {
		return "", fmt.Errorf("the transcript cannot be read: %w", err)
	}
	return text, nil
}

// maxTold is how many problems the model is told of.
const maxTold = 20

// mending tells the model what to do.
func mending(problems []signals.Problem) string {
	var b strings.Builder
	b.WriteString("A signal in your last message cannot be read as it is:\n")
	for i, p := range problems {
		if i == maxTold {
			fmt.Fprintf(&b, "- and %d more\n", len(problems)-maxTold)
			break
		}
		fmt.Fprintf(&b, "- line %d: %s: %s\n", p.Line, p.Code, p.Message)
	}
	b.WriteString("Print the whole signal again, corrected, and end your turn.\n" +
		"If you only wrote about signals, end your turn as you were about to.")
	return b.String()
}
