package claude

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// fork prepares a launch that begins with the conversation of another. The CLI does that itself (--fork-session), but
// for releases that find no conversation of another directory (a worktree, say): there the new one is written here, as
// the CLI would, and the launch resumes it. What the model then sees is the same on all releases that were measured.
func (s *launch) fork() error {
	if s.Fork == "" || s.Resume || ReleaseOf(InstalledRelease(s.Path)).ResumesAnywhere {
		return nil
	}
	source, err := Transcript(s.Env, s.Fork)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the CLI says so itself, as it does for one to resume
	}
	if err != nil {
		return fmt.Errorf("fork a conversation: %w", err)
	}
	dir, err := s.dir()
	if err != nil {
		return fmt.Errorf("fork a conversation: %w", err)
	}
	if filepath.Base(filepath.Dir(source)) == project(dir) {
		return nil
	}
	target, err := NewTranscript(s.Env, s.SessionID, dir)
	if err != nil {
		return fmt.Errorf("fork a conversation: %w", err)
	}
	if _, err := os.Lstat(target); err != nil { // else an earlier launch was ended before it was heard
		if err := copyConversation(target, source, s.SessionID, s.Fork, math.MaxInt64); err != nil {
			return fmt.Errorf("fork a conversation: %w", err)
		}
	}
	s.Resume = true
	return nil
}

// ForkConversation writes, for a session that goes on in dir, the beginning of a conversation as PrefixOf has it. env
// is as in Spec.
func ForkConversation(transcript string, env []string, session, dir string, calls []string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return err
	}
	target, err := NewTranscript(env, session, dir)
	if err != nil {
		return err
	}
	size, err := PrefixOf(transcript, calls)
	if err != nil {
		return err
	}
	return copyConversation(target, transcript, session, strings.TrimSuffix(filepath.Base(transcript), ".jsonl"), size)
}

// dir is the directory in which the CLI finds itself: where its name has links, they are resolved.
func (s launch) dir() (string, error) {
	dir := s.Dir
	if dir == "" {
		dir = "."
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// copyConversation writes a transcript, the first size bytes of it, as that of another session. It is there whole or
// not at all.
func copyConversation(target, source, session, of string, size int64) (err error) {
	in, err := os.Open(source)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(target), ".fork-*") // 0600, as the CLI's own
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	if err := copySession(out, io.LimitReader(in, size), session, of); err != nil {
		out.Close()
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	return os.Rename(out.Name(), target)
}

// copySession copies the lines of a transcript, of which each names its session. A last line that is still being
// written is left away.
func copySession(out io.Writer, in io.Reader, session, of string) error {
	// never in a text, where its quotes are escaped
	named := func(id string) []byte { return []byte(`"sessionId":"` + id + `"`) }
	lines, writer := bufio.NewReader(in), bufio.NewWriter(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return writer.Flush()
		}
		if err != nil {
			return err
		}
		if _, err := writer.Write(bytes.ReplaceAll(line, named(of), named(session))); err != nil {
			return err
		}
	}
}
