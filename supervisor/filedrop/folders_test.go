package filedrop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints/files"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"
)

func openFileDrop(tb testing.TB, claude string) *Folders {
	tb.Helper()
	d, err := OpenFolders(claude)
	noError(tb, err)
	return d
}

func put(tb testing.TB, d *Folders, name, text string) {
	tb.Helper()
	noError(tb, os.WriteFile(d.at(name), []byte(text), 0o600))
}

// lies lists the files below .claude, by their names.
func lies(tb testing.TB, d *Folders) map[string]string {
	tb.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(d.claude, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, d.claude+"/")] = string(text)
		return err
	})
	noError(tb, err)
	return files
}

var postedQuestion = QuestionFile{
	ID: "q-h4k7mp", Question: "Which auth method: OAuth or JWT?", Options: []string{"oauth", "jwt"},
	AskedAt: time.Date(2025, 10, 19, 14, 32, 0, 0, time.UTC), AskedBy: "reviewer", Run: testRun, Agent: testAgent,
}

func TestTheFoldersAreMadeForUsAlone(t *testing.T) {
	d := openFileDrop(t, filepath.Join(t.TempDir(), "home", ".claude"))
	for _, name := range []string{"", "questions", pendingFolder, answeredFolder, answersFolder, auditFolder} {
		if info, err := os.Stat(d.at(name)); err != nil || info.Mode() != fs.ModeDir|0o700 {
			t.Errorf("%s: %v (%v)", name, info, err)
		}
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestWhoOnlyLooksMakesNothing(t *testing.T) {
	claude := filepath.Join(t.TempDir(), ".claude")
	if _, err := OpenReadOnly(claude); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("where nothing is: %v", err)
	}
	noError(t, os.MkdirAll(filepath.Join(claude, pendingFolder), 0o700))
	d, err := OpenReadOnly(claude)
	noError(t, err)
	put(t, d, pendingFolder+"/w_q1.json", `{"question": "Which?"}`)
	if questions, problems, err := d.Pending(); len(questions) != 1 || problems != nil || err != nil {
		t.Errorf("%v, %v (%v)", questions, problems, err)
	}
	if d.Answered("w_q1") || d.Answered("../x") {
		t.Error("an answer, where there is no folder for it")
	}
	if made, err := os.ReadDir(claude); err != nil || len(made) != 1 {
		t.Errorf("made %v (%v)", made, err)
	}
	noError(t, os.RemoveAll(claude))
	if questions, problems, err := d.Pending(); questions != nil || problems != nil || err != nil {
		t.Errorf("of folders that are gone: %v, %v (%v)", questions, problems, err)
	}
	if _, err := d.Question("w_q1"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestAFolderThatCannotBeUsedIsNamed(t *testing.T) {
	elsewhere := t.TempDir()
	for _, name := range []string{"questions", pendingFolder, answeredFolder, answersFolder, auditFolder} {
		for kind, make := range map[string]func(path string) error{
			"a symlink": func(path string) error { return os.Symlink(elsewhere, path) },
			"a file":    func(path string) error { return os.WriteFile(path, nil, 0o600) },
			"another user's": func(path string) error {
				if os.Geteuid() != 0 {
					return os.Symlink("/", path) // only root can give a folder away
				}
				return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 65534, 65534))
			},
		} {
			claude := t.TempDir()
			path := filepath.Join(claude, name)
			noError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), make(path)))
			if _, err := OpenFolders(claude); !errors.Is(err, files.ErrUnsafeDir) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s is %s: %v", name, kind, err)
			}
		}
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("made %v elsewhere (%v)", left, err)
	}
	if _, err := OpenFolders("/dev/null/.claude"); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("where no folder can be: %v", err)
	}
}

func TestTheFolderClaudeItselfMayBeASymlink(t *testing.T) {
	real, link := t.TempDir(), filepath.Join(t.TempDir(), ".claude")
	noError(t, os.Symlink(real, link))
	d := openFileDrop(t, link)
	if err := d.Post(postedQuestion); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(real, pendingFolder, "q-h4k7mp.json")); err != nil {
		t.Error(err)
	}
}

func TestAnIDThatIsNoFileNameReachesNoFile(t *testing.T) {
	d := openFileDrop(t, filepath.Join(t.TempDir(), ".claude"))
	for _, id := range []string{"", ".", "..", ".hidden", "a/b", "../../x", "/etc/passwd", "a\x00b",
		"a b", "a\nb", strings.Repeat("x", 4096)} {
		q := postedQuestion
		q.ID = id
		_, read := d.Question(id)
		_, taken := d.Unanswer(id)
		for method, err := range map[string]error{
			"Post": d.Post(q), "Question": read, "Answer": d.Answer(id, "a"), "Unanswer": taken, "Consume": d.Consume(id),
			"Reject": d.Reject(id, "no"), "Withdraw": d.Withdraw(id), "Close": d.Close(id, Answered{Answer: "a"}),
		} {
			if !errors.Is(err, ErrBadID) || strings.ContainsAny(err.Error(), "\x00\n") || len(err.Error()) > 500 {
				t.Errorf("%s(%.20q): %v", method, id, err)
			}
		}
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestAQuestionIsPostedReadAndWithdrawn(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for range 2 {
		noError(t, d.Post(postedQuestion))
	}
	got, err := d.Question(postedQuestion.ID)
	if err != nil || !got.Ours() {
		t.Fatal(got, err)
	}
	if diff := cmp.Diff(&postedQuestion, got, wheneverWritten); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(d.at(pendingFolder + "/q-h4k7mp.json")); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
	changed := postedQuestion
	changed.Context = "More is known by now."
	noError(t, d.Post(changed))
	if got, err := d.Question(changed.ID); err != nil || got.Context != changed.Context {
		t.Errorf("%v (%v)", got, err)
	}
	for range 2 {
		if err := d.Withdraw(postedQuestion.ID); err != nil {
			t.Error(err)
		}
	}
	if _, err := d.Question(postedQuestion.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("withdrawn, and still: %v", err)
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

func TestAFileThatAnotherHasPutThereIsLeftAsItIs(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	other := postedQuestion
	other.Run = "r-00000000"
	text, err := other.encode()
	noError(t, err)
	for kind, c := range map[string]struct {
		text      string
		withdrawn error
	}{
		"a script's":            {`{"question": "?"}`, files.ErrNotOurs},
		"half a file":           {`{"question": "?`, files.ErrNotOurs},
		"another supervisor's":  {string(text), nil},
		"one that was emptied":  {"", files.ErrNotOurs},
		"one with other markup": {"<question/>", files.ErrNotOurs},
	} {
		put(t, d, pendingFolder+"/q-h4k7mp.json", c.text)
		if err := d.Post(postedQuestion); !errors.Is(err, files.ErrNotOurs) {
			t.Errorf("posted over %s: %v", kind, err)
		}
		if got := lies(t, d)[pendingFolder+"/q-h4k7mp.json"]; got != c.text {
			t.Errorf("%s is now %q", kind, got)
		}
		if err := d.Withdraw(postedQuestion.ID); !errors.Is(err, c.withdrawn) {
			t.Errorf("withdrew %s: %v", kind, err)
		}
	}
}

func TestAPostedQuestionSaysNothingToATerminal(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	q := postedQuestion
	q.Question = "a\x1b[2Jb\r\nc\u009bd"
	q.Options = []string{"\x07yes", "no\x00"}
	q.Questions = []FileQuestion{{ID: "1\x1b", Question: "\x1bmore"}}
	noError(t, d.Post(q))
	got, err := d.Question(q.ID)
	noError(t, err)
	q.Question, q.Options, q.Questions = "a[2Jb\nc"+"d", []string{"yes", "no"}, []FileQuestion{{ID: "1", Question: "more"}}
	if diff := cmp.Diff(&q, got, wheneverWritten); diff != "" {
		t.Error(diff)
	}
}

func TestAQuestionThatNobodyCouldReadBackIsNotPosted(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	nothing, large, broken, nobodys := postedQuestion, postedQuestion, postedQuestion, postedQuestion
	nothing.Question = ""
	large.Context = strings.Repeat("x", fileDropMax)
	broken.Other = map[string]json.RawMessage{"x": json.RawMessage(`{"a": 1, "a": 2}`)}
	nobodys.Run = ""
	for name, q := range map[string]QuestionFile{"nothing": nothing, "large": large, "broken": broken,
		"nobody's": nobodys} {
		if err := d.Post(q); err == nil || name != "nobody's" && !errors.Is(err, ErrBadQuestionFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := lies(t, d); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// hostile puts files of all kinds that are not read into a folder, and gives their names.
func hostile(t *testing.T, d *Folders, folder, suffix, good string) []string {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	at := func(name string) string { return d.at(folder + "/" + name + suffix) }
	if err := errors.Join(
		os.WriteFile(secret, []byte(good), 0o600),
		os.Symlink(secret, at("link")),
		unix.Mkfifo(at("fifo"), 0o600),
		os.Mkdir(at("folder"), 0o700),
		os.WriteFile(at("large"), bytes.Repeat([]byte(strings.TrimSuffix(good, "\n")), 1+fileDropMax/(len(good)-1)), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	names := []string{"link", "fifo", "folder", "large"}
	if os.Geteuid() == 0 {
		put(t, d, folder+"/foreign"+suffix, good)
		noError(t, os.Chown(at("foreign"), 65534, 65534))
		names = append(names, "foreign")
	}
	return names
}

func TestAQuestionIsReadFromARegularFileOfOursOnly(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for _, id := range hostile(t, d, pendingFolder, ".json", `{"question": "secret"}`) {
		if q, err := d.Question(id); !errors.Is(err, ErrBadQuestionFile) {
			t.Errorf("%s: %v, %v", id, q, err)
		}
		if err := d.Withdraw(id); !errors.Is(err, files.ErrNotOurs) {
			t.Errorf("withdrew %s: %v", id, err)
		}
	}
	if q, err := d.Question("missing"); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrBadQuestionFile) {
		t.Errorf("missing: %v, %v", q, err)
	}
}

func TestPendingListsWhatCanBeReadAndSaysWhatCannot(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	noError(t, d.Post(postedQuestion))
	put(t, d, pendingFolder+"/workflow_1_q1.json", `{"question": "Which?"}`)
	put(t, d, pendingFolder+"/half.json", `{"question": "Whi`)
	put(t, d, pendingFolder+"/no id.json", `{"question": "Which?"}`)
	put(t, d, pendingFolder+"/.hidden.json", `{"question": "Which?"}`)
	put(t, d, pendingFolder+"/notes.txt", `{"question": "Which?"}`)
	hostile(t, d, pendingFolder, ".json", `{"question": "secret"}`)
	questions, problems, err := d.Pending()
	want := []QuestionFile{postedQuestion, {ID: "workflow_1_q1", Question: "Which?"}}
	if diff := cmp.Diff(want, questions, cmpopts.EquateEmpty(), wheneverWritten); diff != "" || err != nil {
		t.Error(err, diff)
	}
	reasons := map[string]error{}
	for _, p := range problems {
		reasons[p.Name] = p.Err
	}
	for name, want := range map[string]error{
		"half.json": ErrBadQuestionFile, "no id.json": ErrBadID, "link.json": files.ErrNotOurs, "fifo.json": files.ErrNotOurs,
		"folder.json": files.ErrNotOurs, "large.json": ErrBadQuestionFile,
	} {
		if !errors.Is(reasons[name], want) {
			t.Errorf("%s: %v, want %v", name, reasons[name], want)
		}
	}
}

func TestAFolderThatSomebodyHasFilledIsReadInPart(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	for i := range dropMost + 10 {
		put(t, d, fmt.Sprintf("%s/q%04d.json", pendingFolder, i), `{"question": "?"}`)
	}
	questions, problems, err := d.Pending()
	if err != nil || len(questions) != dropMost || len(problems) != 1 || !errors.Is(problems[0].Err, errCrowded) {
		t.Errorf("%d questions, %v (%v)", len(questions), problems, err)
	}
}

func TestFoldersThatAreGoneAreMadeAgain(t *testing.T) {
	d := openFileDrop(t, filepath.Join(t.TempDir(), ".claude"))
	for name, use := range map[string]func() error{
		"Post":     func() error { return d.Post(postedQuestion) },
		"Answer":   func() error { return d.Answer("a", "b") },
		"Consume":  func() error { return d.Consume("a") },
		"Reject":   func() error { return d.Reject("a", "b") },
		"Withdraw": func() error { return d.Withdraw("a") },
		"Close":    func() error { return d.Close("a", Answered{Answer: "b"}) },
		"Pending":  func() error { _, _, err := d.Pending(); return err },
	} {
		noError(t, os.RemoveAll(d.claude))
		if err := use(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wheneverWritten leaves out when a question file was written.
var wheneverWritten = cmpopts.IgnoreFields(QuestionFile{}, "WrittenAt")

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const (
	testRun   = "r-k3v9x2ab"
	testAgent = "a-7Qm2xK9fWb4T"
)
