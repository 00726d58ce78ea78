package filedrop

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/e2e/machinetest"

	"github.com/google/go-cmp/cmp"
)

// The hybrid document's scripts run here as they are printed. A prelude gives them a time, a notification that nobody
// sees, and a sleep of which the test says how long it is: it says that it sleeps, and reads a line from descriptor 3.

const prelude = `
notify-send() { :; }
date() { case "$1" in +%s) echo "$TEST_SECONDS";; *) echo 2025-10-19T14:32:00Z;; esac; }
sleep() { echo sleeping; read -r _ <&3; }
`

// bash prepares a script of the document, which lives in the home of a file drop's .claude folder.
func bash(t *testing.T, d *Folders, script string, more ...string) *exec.Cmd {
	t.Helper()
	for _, tool := range []string{"bash", "jq"} {
		if _, err := exec.LookPath(tool); err != nil {
			machinetest.Lacks(t, "the document's scripts need it: %v", err)
		}
	}
	env := filepath.Join(t.TempDir(), "prelude")
	noError(t, os.WriteFile(env, []byte(prelude+strings.Join(more, "\n")), 0o600))
	cmd := exec.CommandContext(t.Context(), "bash", filepath.Join("testdata", "drop", script))
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(d.claude), "BASH_ENV="+env, "TEST_SECONDS=1729350000")
	cmd.Stderr = os.Stderr
	return cmd
}

func openHome(t *testing.T) *Folders {
	t.Helper()
	return openFileDrop(t, filepath.Join(t.TempDir(), ".claude"))
}

func TestTheDocumentsSubagentIsAnsweredByItsFileDrop(t *testing.T) {
	d := openHome(t)
	w := watchFileDrop(t, d)
	cmd := bash(t, d, "subagent.sh")
	said, err := cmd.StdoutPipe()
	noError(t, err)
	wake, woken, err := os.Pipe()
	noError(t, err)
	cmd.ExtraFiles = []*os.File{wake}
	noError(t, errors.Join(cmd.Start(), wake.Close()))
	lines := bufio.NewScanner(said)
	for lines.Scan() && lines.Text() != "sleeping" {
	}

	e := w.next()
	if e.Kind != QuestionFound {
		t.Fatalf("told %+v", e)
	}
	id := e.ID
	q, err := d.Question(id)
	noError(t, err)
	workflow := strings.TrimSuffix(id, "_q1")
	want := &QuestionFile{
		ID: id, Question: "Which auth method: OAuth or JWT?", Options: []string{"oauth", "jwt"}, WorkflowID: workflow,
		Checkpoint: "/tmp/" + workflow + "_checkpoint.json", AskedAt: postedQuestion.AskedAt,
	}
	if diff := cmp.Diff(want, q, wheneverWritten); diff != "" {
		t.Error(diff)
	}
	noError(t, errors.Join(d.Answer(id, "oauth"), woken.Close()))
	var last []string
	for lines.Scan() {
		last = append(last, lines.Text())
	}
	if diff := cmp.Diff([]string{"Quick response received: oauth", "WORKFLOW_COMPLETE"}, last); diff != "" {
		t.Error(diff)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	gone := map[EventKind]string{w.next().Kind: "", w.next().Kind: ""} // in which order it removed them we may not see
	if diff := cmp.Diff(map[EventKind]string{AnswerGone: "", QuestionGone: ""}, gone); diff != "" {
		t.Error(diff)
	}
	if taken, err := d.Unanswer(id); taken || err != nil {
		t.Errorf("taken back from a script that has it: %v (%v)", taken, err)
	}
}

func TestTheDocumentsSubagentThatEscalatesLeavesItsQuestion(t *testing.T) {
	d := openHome(t)
	cmd := bash(t, d, "subagent.sh")
	seconds := fmt.Sprint("test_", os.Getpid(), "_", time.Now().UnixNano()) // its checkpoint goes to /tmp
	cmd.Env = append(cmd.Env, "TEST_SECONDS="+seconds)
	nobody, err := os.Open(os.DevNull)
	noError(t, err)
	defer func() { _ = nobody.Close() }()
	cmd.ExtraFiles = []*os.File{nobody}
	said, err := cmd.Output()
	checkpoint := "/tmp/workflow_" + seconds + "_checkpoint.json"
	defer func() { _ = os.Remove(checkpoint) }()
	id := "workflow_" + seconds + "_q1"
	if err != nil || !strings.HasSuffix(string(said), "\nQUESTION_ESCALATED:"+id+"\n") {
		t.Fatalf("%s (%v)", said, err)
	}
	q, err := d.Question(id)
	if err != nil || q.Checkpoint != checkpoint {
		t.Fatal(q, err)
	}
	if _, err := checkpoints.ReadCheckpoint(checkpoint); err != nil {
		t.Error(err)
	}
	a := Answered{Answer: "oauth", Path: "terminal", At: q.AskedAt.Add(2 * time.Hour)}
	noError(t, d.Close(id, a))
	if _, err := d.Question(id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("pending still: %v", err)
	}
	if log, want := lies(t, d)[auditLog],
		"2025-10-19T16:32:00Z | "+id+" | Which auth method: OAuth or JWT? | oauth | 7200s | terminal\n"; log != want {
		t.Errorf("%q", log)
	}
}

func TestTheDocumentsClaudeAnswerAnswersOurQuestion(t *testing.T) {
	d := openHome(t)
	q := postedQuestion
	q.ID = "workflow_1729350000_q1" // so that all is as printed
	q.OptionDescriptions, q.MultiSelect, q.QuickWait = []string{"the new one", "the old one"}, true, time.Minute
	noError(t, d.Post(q))
	w := watchFileDrop(t, d)
	w.wantsNext(Event{Kind: QuestionFound, ID: q.ID})
	cmd := bash(t, d, "claude-answer.sh")
	cmd.Stdin = strings.NewReader("workflow_1729350000_q1\noauth\n")
	said, err := cmd.Output()
	noError(t, err)
	var want []string
	_, session, _ := strings.Cut(string(printed(t, "session.txt")), "$ claude-answer\n\n")
	for line := range strings.Lines(session) {
		// bash prompts terminals only
		if !strings.HasPrefix(line, "Question ID to answer: ") && !strings.HasPrefix(line, "Your answer: ") {
			want = append(want, line)
		}
	}
	if diff := cmp.Diff(strings.Join(want, ""), string(said)); diff != "" {
		t.Error(diff)
	}
	w.wantsNext(Event{Kind: AnswerFound, ID: q.ID, Answer: "oauth"})
}

func TestTheDocumentsClaudeAnswerReadsAQuestionWithoutOptions(t *testing.T) {
	d := openHome(t)
	if err := d.Post(QuestionFile{ID: "q-h4k7mp", Question: "What is its name?", Run: testRun,
		Agent: testAgent}); err != nil {
		t.Fatal(err)
	}
	cmd := bash(t, d, "claude-answer.sh")
	cmd.Stdin = strings.NewReader("q-h4k7mp\nfrida\n")
	said, err := cmd.Output()
	if err != nil || !strings.Contains(string(said), "Question: What is its name?\nOptions: \n") {
		t.Errorf("%s (%v)", said, err)
	}
}

func TestAnAnswerByHandAsTheDocumentShowsIt(t *testing.T) {
	d := openHome(t)
	w := watchFileDrop(t, d)
	_, command, _ := strings.Cut(string(printed(t, "by-hand.sh")), "$ ")
	cmd := bash(t, d, "by-hand.sh")
	cmd.Args = []string{"bash", "-c", command}
	noError(t, cmd.Run())
	w.wantsNext(Event{Kind: AnswerFound, ID: "workflow_1729350000_q1", Answer: "oauth"})
}

func TestTheDocumentsReviewAgentAsksItsQuestion(t *testing.T) {
	d := openHome(t)
	cmd := bash(t, d, "review.sh", "WORKFLOW_ID=w")
	noError(t, cmd.Run())
	got, err := d.Question("w_review_decision")
	noError(t, err)
	want := &QuestionFile{
		ID: "w_review_decision", Question: "Review found content overlap. How should we proceed?",
		Options: []string{"merge", "restructure", "proceed"}, WorkflowID: "w", Checkpoint: "/tmp/w_checkpoint.json",
		AskedAt: postedQuestion.AskedAt,
		Context: "Pre-implementation review found duplicate coverage between new section and existing 'Test Execution " +
			"Standards' section",
	}
	if diff := cmp.Diff(want, got, wheneverWritten); diff != "" {
		t.Error(diff)
	}
}

func TestALineOfTheLogIsTheOneThatTheDocumentsScriptWrites(t *testing.T) {
	theirs, ours := openHome(t), openHome(t)
	cmd := bash(t, theirs, "audit.sh", `
		date() { echo 2025-10-19T14:32:30Z; }
		cat() { /bin/cat; }
		QUESTION_ID=q-h4k7mp QUESTION='Which auth method: OAuth or JWT?' ANSWER=oauth RESPONSE_TIME=30 PATH=terminal`)
	noError(t, errors.Join(cmd.Run(), ours.Close("q-h4k7mp", givenAnswer)))
	if diff := cmp.Diff(lies(t, theirs)[auditLog], lies(t, ours)[auditLog]); diff != "" {
		t.Error(diff)
	}
}
