package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"claude-supervise/procs"
)

// The CLI keeps a conversation in projects/FOLDER/SESSION.jsonl, and beside it, in projects/FOLDER/SESSION/, its
// subagents' conversations and results too long for it. FOLDER is made from the working directory, but --resume finds
// the session in any of them, under another home and from another directory than it was begun in (2.1.329 alone, which
// then goes on writing where it found it). So a conversation is moved by moving these.

var notInProject = procs.Lazily(`[^0-9A-Za-z]`)

// maxProject is how long the CLI lets such a name become before it cuts it and adds a hash, in bytes.
const maxProject = 200

// NewTranscript returns the path at which the CLI would find the transcript of a conversation that is moved here: where
// it is already, else in the folder of the directory in which it will go on. env is as in Spec.
func NewTranscript(env []string, sessionID, dir string) (path string, err error) {
	path, err = Transcript(env, sessionID)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return filepath.Join(projects(env), project(dir), sessionID+".jsonl"), nil
}

// project is the folder of a directory's conversations, among all projects. Of one with a long name it is not the CLI's
// own.
func project(dir string) string {
	name := notInProject().ReplaceAllString(dir, "-")
	return name[:min(len(name), maxProject)]
}

// projects is the folder of all conversations.
func projects(env []string) string {
	home := procs.Lookup(env, "CLAUDE_CONFIG_DIR")
	if home == "" {
		home = filepath.Join(procs.Lookup(env, "HOME"), ".claude")
	}
	return filepath.Join(home, "projects")
}

// TranscriptCompanion returns the folder that the CLI keeps beside a transcript. It need not be there. The error says
// why the path cannot be that of a transcript.
func TranscriptCompanion(transcript string) (string, error) {
	session, ok := strings.CutSuffix(filepath.Base(transcript), ".jsonl")
	if err := uuid.Validate(session); !ok || err != nil {
		return "", fmt.Errorf("%s is not the path of a transcript", transcript)
	}
	return strings.TrimSuffix(transcript, ".jsonl"), nil
}
