package findings

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
)

// The bounds of findings that are merged: bytes of a line, bytes of all files together, and files.
const (
	maxFinding      = 1 << 20
	maxFindings     = 1 << 30
	maxFindingFiles = 200
)

// plainFile is what the names of files of findings are made of, and maxFile their length.
var plainFile = text.Lazily(`^[A-Za-z0-9_-][A-Za-z0-9._-]*$`)

const maxFile = 101

// A merging is what becomes of the files of findings of one folder.
type merging struct {
	dir    string
	to     string                                // the folder that has the arrays, and the lines that are broken
	named  func(file string) (string, bool)      // the name of a file of findings, without its suffix
	since  time.Time                             // files that were not changed since are none
	entry  func(line int, finding []byte) []byte // as which a finding stands in the array
	absent bool                                  // findings are no matter of this folder: it need not be readable
}

// MergeShared merges each file of findings in the folder that the agents of a run share, in place: an array of
// {"order": LINE, "agent": ID, "time": TIME, "value": FINDING}. The agent is "" where the finding names none of agents
// as its agent_id or agent, and the time "" where it gives none as its timestamp or time.
func MergeShared(dir string, agents map[string]bool) supervisor.Merged {
	return shared(dir, agents).all()
}

func shared(dir string, agents map[string]bool) merging {
	return merging{dir: dir, to: dir, named: findingsName, entry: func(line int, finding []byte) []byte {
		who, when := finder(finding, agents)
		return fmt.Appendf(nil, `{"order":%d,"agent":%q,"time":%q,"value":%s}`, line, who, when, finding)
	}}
}

// Print writes what the agents of a run have shared so far, and keeps nothing: a JSON object that has for each file the
// array of MergeShared. Lines that are no JSON, or none yet, are left out.
func Print(dir string, agents map[string]bool, to io.Writer) error {
	k, out, room := shared(dir, agents), bufio.NewWriter(to), int64(maxFindings)
	_, _ = out.WriteString("{") // a writer keeps its first error until it is flushed
	root, err := k.open()
	if root != nil {
		defer func() { _ = root.Close() }() // only read
		var names []string
		names, err = k.files(root)
		between := ""
		for _, name := range names {
			in, bad := openRegular(root, name+".jsonl", &room)
			if bad != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", name+".jsonl", bad))
				continue
			}
			_, _ = fmt.Fprintf(out, "%s%q: ", between, name+".jsonl")
			between = ","
			bad = mergeLines(new(checkpoints.MergedFile), bufio.NewReaderSize(in, maxFinding), out,
				bufio.NewWriter(io.Discard), k.entry)
			err = errors.Join(err, bad, in.Close())
		}
	}
	_, _ = out.WriteString("}\n")
	return errors.Join(err, out.Flush())
}

// MergeProject merges those that agents have left in the project's own folder since a time, as the protocols document
// has them do (SECURITY_FINDINGS.jsonl): plain arrays, as `jq -s .` makes them, in another folder.
func MergeProject(dir, to string, since time.Time) supervisor.Merged {
	return merging{dir: dir, to: to, named: projectFindings, since: since, absent: true,
		entry: func(_ int, finding []byte) []byte { return finding }}.all()
}

func (k merging) all() supervisor.Merged {
	var b supervisor.Merged
	trouble := func(err error) {
		b.Again = b.Again || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
		if b.Problem == "" {
			b.Problem = text.FirstLine(err.Error())
		}
	}
	root, err := k.open()
	if err != nil && !k.absent {
		trouble(err)
	}
	if root == nil {
		return b
	}
	defer func() { _ = root.Close() }() // only read
	files, err := k.files(root)
	if err != nil {
		trouble(err)
	}
	room := int64(maxFindings)
	for _, name := range files {
		m, err := k.file(root, name, &room)
		if err != nil {
			trouble(fmt.Errorf("%s: %w", name+".jsonl", err))
			continue
		}
		b.Files = append(b.Files, m)
	}
	return b
}

// open opens the folder; nil where there is none.
func (k merging) open() (*os.Root, error) {
	info, err := os.Lstat(k.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir() && !k.absent: // a person's folder may be a link
		return nil, fmt.Errorf("%s is not a folder", k.dir)
	}
	return os.OpenRoot(k.dir)
}

// files returns the names of the files of findings, without their suffix and sorted.
func (k merging) files(root *os.Root) ([]string, error) {
	folder, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // only read
	var names []string
	for {
		entries, err := folder.ReadDir(maxFindingFiles)
		for _, entry := range entries {
			if name, ok := k.named(entry.Name()); ok && k.recent(entry) {
				names = append(names, name)
			}
		}
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names, nil
		}
		if err != nil {
			return names, err
		}
		if len(names) > maxFindingFiles {
			slices.Sort(names)
			return names[:maxFindingFiles], fmt.Errorf("there are more than %d files of findings", maxFindingFiles)
		}
	}
}

// recent reports whether a file was changed since the agents began.
func (k merging) recent(file fs.DirEntry) bool {
	if k.since.IsZero() {
		return true
	}
	info, err := file.Info()
	return err == nil && info.Mode().IsRegular() && !info.ModTime().Before(k.since)
}

// file merges one file: its good lines become an array. The file's size is taken from the room that is left.
func (k merging) file(root *os.Root, name string, room *int64) (checkpoints.MergedFile, error) {
	m := checkpoints.MergedFile{Name: name + ".jsonl", Merged: filepath.Join(k.to, name+".merged.json")}
	in, err := openRegular(root, m.Name, room)
	if err != nil {
		return m, err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := files.Replace(m.Merged)
	if err != nil {
		return m, err
	}
	defer out.Drop()
	broken := filepath.Join(k.to, name+".broken")
	aside, err := files.Replace(broken)
	if err != nil {
		return m, err
	}
	defer aside.Drop()
	good, bad := bufio.NewWriter(out), bufio.NewWriter(aside)
	if err := mergeLines(&m, bufio.NewReaderSize(in, maxFinding), good, bad, k.entry); err != nil {
		return m, err
	}
	if err := errors.Join(good.Flush(), bad.Flush()); err != nil {
		return m, err
	}
	if m.Broken > 0 {
		m.Aside = broken
		if err := aside.Keep(); err != nil {
			return m, err
		}
	} else if err := os.Remove(broken); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	return m, out.Keep()
}

// openRegular opens a regular file of a folder that there is room for, no link and nothing that somebody could be
// waited for at.
func openRegular(root *os.Root, name string, room *int64) (*os.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, supervisor.ErrNotRegular
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, info):
		err = supervisor.ErrNotRegular
	case info.Size() > *room:
		err = fmt.Errorf("findings of more than %d MiB in all are not merged", maxFindings>>20)
	default:
		*room -= info.Size()
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// mergeLines writes the good lines as an array, and the others as they are. Lines without anything are neither.
func mergeLines(m *checkpoints.MergedFile, in *bufio.Reader, good, bad *bufio.Writer,
	entry func(line int, finding []byte) []byte) error {
	_, _ = good.WriteString("[") // a writer keeps its first error until it is flushed
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		text := bytes.TrimSpace(line)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			m.Broken++
			for errors.Is(err, bufio.ErrBufferFull) {
				_, _ = bad.Write(line)
				line, err = in.ReadSlice('\n')
			}
			_, _ = bad.Write(append(bytes.TrimSuffix(bytes.Clone(line), []byte("\n")), '\n'))
		case len(text) == 0:
		case !json.Valid(text) || !utf8.Valid(text):
			m.Broken++
			_, _ = bad.Write(text)
			_ = bad.WriteByte('\n')
		default:
			if m.Lines++; m.Lines > 1 {
				_ = good.WriteByte(',')
			}
			_ = good.WriteByte('\n')
			_, _ = good.Write(entry(n, text))
		}
		switch {
		case errors.Is(err, io.EOF):
			_, err = good.WriteString("\n]\n")
			return err
		case err != nil:
			return err
		}
	}
}

// finder gives the agent that a finding names as its own, "" if that is none of these, and the time that it gives, ""
// if that is none.
func finder(finding []byte, agents map[string]bool) (who, when string) {
	var said struct {
		AgentID   string `json:"agent_id"`
		Agent     string `json:"agent"`
		Timestamp string `json:"timestamp"`
		Time      string `json:"time"`
	}
	_ = json.Unmarshal(finding, &said) // of another form: none
	for _, id := range []string{said.AgentID, said.Agent} {
		if id = strings.TrimSpace(id); who == "" && agents[id] {
			who = id
		}
	}
	for _, text := range []string{said.Timestamp, said.Time} {
		if at, err := time.Parse(time.RFC3339, strings.TrimSpace(text)); when == "" && err == nil {
			when = at.UTC().Format(time.RFC3339)
		}
	}
	return who, when
}

// SharedFolder is the folder of the findings of a run.
func SharedFolder(dirs checkpoints.Dirs, run string) string {
	return filepath.Join(dirs.RunDir(run), "shared")
}

// findingsName reports whether a file has the name of one of findings, and gives what stands before its suffix.
func findingsName(file string) (name string, ok bool) {
	name, ok = strings.CutSuffix(file, ".jsonl")
	return name, ok && len(name) <= maxFile && plainFile().MatchString(name)
}

// projectFindings is findingsName for a project's own folder, in which other .jsonl files lie, too: of the document's
// kind of name, SECURITY_FINDINGS.jsonl.
func projectFindings(file string) (name string, ok bool) {
	name, ok = findingsName(file)
	return name, ok && strings.HasSuffix(name, "FINDINGS")
}
