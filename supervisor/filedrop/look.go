package filedrop

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/checkpoints/files"
)

// How long a file is given to become whole.
const (
	lineSettles = time.Second     // a line without an end, since the last change
	fileSettles = 5 * time.Second // a file that is none of its kind, since it was first seen so
)

// dropMost bounds how many files of one folder are looked at, and dropNamesMost how many names are read to find them.
const (
	dropMost      = 1000
	dropNamesMost = 4 * dropMost
)

var errCrowded = fmt.Errorf("more than %d files: the others are not read", dropMost)

// dropNames lists the files of a folder with a suffix, and reports whether there are more. Names that begin with a dot
// are of files that are being written.
func dropNames(folder, suffix string) (names []string, more bool, err error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }()
	all, err := f.Readdirnames(dropNamesMost)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	for _, name := range all {
		if strings.HasSuffix(name, suffix) && name[0] != '.' {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, len(all) == dropNamesMost, nil
}

// A seenFolder is what Watch has seen of a folder.
type seenFolder struct {
	name, suffix string
	found, gone  EventKind
	read         func(text []byte) (content string, whole bool, err error)

	seen    map[string]*seenFile // by file name
	crowded bool
	removed bool // since the last look the folder was, or may have been
}

// A seenFile is one file of it.
type seenFile struct {
	folder *seenFolder
	name   string

	info    fs.FileInfo
	changed time.Time // when it was last seen to have; all times here are read on the monotonic clock

	content string
	whole   bool
	differs bool // who reads the bytes of the first line reads something else than content
	err     error
	failing time.Time // since when there is an err; zero: there is none
	blamed  bool      // the err was told

	told     fs.FileInfo // as which its content was told; nil: it was not
	toldText string
}

func watchedFolders() map[string]*seenFolder {
	return map[string]*seenFolder{
		pendingFolder: {
			name: pendingFolder, suffix: questionSuffix, found: QuestionFound, gone: QuestionGone,
			seen: map[string]*seenFile{},
			read: func(text []byte) (string, bool, error) {
				_, err := parseQuestionFile(text)
				return questionContent(text), true, err
			},
		},
		answersFolder: {
			name: answersFolder, suffix: answerSuffix, found: AnswerFound, gone: AnswerGone,
			seen: map[string]*seenFile{},
			read: fileAnswer,
		},
	}
}

// questionContent stands for a question file: enough to see whether it is another one.
func questionContent(text []byte) string {
	sum := sha256.Sum256(text)
	return string(sum[:])
}

// know takes a file for one that was told.
func (f *seenFolder) know(name string, info fs.FileInfo, content string) {
	f.seen[name] = &seenFile{folder: f, name: name, info: info, content: content, whole: true,
		told: info, toldText: content}
}

// look tells what has changed in the folder, which is at a path, and when to look again though nothing changes; zero:
// never. changed tells of files that may have changed though they look the same.
func (f *seenFolder) look(path string, changed func(path string) bool, now time.Time) (events []Event,
	next time.Time, err error) {
	names, crowded, err := dropNames(path, f.suffix)
	if err != nil {
		return nil, time.Time{}, err
	}
	there := map[string]bool{}
	for _, name := range names {
		there[name] = true
		s := f.seen[name]
		if s == nil {
			if len(f.seen) >= dropMost {
				crowded = true
				continue
			}
			s = &seenFile{folder: f, name: name}
			f.seen[name] = s
		}
		file := filepath.Join(path, name)
		if there[name] = s.look(file, changed(file), now); !there[name] {
			continue
		}
		event, again := s.tell(now)
		if event != nil {
			events = append(events, *event)
		}
		next = earlier(next, again)
	}
	for _, name := range slices.Sorted(maps.Keys(f.seen)) {
		if crowded && !there[name] { // it may be among the names that were not read
			_, err := os.Lstat(filepath.Join(path, name))
			there[name] = err == nil
		}
		if !there[name] {
			events = append(events, f.lose(name, "")...)
		}
	}
	if crowded && !f.crowded {
		events = append(events, Event{Kind: Problem, Problem: f.name + ": " + errCrowded.Error()})
	}
	f.crowded = crowded
	return events, next, nil
}

// lose forgets a file that is there no more, and tells so if it was told of.
func (f *seenFolder) lose(name, problem string) []Event {
	s := f.seen[name]
	delete(f.seen, name)
	if s.told == nil {
		return nil
	}
	event := Event{Kind: f.gone, ID: s.id(), Problem: problem}
	if event.Kind == AnswerGone {
		event.Answer = s.toldText
	}
	return []Event{event}
}

// loseAll is lose for a folder that is there no more.
func (f *seenFolder) loseAll() (events []Event) {
	f.removed = false
	for _, name := range slices.Sorted(maps.Keys(f.seen)) {
		events = append(events, f.lose(name, "the folder "+f.name+" was removed with it")...)
	}
	return events
}

// id is what the file's name says, whether that is one or not.
func (s *seenFile) id() string { return strings.TrimSuffix(s.name, s.folder.suffix) }

// look reads the file if it has changed, and reports whether it is there.
func (s *seenFile) look(path string, changed bool, now time.Time) bool {
	if !changed && s.info != nil {
		info, err := os.Lstat(path)
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		}
		if sameFile(info, s.info) {
			return true
		}
	}
	info, err := s.read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	s.changed, s.info, s.err = now, info, err
	switch {
	case err == nil:
		s.failing, s.blamed = time.Time{}, false
	case s.failing.IsZero():
		s.failing = now
	}
	return true
}

func (s *seenFile) read(path string) (fs.FileInfo, error) {
	if !checkpoints.PlainID(s.id()) {
		info, err := os.Lstat(path)
		if err == nil {
			err = ErrBadID
		}
		return info, err
	}
	open := readDropFile
	if s.folder.found == AnswerFound {
		open = readAnswerFile
	}
	text, info, err := open(path)
	if err == nil {
		s.content, s.whole, err = s.folder.read(text)
		s.differs = string(firstLine(text)) != s.content
	} else if info == nil && !errors.Is(err, fs.ErrNotExist) {
		info, _ = os.Lstat(path) // of what cannot be opened
	}
	return info, err
}

// tell returns what there is to tell of the file now, and when to look at it again; zero: when it changes.
func (s *seenFile) tell(now time.Time) (event *Event, next time.Time) {
	if s.err != nil {
		return s.blame(now)
	}
	if settled := s.changed.Add(lineSettles); !s.whole && now.Before(settled) {
		return nil, settled
	}
	if s.told != nil && s.toldText == s.content && os.SameFile(s.told, s.info) {
		return nil, time.Time{}
	}
	s.told, s.toldText = s.info, s.content
	event = &Event{Kind: s.folder.found, ID: s.id()}
	if event.Kind == AnswerFound {
		event.Answer, event.Differs = s.content, s.differs
	}
	return event, time.Time{}
}

// blame is tell for a file that is none of its kind.
func (s *seenFile) blame(now time.Time) (event *Event, next time.Time) {
	settled := s.failing.Add(fileSettles)
	switch {
	case s.blamed:
		return nil, time.Time{}
	case now.Before(settled):
		return nil, settled
	}
	s.blamed = true
	event = &Event{Kind: Problem,
		Problem: fmt.Sprintf("%s/%s is left alone: %v", s.folder.name, files.Shown(s.name), s.err)}
	if checkpoints.PlainID(s.id()) {
		event.ID = s.id()
	}
	if errors.Is(s.err, errAnswerBytes) {
		event.Garbled = s.err.Error()
	}
	return event, time.Time{}
}

func sameFile(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.Mode() == b.Mode() && a.ModTime().Equal(b.ModTime())
}

// earlier is the earlier of two times of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
