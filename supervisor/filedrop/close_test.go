package filedrop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

const auditLog = auditFolder + "/questions.log"

// givenAnswer is an answer half a minute after postedQuestion was asked.
var givenAnswer = Answered{
	Question: "Which auth method: OAuth or JWT?", Answer: "oauth", Path: "terminal",
	Asked: postedQuestion.AskedAt, At: postedQuestion.AskedAt.Add(30*time.Second + 999*time.Millisecond),
}

const givenLine = "2025-10-19T14:32:30Z | q-h4k7mp | Which auth method: OAuth or JWT? | oauth | 30s | terminal\n"

const closedQuestion = `{
  "question": "Which auth method: OAuth or JWT?",
  "options": ["oauth","jwt"],
  "workflow_id": "",
  "checkpoint": "",
  "asked_at": "2025-10-19T14:32:00Z",
  "asked_by": "reviewer",
  "context": "",
  "claude_supervise": {"run":"r-k3v9x2ab","agent":"a-7Qm2xK9fWb4T"},
  "answer": "oauth",
  "answered_at": "2025-10-19T14:32:30Z",
  "response_seconds": 30,
  "path": "terminal"
}
`

func TestAnAnsweredQuestionMovesAndGetsALineInTheLog(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	noError(t, d.Post(postedQuestion))
	here := givenAnswer
	here.At = here.At.In(time.FixedZone("", 7200))
	// twice, or by a process that knows the time otherwise: once
	for _, a := range []Answered{givenAnswer, givenAnswer, here} {
		noError(t, d.Close("q-h4k7mp", a))
		want := map[string]string{answeredFolder + "/q-h4k7mp.json": closedQuestion, auditLog: givenLine}
		if diff := cmp.Diff(want, lies(t, d)); diff != "" {
			t.Error(diff)
		}
	}
}

// The steps of Close are: answered/ID.json, the line, the end of pending/ID.json. Each state that a crash can leave is
// finished by doing it again.
func TestClosingIsFinishedAfterACrashWithTheLineOnce(t *testing.T) {
	text, err := postedQuestion.encode()
	noError(t, err)
	const pending, answered = pendingFolder + "/q-h4k7mp.json", answeredFolder + "/q-h4k7mp.json"
	for name, left := range map[string]map[string]string{
		"before the first step": {pending: string(text)},
		"after the first":       {pending: string(text), answered: closedQuestion},
		"within the second": {pending: string(text), answered: closedQuestion,
			auditLog: "an older line\n" + givenLine[:40]},
		"after the second":          {pending: string(text), answered: closedQuestion, auditLog: givenLine},
		"after others went on":      {pending: string(text), answered: closedQuestion, auditLog: "x\n" + givenLine + "y\n"},
		"and the file was removed":  {answered: closedQuestion},
		"and the log was truncated": {answered: closedQuestion, auditLog: ""},
	} {
		d := openFileDrop(t, t.TempDir())
		for name, text := range left {
			put(t, d, name, text)
		}
		for range 2 {
			noError(t, d.Close("q-h4k7mp", givenAnswer))
		}
		got := lies(t, d)
		if log := got[auditLog]; strings.Count(log, givenLine) != 1 || !strings.Contains("\n"+log, "\n"+givenLine) {
			t.Errorf("%s: the log is %q", name, log)
		}
		if got[answered] != closedQuestion || got[pending] != "" {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestAQuestionThatItsScriptHasRemovedIsClosedAllTheSame(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	noError(t, d.Close("w_q1", givenAnswer))
	want := strings.ReplaceAll(givenLine, "q-h4k7mp", "w_q1")
	if got := lies(t, d)[auditLog]; got != want {
		t.Errorf("%q", got)
	}
	var file struct {
		Question, Answer string
		Seconds          int `json:"response_seconds"`
	}
	if err := json.Unmarshal([]byte(lies(t, d)[answeredFolder+"/w_q1.json"]), &file); err != nil ||
		file.Question != givenAnswer.Question ||
		file.Answer != "oauth" || file.Seconds != 30 {
		t.Errorf("%+v (%v)", file, err)
	}
}

func TestAnotherQuestionOfTheSameNameIsAnotherOne(t *testing.T) {
	for name, ask := range map[string]func(d *Folders){
		"with its file": func(d *Folders) {
			put(t, d, pendingFolder+"/w_q1.json", `{"question": "And now?"}`)
		},
		"that its script has removed already": func(*Folders) {},
	} {
		d := openFileDrop(t, t.TempDir())
		noError(t, d.Close("w_q1", givenAnswer))
		ask(d)
		later := Answered{Question: "And now?", Answer: "jwt", Path: "file", Asked: givenAnswer.At.Add(time.Hour),
			At: givenAnswer.At.Add(2 * time.Hour)}
		noError(t, d.Close("w_q1", later))
		want := strings.ReplaceAll(givenLine, "q-h4k7mp", "w_q1") +
			"2025-10-19T16:32:30Z | w_q1 | And now? | jwt | 3600s | file\n"
		if got := lies(t, d); got[auditLog] != want || !strings.Contains(got[answeredFolder+"/w_q1.json"], "jwt") {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhatIsUnknownOfAnAnswerIsNotMadeUp(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	put(t, d, pendingFolder+"/w_q1.json", `{"questions": ["a", "b"], "answer": null, "path": "mine", "x": 1}`)
	noError(t, d.Close("w_q1", Answered{Question: "unused", Answer: "c", Path: "web", At: givenAnswer.At}))
	got := lies(t, d)
	if log := got[auditLog]; log != "2025-10-19T14:32:30Z | w_q1 | a / b | c | ? | web\n" {
		t.Errorf("%q", log)
	}
	var file map[string]any
	noError(t, json.Unmarshal([]byte(got[answeredFolder+"/w_q1.json"]), &file))
	for name, want := range map[string]any{"answer": "c", "path": "web", "response_seconds": nil,
		"x": 1.0, "question": ""} {
		if got, there := file[name]; got != want || !there {
			t.Errorf("%s is %v", name, got)
		}
	}
}

func TestAClockThatWasSetBackTakesNoTime(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	a := givenAnswer
	a.Asked = a.At.Add(time.Hour)
	if err := d.Close("w_q1", a); err != nil || !strings.Contains(lies(t, d)[auditLog], " | 0s | ") {
		t.Errorf("%v (%v)", lies(t, d), err)
	}
}

func TestNoFieldOfTheLogEndsItsFieldOrLine(t *testing.T) {
	for text, want := range map[string]string{
		"a | b":                   `a \| b`,
		"a\nb\r\tc":               `a\nb\r\tc`,
		`a\|b`:                    `a\\\|b`,
		"\x1b[31mred\u009b":       `\x1b[31mred\u009b`,
		"\u2028\u202e\x00":        `\u2028\u202e\x00`,
		"\xff":                    "\ufffd",
		`"é" '漢'`:                 `"é" '漢'`,
		strings.Repeat("x", 9999): strings.Repeat("x", auditField+1) + "…",
	} {
		if got := auditText(text); got != want {
			t.Errorf("%.40q: %.80s", text, got)
		}
	}
}

func TestAQuestionFileThatCannotBeReadIsKeptAside(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	put(t, d, pendingFolder+"/half.json", `{"question": "Whi`)
	for _, id := range append(hostile(t, d, pendingFolder, ".json", `{"question": "secret"}`), "half") {
		if err := d.Close(id, givenAnswer); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(d.at(pendingFolder + "/" + id + ".json")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is pending still (%v)", id, err)
		}
		if _, err := os.Lstat(d.at(answeredFolder + "/" + id + ".unreadable")); err != nil {
			t.Error(err)
		}
		if text := lies(t, d)[answeredFolder+"/"+id+".json"]; !strings.Contains(text, "oauth") ||
			strings.Contains(text, "secret") {
			t.Errorf("%s: %q", id, text)
		}
	}
}

func TestAFileThatTheDocumentsMainAgentHasMovedIsCompleted(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	put(t, d, answeredFolder+"/w_q1.json", `{"question": "Which?", "asked_at": "2025-10-19T14:32:00Z", "context": "kept"}`)
	noError(t, d.Close("w_q1", Answered{Answer: "oauth", Path: "web", At: givenAnswer.At}))
	got := lies(t, d)
	if log := got[auditLog]; log != "2025-10-19T14:32:30Z | w_q1 | Which? | oauth | 30s | web\n" {
		t.Errorf("%q", log)
	}
	if text := got[answeredFolder+"/w_q1.json"]; !strings.Contains(text, "kept") || !strings.Contains(text, "oauth") {
		t.Error(text)
	}
}

func TestOfManyWhoCloseAQuestionAtOnceOneDoes(t *testing.T) {
	claude := t.TempDir()
	d := openFileDrop(t, claude)
	noError(t, d.Post(postedQuestion))
	var wg sync.WaitGroup
	for i := range 8 {
		other := openFileDrop(t, claude)
		wg.Go(func() {
			a := givenAnswer
			a.At = a.At.Add(time.Duration(i) * time.Second)
			if err := other.Close("q-h4k7mp", a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got := lies(t, d)
	if strings.Count(got[auditLog], "\n") != 1 || len(got) != 2 {
		t.Errorf("%v", got)
	}
}

func TestManyQuestionsThatAreClosedAtOnceHaveWholeLines(t *testing.T) {
	claude := t.TempDir()
	var wg sync.WaitGroup
	for i := range 16 {
		d := openFileDrop(t, claude)
		wg.Go(func() {
			a := givenAnswer
			a.Answer = strings.Repeat("long ", 500)
			if err := d.Close("w_q"+string(rune('a'+i)), a); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	lines := strings.Split(strings.TrimSuffix(lies(t, openFileDrop(t, claude))[auditLog], "\n"), "\n")
	if len(lines) != 16 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if fields := strings.Split(line, " | "); len(fields) != 6 || fields[5] != "terminal" {
			t.Errorf("%q", line)
		}
	}
}

func TestALogThatIsNoFileOfOursIsNotWritten(t *testing.T) {
	secret := t.TempDir() + "/secret"
	for kind, make := range map[string]func(path string) error{
		"a symlink": func(path string) error { return os.Symlink(secret, path) },
		"a FIFO":    func(path string) error { return unix.Mkfifo(path, 0o600) },
		"a folder":  func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		d := openFileDrop(t, t.TempDir())
		noError(t, errors.Join(d.Post(postedQuestion), make(d.at(auditLog))))
		if err := d.Close("q-h4k7mp", givenAnswer); err == nil {
			t.Errorf("closed, with the log %s", kind)
		}
		if _, err := d.Question("q-h4k7mp"); err != nil {
			t.Errorf("the log is %s: %v", kind, err)
		}
	}
	if _, err := os.Stat(secret); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("wrote elsewhere (%v)", err)
	}
}

func TestALogThatSomebodyKeepsIsWaitedForAndNoLonger(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	held := flock.New(d.at(auditFolder), flock.SetFlag(os.O_RDONLY))
	noError(t, errors.Join(d.Post(postedQuestion), held.Lock()))
	if _, err := openAudit(d.at(auditFolder), 20*time.Millisecond); !errors.Is(err, errAuditBusy) {
		t.Errorf("while another keeps it: %v", err)
	}
	closed := make(chan error)
	go func() { closed <- d.Close("q-h4k7mp", givenAnswer) }()
	noError(t, held.Close())
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestALineThatDidNotFitOnTheDiskIsTakenBackAndComesLater(t *testing.T) {
	const alone = "CLAUDE_SUPERVISE_TEST_FULL_DISK" // in a process of its own, with that folder
	if folder := os.Getenv(alone); folder != "" {
		noError(t, closeOnAFullDisk(folder))
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), alone+"="+t.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// closeOnAFullDisk lets no file grow beyond a few bytes of the line, which is what a full disk does. The limit is the
// whole process's.
func closeOnAFullDisk(folder string) error {
	d, err := OpenFolders(folder)
	if err != nil {
		return err
	}
	older := strings.Repeat("an older line\n", 300)
	if err := errors.Join(d.Post(postedQuestion), os.WriteFile(d.at(auditLog), []byte(older), 0o600)); err != nil {
		return err
	}
	var usual unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &usual); err != nil {
		return err
	}
	signal.Ignore(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: uint64(len(older) + 20), Max: usual.Max}); err != nil {
		return err
	}
	if err := d.Close("q-h4k7mp", givenAnswer); !errors.Is(err, unix.EFBIG) {
		return fmt.Errorf("closed on a full disk: %w", err)
	}
	if log, err := os.ReadFile(d.at(auditLog)); err != nil || string(log) != older {
		return fmt.Errorf("the log ends in %q: %w", log[len(older):], err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &usual); err != nil {
		return err
	}
	if err := d.Close("q-h4k7mp", givenAnswer); err != nil {
		return err
	}
	if log, err := os.ReadFile(d.at(auditLog)); err != nil || string(log) != older+givenLine {
		return fmt.Errorf("with room again the log ends in %q: %w", log[len(older):], err)
	}
	return nil
}

func TestALineLongerThanAnyOfOursIsNoneOfThem(t *testing.T) {
	d := openFileDrop(t, t.TempDir())
	long := strings.Repeat("x", 64<<10)
	line := strings.TrimSuffix(givenLine, "\n")
	put(t, d, auditLog, long+line+"\n"+line+long+"\n")
	log, err := openAudit(d.at(auditFolder), auditPatience)
	noError(t, err)
	defer log.close()
	if left, err := log.missing([]string{line}); len(left) != 1 || err != nil {
		t.Errorf("%q are missing (%v)", left, err)
	}
	noError(t, log.add(line, true))
	if left, err := log.missing([]string{line}); len(left) > 0 || err != nil {
		t.Errorf("%q are missing (%v)", left, err)
	}
}

func FuzzAuditLine(f *testing.F) {
	f.Add("a | b", `\`, "\n")
	f.Add("\x1b]0;x\a\u2028", "\xff", `\|`)
	f.Fuzz(func(t *testing.T, question, answer, path string) {
		a := givenAnswer
		a.Answer, a.Path = answer, path
		line := auditLine("w_q1", &QuestionFile{Question: question}, a)
		if strings.ContainsFunc(line, func(r rune) bool { return !strconv.IsPrint(r) }) || len(line) > 4*auditField {
			t.Fatalf("%q", line)
		}
		if bare := strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, ""); strings.Count(bare, "|") != 5 {
			t.Fatalf("%q has other than 6 fields", line)
		}
	})
}

func TestTheQuestionOfAScriptThatIsGoneIsRemovedWithItsAnswer(t *testing.T) {
	claude := filepath.Join(t.TempDir(), ".claude")
	d, err := OpenFolders(claude)
	noError(t, err)
	pending := filepath.Join(claude, "questions", "pending", "w_q1.json")
	noError(t, os.WriteFile(pending, []byte(`{"question": "Which?"}`), 0o600))
	noError(t, d.Answer("w_q1", "this"))
	for range 2 { // it may be done again after a crash
		noError(t, d.Discard("w_q1"))
	}
	if _, err := os.Stat(pending); !os.IsNotExist(err) || d.Answered("w_q1") {
		t.Errorf("it is left: %v", err)
	}
	if err := d.Discard("../w_q1"); !errors.Is(err, ErrBadID) {
		t.Errorf("it says %v", err)
	}
}
