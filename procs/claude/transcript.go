package claude

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// Transcript returns the path of a conversation's transcript: projects/*/SESSION.jsonl in $CLAUDE_CONFIG_DIR, else in
// ~/.claude. If several folders have one, it is the one written last. env is as in Spec. The error is fs.ErrNotExist
// if there is none: the conversation was never begun, or was ended within its first 100 ms.
func Transcript(env []string, sessionID string) (path string, err error) {
	if err := uuid.Validate(sessionID); err != nil {
		return "", fmt.Errorf("find transcript: session %.60q: %w", sessionID, err)
	}
	projects := projects(env)
	folders, err := os.ReadDir(projects)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find transcript: %w", err)
	}
	var newest time.Time
	for _, folder := range folders {
		candidate := filepath.Join(projects, folder.Name(), sessionID+".jsonl")
		if info, err := os.Stat(candidate); err == nil && info.Mode().IsRegular() && !info.ModTime().Before(newest) {
			path, newest = candidate, info.ModTime()
		}
	}
	if path == "" {
		return "", fmt.Errorf("find transcript of session %s under %s: %w", sessionID, projects, fs.ErrNotExist)
	}
	return path, nil
}

// ReceivedIn reports whether the user message sent with this uuid is in the conversation: as a line of its own, or
// taken into a running turn. A message that the CLI has only queued is not.
func ReceivedIn(transcript, uuid string) (bool, error) {
	received := false
	err := scanTranscript(transcript, uuid, func(l *line) bool {
		received = l.receives(uuid)
		return received
	})
	return received, err
}

// RepliedIn reports whether the user message sent with this uuid is in the conversation, and the assistant has said
// something after it.
func RepliedIn(transcript, uuid string) (bool, error) {
	received, replied := false, false
	err := scanLines(transcript, func(data []byte) bool {
		var l line
		switch {
		case !bytes.Contains(data, []byte(uuid)) && !received, !stream.Decode(data, &l), l.Sidechain:
		case l.receives(uuid):
			received, replied = true, false
		default:
			replied = replied || received && l.Type == "assistant"
		}
		return false
	})
	return replied, err
}

// SpokeIn reports whether the assistant has said something in a launch whose log this is (Spec.Log).
func SpokeIn(log string, launch int) (spoke bool, err error) {
	err = scanLines(log, func(data []byte) bool {
		var e stream.Entry
		spoke = bytes.Contains(data, []byte("assistant")) && stream.Decode(data, &e) && e.Launch == launch &&
			e.Line.Type == "assistant" && e.Line.Parent == ""
		return spoke
	})
	return spoke, err
}

// receives reports whether the line is the user message that was sent with this uuid.
func (l *line) receives(uuid string) bool {
	return l.Type == "user" && l.UUID == uuid ||
		l.Type == "attachment" && l.Attachment.Type == "queued_command" && l.Attachment.SourceUUID == uuid
}

// AnsweredIn returns the result of a call as the conversation has it, if it has one that came of a person's answer: a
// result that the CLI wrote in the place of one, because the process ended or the turn was interrupted, is none. A
// subagent's call is looked for in the subagents' transcripts too. A refusal that also ended the turn cannot be told
// from an interrupt, and is not found.
func AnsweredIn(transcript, toolUse string) (text string, found bool, err error) {
	err = eachResult(transcript, toolUse, func(_ *line, b stream.Block) bool {
		text = b.Content.Text()
		found = !(b.IsError && inPlaceOfAnswer(text))
		return found
	})
	if !found {
		return "", false, err
	}
	return procs.Cut(text, procs.MaxResult), true, err
}

// eachResult hands visit the results of a call that the conversation and its subagents' have, until that returns true.
func eachResult(transcript, toolUse string, visit func(*line, stream.Block) bool) error {
	subagents, err := subagentsOf(transcript)
	if err != nil {
		return err
	}
	done := false
	for _, path := range append([]string{transcript}, subagents...) {
		if err := scanTranscript(path, toolUse, func(l *line) bool {
			if l.Type != "user" {
				return false
			}
			for _, b := range l.Message.Content {
				done = done || b.Type == "tool_result" && b.ToolUseID == toolUse && visit(l, b)
			}
			return done
		}); err != nil || done {
			return err
		}
	}
	return nil
}

// subagentsOf returns the transcripts of the conversation's subagents: SESSION/subagents/agent-*.jsonl beside its own.
func subagentsOf(transcript string) (paths []string, err error) {
	folder := filepath.Join(strings.TrimSuffix(transcript, ".jsonl"), "subagents")
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read transcripts of subagents: %w", err)
	}
	for _, entry := range entries {
		if filepath.Ext(entry.Name()) == ".jsonl" {
			paths = append(paths, filepath.Join(folder, entry.Name()))
		}
	}
	return paths, nil
}

// inPlaceOfAnswer reports whether the text of a failed call is the CLI's own: after an ended process, an interrupt or
// the end of stdin, and with older releases the message of the broken stream.
func inPlaceOfAnswer(text string) bool {
	for _, own := range []string{
		"[Tool call interrupted",
		"The tool call was interrupted before a result was received.",
		"[Request interrupted by user",
		"The user doesn't want to proceed with this tool use.",
		"The user doesn't want to take this action right now.",
		"Tool permission stream closed",
		"Tool permission request failed",
		"MCP error -32001: AbortError",
	} {
		if strings.Contains(text, own) {
			return true
		}
	}
	// Of an MCP server that ended with the process. A command may print the same, among other things.
	return text == "Connection closed" || text == "MCP error -32000: Connection closed"
}

// scanTranscript hands each line that mentions what to visit, until that returns true. A line that is broken, as the
// last one is after a crash, is passed over.
func scanTranscript(path, mention string, visit func(*line) bool) error {
	return scanLines(path, func(data []byte) bool {
		var l line
		return bytes.Contains(data, []byte(mention)) && stream.Decode(data, &l) && visit(&l)
	})
}

// scanLines hands each line to visit, until that returns true. A line longer than one of the protocol may be is passed
// over.
func scanLines(path string, visit func([]byte) bool) error {
	return scanWhole(path, func(data []byte, _ int64) bool { return visit(data) })
}

// scanWhole is scanLines, and says to where the file has whole lines by then, in bytes.
func scanWhole(path string, visit func(data []byte, end int64) bool) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a fifo in its place must not hold us
	if err != nil {
		return fmt.Errorf("read transcript: %w", err)
	}
	defer f.Close()
	in := stream.NewLines(f, stream.MaxLine)
	for {
		data, whole, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read transcript: %w", err)
		case whole && visit(data, in.End()):
			return nil
		}
	}
}

// TranscriptEnd returns where what belongs to the turns that had begun ends in a transcript, whose first size bytes
// were there when the last of them had ended: the CLI writes up to 100 ms late, and what it writes of a turn that it
// has begun since is led by a prompt. A line that is not whole does not count.
func TranscriptEnd(path string, size int64) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	end, err := lineEnd(f, size)
	if err != nil {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	if _, err := f.Seek(end, io.SeekStart); err != nil {
		return 0, fmt.Errorf("read transcript: %w", err)
	}
	for lines := bufio.NewReader(f); ; {
		line, err := lines.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // of a long line the beginning says enough
			long := bytes.Clone(line)
			var rest []byte
			rest, err = lines.ReadBytes('\n')
			line = append(long, rest...)
		}
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return 0, fmt.Errorf("read transcript: %w", err)
		}
		var l stream.Line
		if end >= size && (!stream.Decode(line, &l) || l.Type != "assistant") {
			return end, nil
		}
		end += int64(len(line))
	}
}

// lineEnd returns the end of the last whole line in the first size bytes of a file.
func lineEnd(f *os.File, size int64) (int64, error) {
	const step = 64 << 10
	for at := size; at > 0; {
		from := max(0, at-step)
		part := make([]byte, at-from)
		if _, err := f.ReadAt(part, from); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return from + int64(i) + 1, nil
		}
		at = from
	}
	return 0, nil
}
