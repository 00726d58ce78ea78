package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sys/unix"
)

// toEditor opens the editor where lines are answers, and so does editKey in a form. Claude Code has the same key.
const (
	toEditor = "/edit"
	editKey  = "ctrl+g"
)

// An editor is the person's own, for an answer that is long. Its command is run by the shell, as git does it: $VISUAL,
// but not on a dumb terminal, else $EDITOR.
type editor struct {
	command string // empty: none is set
	drafts  Drafts
	lend    func(ctx context.Context, cmd *exec.Cmd) error // runs it with the terminal
}

func newEditor(lookup func(string) string, drafts Drafts, lend func(context.Context, *exec.Cmd) error) editor {
	command := lookup("EDITOR")
	if visual := lookup("VISUAL"); visual != "" && lookup("TERM") != "dumb" {
		command = visual
	}
	return editor{strings.TrimSpace(command), drafts, lend}
}

// named returns the name of the editor, for people; empty if a question cannot be answered in it.
func (e editor) named(q Question) string {
	if e.command == "" || q.Secret {
		return ""
	}
	name, _, _ := strings.Cut(e.command, " ")
	return CleanLine(filepath.Base(name), 30)
}

// obeyed finds what Vim and Emacs take as an instruction wherever they read it. A question may hold such a line.
var obeyed = regexp.MustCompile(`(?i)\b(?:vim?|ex)[<>=]?[0-9]*:|-\*-|\blocal variables:`)

// write has the person write on at a draft in the editor, and returns what they have left in its file: never an
// answer, but a draft. It blocks until they leave the editor, or ctx ends it; what they have saved by then is returned
// all the same. An error is for them to read, and the draft stays as it was.
//
// The file is in a folder of its own that only the person can enter, in that of the run if there is one, so that what
// is left after a kill goes with the run. It is removed once its text is taken.
func (e editor) write(ctx context.Context, q Question, draft string) (text string, err error) {
	switch {
	case e.command == "":
		return "", errors.New("no editor is set: set VISUAL or EDITOR")
	case q.Secret:
		return "", errors.New("what looks like a secret is not written to a file; type it here")
	case obeyed.MatchString(draft):
		return "", fmt.Errorf("an editor would obey what stands in it: %q", obeyed.FindString(draft))
	}
	dir, err := e.folder(q)
	if err != nil {
		return "", fmt.Errorf("no file can be made for the editor: %w", err)
	}
	file := filepath.Join(dir, "answer.md")
	below := asComment(q)
	if err := os.WriteFile(file, []byte(draft+"\n\n"+below), 0o600); err != nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("no file can be made for the editor: %w", err)
	}
	ran := e.lend(ctx, exec.Command("sh", "-c", e.command+` "$@"`, e.command, file))
	if ran != nil && ctx.Err() == nil {
		_ = os.RemoveAll(dir)
		return "", fmt.Errorf("%s failed (%w), and the draft is as before", e.named(q), ran)
	}
	if text, err = readEdited(file, below); err != nil {
		return "", err // and the file stays, for what it has
	}
	_ = os.RemoveAll(dir)
	if strings.TrimSpace(text) == "" && strings.TrimSpace(draft) != "" {
		return "", errors.New("nothing was left in the file, so the draft is as before")
	}
	return text, nil
}

// folder makes the folder of the file.
func (e editor) folder(q Question) (string, error) {
	if file := e.drafts.file(q); file != "" {
		if dir, err := os.MkdirTemp(filepath.Dir(file), draftsName+"edit-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "claude-supervise-edit-")
}

// The comment begins with a line of its own: from there on nothing is an answer.
const scissors = "# ---------------- what stands from here on is not sent ----------------"

// asComment is the question as it stands below the answer. Vim looks for instructions in the last five lines, which are
// not the agent's.
func asComment(q Question) string {
	about := strings.TrimSpace(strings.Join([]string{q.Text, q.Context, optionLines(q)}, "\n\n"))
	about = obeyed.ReplaceAllStringFunc(Clean(about), func(found string) string {
		return strings.NewReplacer(":", " :", "-*-", "- * -").Replace(found)
	})
	rows := strings.Split(about, "\n")
	for i, row := range rows {
		rows[i] = strings.TrimRight("# "+row, " ")
	}
	return scissors + "\n" + strings.Join(rows, "\n") + `
#
# Write your answer above that line, save, and leave the editor. It is sent
# only when you press Enter afterwards. An empty file leaves the draft as it
# was.
#
`
}

func optionLines(q Question) string {
	var rows []string
	for i, key := range q.Keys() {
		if label := CleanLine(q.Options[i].Label, 0); label != "" {
			rows = append(rows, strings.TrimSpace(cmp.Or(key, "-")+") "+label))
		}
	}
	return strings.Join(rows, "\n")
}

// readEdited reads what was written, made safe as a paste is.
func readEdited(file, below string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("what was written cannot be read: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(maxText+len(below)+1)))
	if err != nil {
		return "", fmt.Errorf("what was written cannot be read: %w", err)
	}
	data, _, _ = bytes.Cut(data, []byte(scissors))
	if len(data) > maxText {
		return "", fmt.Errorf("that is longer than an answer can be; it is kept in %s", file)
	}
	return strings.TrimRight(Clean(string(data)), "\n"), nil
}
