package pack

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
)

// A capturedFile is a log or a part of a conversation at one moment.
type capturedFile struct {
	path, name string // name in the pack file
	size       int64
	mod        time.Time
	grows      bool   // nothing in it is ever changed, only added
	content    []byte // of a small one that is replaced now and then; nil: it is read later
	session    string // of a transcript
}

// A fileEnd is how much of a file a snapshot has.
type fileEnd struct {
	size int64
	mod  time.Time
	last [sha256.Size]byte // of the last bytes, by which a file is known again that was not only added to
}

const lastBytes = 1 << 10

// captureFiles finds the logs and conversations of all agents, and how long they are.
func (t *Taker) captureFiles(s supervisor.State) ([]capturedFile, error) {
	var all []capturedFile
	add := func(at, name, session string) error {
		info, err := os.Lstat(at)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			return nil // it has not come to that
		}
		if err != nil {
			return err
		}
		f := capturedFile{path: at, name: name, size: info.Size(), mod: info.ModTime(),
			grows: strings.HasSuffix(name, ".jsonl"), session: session}
		if strings.HasPrefix(name, logsPrefix) && !f.grows { // a checkpoint
			if f.content, err = os.ReadFile(at); err != nil {
				return err
			}
			f.size = int64(len(f.content))
		}
		all = append(all, f)
		return nil
	}
	var e checkpoints.Exported
	putRecords(&e, s)
	for _, a := range s.AllAgents() {
		names := []string{filepath.Base(t.Dirs.AgentLog(a.Run, a.ID)), filepath.Base(t.Dirs.CheckpointFile(a.Run, a.ID))}
		for _, name := range append(names, keptCopies(e, a.ID)...) {
			if err := add(t.Dirs.RunFile(a.Run, name), logsPrefix+name, ""); err != nil {
				return nil, err
			}
		}
		transcript, err := client.Transcript(t.Env, t.Dirs, s, a.SessionID)
		if err != nil {
			continue // it has not come to that, or is lost: a new conversation begins from the checkpoint
		}
		if err := add(transcript, transcriptsDir+filepath.Base(transcript), a.SessionID); err != nil {
			return nil, err
		}
		companion, err := claude.TranscriptCompanion(transcript)
		if err != nil {
			return nil, err
		}
		err = filepath.WalkDir(companion, func(at string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			within, err := filepath.Rel(filepath.Dir(transcript), at)
			if err != nil {
				return err
			}
			return add(at, path.Join(strings.TrimSuffix(transcriptsDir, "/"), filepath.ToSlash(within)), "")
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// later writes what of a file is new, and gives how much of it the snapshot has.
func (p *packer) later(f capturedFile, since fileEnd) (fileEnd, error) {
	if since.size > 0 && since.size == f.size && since.mod.Equal(f.mod) {
		return since, nil
	}
	if f.content != nil {
		err := p.header(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o600, Size: f.size})
		if err == nil {
			_, err = p.tar.Write(f.content)
		}
		return fileEnd{size: f.size, mod: f.mod}, err
	}
	size := f.size
	if f.session != "" {
		end, err := claude.TranscriptEnd(f.path, f.size)
		if err != nil {
			return since, err
		}
		size = end
	}
	file, err := os.Open(f.path)
	if err != nil {
		return since, fmt.Errorf("pack %s: %w", f.name, err)
	}
	defer func() { _ = file.Close() }() // only read
	from := int64(0)
	if f.grows && since.size > 0 && size >= since.size {
		last, err := lastOf(file, since.size)
		if err != nil {
			return since, fmt.Errorf("pack %s: %w", f.name, err)
		}
		if last == since.last {
			from = since.size
		}
	}
	end := fileEnd{size: size, mod: f.mod}
	if end.last, err = lastOf(file, size); err != nil {
		return since, fmt.Errorf("pack %s: %w", f.name, err)
	}
	if from > 0 && from == size {
		return end, nil
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: 0o600, Size: size - from}
	if from > 0 {
		h.PAXRecords = map[string]string{offsetRecord: strconv.FormatInt(from, 10)}
	}
	if err := p.header(h); err != nil {
		return since, err
	}
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return since, err
	}
	if _, err := io.CopyN(p.tar, file, size-from); err != nil {
		return since, fmt.Errorf("pack %s: %w", f.name, err)
	}
	return end, nil
}

// lastOf returns the sum of the last bytes before a place in a file.
func lastOf(f *os.File, end int64) ([sha256.Size]byte, error) {
	last := make([]byte, min(lastBytes, end))
	_, err := f.ReadAt(last, end-int64(len(last)))
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return sha256.Sum256(bytes.Clone(last)), err
}
