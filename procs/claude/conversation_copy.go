package claude

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The CLI removes conversations that nobody has written to for 30 days (cleanupPeriodDays), whenever any session of the
// same home starts. A run may wait for longer. So its conversations are kept in a folder of ours: as links to the CLI's
// own files, which cost nothing and have what the CLI writes later, too; as copies where the folder is on another file
// system. They lie there as in projects (see transcript_move.go): FOLDER/SESSION.jsonl and FOLDER/SESSION/.

// KeepConversation keeps a conversation in a folder, made if it is not there. It blocks for as long as the disk takes;
// what is kept already, and has not changed, costs a look.
func KeepConversation(transcript, folder string) error {
	companion, err := TranscriptCompanion(transcript)
	if err != nil {
		return err
	}
	to := filepath.Join(folder, filepath.Base(filepath.Dir(transcript)))
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	err = keepFile(transcript, filepath.Join(to, filepath.Base(transcript)))
	return errors.Join(err, eachFile(companion, func(path, within string) error {
		return keepFile(path, filepath.Join(to, filepath.Base(companion), within))
	}))
}

// LayBackConversation puts what is missing of a conversation back where the CLI looks for it, and makes all of it
// young, so that it stays while the CLI starts. env is as in Spec.
func LayBackConversation(env []string, session, folder string) error {
	kept, err := os.ReadDir(folder)
	if ifThere(err) != nil {
		return err
	}
	var newest string
	for _, project := range kept {
		if path := filepath.Join(folder, project.Name(), session+".jsonl"); modTime(path).After(modTime(newest)) {
			newest = path
		}
	}
	at, err := Transcript(env, session)
	switch {
	case errors.Is(err, fs.ErrNotExist) && newest == "":
		return nil // there was none
	case errors.Is(err, fs.ErrNotExist):
		at = filepath.Join(projects(env), filepath.Base(filepath.Dir(newest)), session+".jsonl")
		err = layBack(newest, at)
	}
	if err != nil {
		return err
	}
	companion := strings.TrimSuffix(at, ".jsonl")
	if newest != "" {
		err = eachFile(strings.TrimSuffix(newest, ".jsonl"), func(path, within string) error {
			return layBack(path, filepath.Join(companion, within))
		})
	}
	return errors.Join(err, FreshenConversation(at))
}

// FreshenConversation makes a conversation look as if it had been written to now.
func FreshenConversation(transcript string) error {
	now := time.Now()
	companion := strings.TrimSuffix(transcript, ".jsonl")
	err := filepath.WalkDir(companion, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, now, now)
	})
	return errors.Join(ifThere(err), ifThere(os.Chtimes(transcript, now, now)))
}

func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// eachFile visits the regular files below a folder, which need not be there.
func eachFile(folder string, visit func(path, within string) error) error {
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return ifThere(err)
		}
		within, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		return visit(path, within)
	})
	return ifThere(err)
}

// layBack puts a file where there is none.
func layBack(kept, at string) error {
	if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return keepFile(kept, at)
}

// keepFile has a file under another name, too. What is there under that name, and longer, is left: the CLI only adds to
// these files, so the other has lost its beginning.
func keepFile(path, as string) error {
	now, err := os.Lstat(path)
	if err != nil || !now.Mode().IsRegular() {
		return ifThere(err)
	}
	if was, err := os.Lstat(as); err == nil && (os.SameFile(now, was) || was.Size() > now.Size() ||
		was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(as), 0o700); err != nil {
		return err
	}
	next := filepath.Join(filepath.Dir(as), ".next-"+filepath.Base(as))
	if err := ifThere(os.Remove(next)); err != nil {
		return err
	}
	if os.Link(path, next) != nil {
		if err := copyFile(path, next, now.ModTime()); err != nil {
			return errors.Join(err, ifThere(os.Remove(next)))
		}
	}
	return os.Rename(next, as)
}

func copyFile(path, as string, modified time.Time) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), os.Chtimes(as, modified, modified))
}

func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
