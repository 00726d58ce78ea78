package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/e2e/machinetest"
)

// pending is where a question lies as a file.
func (w *world) pending(id string) string {
	return filepath.Join(w.Home, ".claude", "questions", "pending", id+".json")
}

// hasCheckpoint checks that a checkpoint of ours has all that the hybrid document's has.
func (w *world) hasCheckpoint(path string) {
	w.t.Helper()
	text, err := os.ReadFile(path)
	noError(w.t, err)
	c := parse[map[string]any](w.t, string(text))
	for _, name := range []string{"workflow_id", "workflow_type", "current_step", "completed_steps", "pending_steps", "files",
		"state_variables", "context", "next_action", "user_answer"} {
		if _, there := c[name]; !there {
			w.t.Errorf("%s lacks %s", text, name)
		}
	}
	if c["user_answer"] != nil {
		w.t.Errorf("it is answered before anybody has: %s", text)
	}
}

// answerFile is where its answer is looked for.
func (w *world) answerFile(id string) string {
	return filepath.Join(w.Home, ".claude", "answers", id+".txt")
}

// filed lists the files of a folder of questions or answers.
func (w *world) filed(folder string) []string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.Home, ".claude", folder))
	noError(w.t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// closed checks that a question lies among the answered ones, and has one line in the audit log.
func (w *world) closed(id, answer, path string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.Home, ".claude", "questions", "answered", id+".json"))
	noError(w.t, err)
	q := parse[struct {
		Question, Answer, Path string
		AnsweredAt             string `json:"answered_at"`
		Seconds                *int   `json:"response_seconds"`
	}](w.t, string(text))
	if q.Answer != answer || !strings.Contains(q.Path, path) || q.AnsweredAt == "" || q.Seconds == nil {
		w.t.Errorf("answered/%s.json is %s", id, text)
	}
	log, err := os.ReadFile(filepath.Join(w.Home, ".claude", "audit", "questions.log"))
	noError(w.t, err)
	var lines []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, " | "+id+" | ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 1 || !strings.Contains(lines[0], " | "+q.Question+" | "+answer+" | ") {
		w.t.Errorf("the audit log has %q", lines)
	}
}

// puts puts an answer where a person would.
func (w *world) puts(id, text string) {
	w.t.Helper()
	noError(w.t, os.WriteFile(w.answerFile(id), []byte(text), 0o600))
}

// asksThree starts a run that asks three questions at once, and gives them.
func (w *world) asksThree() (run *supervised, name, port, level string) {
	w.t.Helper()
	w.standIn(load(w.t, "several"))
	run = w.start("run", "--cwd", ".", "--demo", "several", "--hold", "forever", "--on-question", "ask")
	ids := []string{run.until("question").Question.ID, run.until("question").Question.ID,
		run.until("question").Question.ID}
	for _, id := range ids {
		waitFor(w.t, w.pending(id))
	}
	return run, ids[0], ids[1], ids[2]
}

// rejected waits for the reason why an answer was not taken.
func (w *world) rejected(id string) (text string) {
	w.t.Helper()
	path := strings.TrimSuffix(w.answerFile(id), ".txt") + ".rejected"
	for !strings.Contains(text, "rejected: ") { // it has its new name before the reason
		waitFor(w.t, path)
		found, err := os.ReadFile(path)
		noError(w.t, err)
		text = string(found)
	}
	noError(w.t, os.Remove(path))
	return text
}

// succeeds waits for the end of a run.
func (w *world) succeeds(run *supervised) {
	w.t.Helper()
	run.exits(0)
}

// Whatever channel a question comes by, it is a file in the document's shape, and a file answers it.
func TestEveryQuestionThatAnybodyMayAnswerIsAFile(t *testing.T) {
	t.Parallel()
	for channel, scenario := range map[string]string{
		"a block": "ask", "JSON": "json-form", "AskUserQuestion": "tool-ask", "a stop": "stop", "several at once": "several",
		"the skill's signal": "mutation-testing", "the skill's pause": "business-rules",
	} {
		t.Run(channel, func(t *testing.T) {
			t.Parallel()
			w, s := demoWorld(t), load(t, scenario)
			run := w.standIn(s).start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
			answers := map[string]string{}
			for len(answers) < len(s.Answers) {
				q := run.until("question").Question
				waitFor(t, w.pending(q.ID))
				text, err := os.ReadFile(w.pending(q.ID))
				noError(t, err)
				file := parse[struct {
					Question   string
					Options    []string
					WorkflowID string `json:"workflow_id"`
					AskedAt    string `json:"asked_at"`
					AskedBy    string `json:"asked_by"`
					Checkpoint string
					Ours       struct{ Run, Agent string } `json:"claude_supervise"`
				}](t, string(text))
				if file.Question != q.Question || file.Options == nil || file.AskedAt == "" || file.Ours.Run != q.Run ||
					file.WorkflowID != q.Run || file.AskedBy == "" || file.Ours.Agent != file.AskedBy {
					t.Errorf("the file is %s", text)
				}
				if strings.HasSuffix(file.Checkpoint, q.Agent+".checkpoint.json") {
					w.hasCheckpoint(file.Checkpoint)
				} else if !filepath.IsAbs(file.Checkpoint) {
					t.Errorf("its agent's checkpoint is %q", file.Checkpoint)
				}
				answers[q.ID] = answerTo(t, s, q.Question)
				w.puts(q.ID, answers[q.ID]+"\n")
			}
			w.succeeds(run)
			for name, want := range s.Expect.Files {
				w.written(name, want)
			}
			for id, answer := range answers {
				w.closed(id, answer, "answer file")
			}
			if left := append(w.filed("questions/pending"), w.filed("answers")...); len(left) > 0 {
				t.Errorf("%q are left", left)
			}
		})
	}
}

func TestAPermissionIsNeitherAFileNorAnsweredByOne(t *testing.T) {
	t.Parallel()
	w, s := demoWorld(t), load(t, "permission")
	run := w.standIn(s).start(w.runArgs(s, "--hold", "forever", "--on-question", "ask")...)
	id := run.until("question").Question.ID
	w.puts(id, "allow\n")
	if why := w.rejected(
		id); why != "allow\nrejected: a question of permission is not answered by file: claude-supervise answer "+id+"\n" {
		t.Errorf("it says %q", why)
	}
	run.waitsFor(id + ".txt was not taken: a question of permission is not answered by file")
	w.must("answer", id, "allow")
	w.succeeds(run)
	if files := append(w.filed("questions/pending"), w.filed("questions/answered")...); len(files) > 0 {
		t.Errorf("it lies in %q", files)
	}
}

// An answer by file is read as one that is typed: a number, a letter, a label or the start of one; its first line
// counts.
func TestAnAnswerFileIsReadAsWhatIsTyped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2\n": "Sessions", "b\n": "Sessions", "sess\n": "Sessions", "  JWT \r\nthe rest\n": "JWT",
		"\ufeffpasskeys, please\n":            "passkeys, please",
		"\xff\xfes\x00e\x00s\x00\r\x00\n\x00": "Sessions", "Schl\xfcssel": "Schlüssel", // of Windows
		"1": "JWT", // without an end, once it has not changed for a second
	} {
		t.Run(strconv.QuoteToASCII(strings.TrimSpace(text)), func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			run := w.start("run", "--cwd", ".", "--demo", "ask", "--on-question", "ask")
			w.puts(run.until("question").Question.ID, text)
			w.succeeds(run)
			w.written("auth.txt", "login by "+want+"\n")
		})
	}
}

func TestAnAnswerFileThatTheQuestionForbidsIsRejectedWithTheReason(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, name, port, level := w.asksThree()
	for _, answer := range []string{"eighty", "80.5"} {
		w.puts(port, answer+"\n")
		if why := w.rejected(port); !strings.HasPrefix(why, answer+"\nrejected: ") || !strings.Contains(why, "number") {
			t.Errorf("%s: %q", answer, why)
		}
		run.waitsFor(port + ".txt was not taken")
	}
	w.puts(name, "\x84\n") // of no encoding that is certain
	if why := w.rejected(name); !strings.Contains(why, "it is not UTF-8 text; save it as UTF-8, or answer with: "+
		"claude-supervise answer "+name+" VALUE") {
		t.Errorf("it says %q", why)
	}
	if open := w.questions(); len(open) != 3 {
		t.Errorf("open are %+v", open)
	}
	w.puts(port, "8080\n")
	w.puts(level, "3\n")
	w.puts(name, "ledger\n")
	w.succeeds(run)
	w.written("settings.txt", "name=ledger\nport=8080\nlog=verbose\n")
}

func TestALateAnswerFileChangesNothing(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, name, port, level := w.asksThree()
	w.must("answer", port, "8080")
	run.until("answered")
	w.puts(port, "9090\n")
	if why := w.rejected(port); !strings.Contains(why, "already answered \"8080\"") &&
		!strings.Contains(why, "is answered already") {
		t.Errorf("it says %q", why)
	}
	w.puts(name, "ledger\n")
	run.until("answered")
	w.puts(name, "ledger\n") // once more, as a person does who is not sure
	w.puts(level, "quiet\n")
	w.succeeds(run)
	w.written("settings.txt", "name=ledger\nport=8080\nlog=quiet\n")
	w.closed(name, "ledger", "answer file")
	w.closed(port, "8080", "`claude-supervise answer`")
}

// What is no answer is left where it is, and told of once it has been so for five seconds. It is not followed, and
// nothing that it leads to is touched.
func TestWhatIsNoAnswerFileIsLeftAlone(t *testing.T) {
	t.Parallel()
	type bad struct {
		why string
		put func(w *world, path string) error
	}
	text := func(text string) func(*world, string) error {
		return func(_ *world, path string) error { return os.WriteFile(path, []byte(text), 0o600) }
	}
	const beyond = "ledger\n"
	outside := func(w *world) string { return filepath.Join(w.Cwd, "outside") }
	for name, files := range map[string][3]bad{
		"its text": {
			{"its first line is empty", text("\nledger\n")}, {"its first line is empty", text("\ufeff\n")},
			{"too large: more than 1 MiB", text(strings.Repeat("quiet ", 1<<18))},
		},
		"its kind": {
			{"a symbolic link", func(w *world, path string) error {
				return errors.Join(os.WriteFile(outside(w), []byte(beyond), 0o600), os.Symlink(outside(w), path))
			}},
			{"not a regular file", func(_ *world, path string) error { return syscall.Mkfifo(path, 0o600) }},
			{"not a regular file", func(_ *world, path string) error { return os.Mkdir(path, 0o700) }},
		},
		"its owner": {
			{"another user's", func(w *world, path string) error {
				return errors.Join(os.WriteFile(outside(w), []byte(beyond), 0o644), os.Chown(outside(w), 65534, 65534),
					os.Rename(outside(w), path))
			}},
			{"its first line is empty", text("")}, {"its first line is empty", text(" \t\n")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "its owner" && os.Geteuid() != 0 {
				machinetest.Lacks(t, "only root can give a file to another user: run the tests as root")
			}
			t.Parallel()
			w := demoWorld(t)
			run, one, two, three := w.asksThree()
			ids := []string{one, two, three}
			told := map[string]string{}
			for i, f := range files {
				noError(t, f.put(w, w.answerFile(ids[i])))
			}
			for range files {
				file, why, _ := strings.Cut(run.waitsFor("is left alone: "), ": ")
				told[file] = why
			}
			for i, f := range files {
				if why := told["answers/"+ids[i]+".txt is left alone"]; !strings.Contains(why, f.why) {
					t.Errorf("told %q of what should be %q", why, f.why)
				}
			}
			if open := w.questions(); len(open) != 3 {
				t.Errorf("open are %+v", open)
			}
			for i, answer := range []string{"ledger", "8080", "quiet"} { // in its place, a good one
				noError(t, os.Rename(w.answerFile(ids[i]), filepath.Join(t.TempDir(), "bad")))
				w.puts(ids[i], answer+"\n")
			}
			w.succeeds(run)
			w.written("settings.txt", "name=ledger\nport=8080\nlog=quiet\n")
			if name == "its kind" {
				w.written("outside", beyond)
			}
		})
	}
}

// Half of a letter is no text, and no answer until the other half is there.
func TestAnAnswerFileThatIsBeingWrittenIsTakenWhole(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := w.start("run", "--cwd", ".", "--demo", "ask", "--on-question", "ask")
	id := run.until("question").Question.ID
	f, err := os.OpenFile(w.answerFile(id), os.O_CREATE|os.O_WRONLY, 0o600)
	noError(t, err)
	for _, part := range []string{"cl\xc3", "\xa9s", " USB\n"} {
		if _, err := f.WriteString(part); err != nil {
			t.Fatal(err)
		}
		w.must("questions") // meanwhile somebody looks
	}
	noError(t, f.Close())
	w.succeeds(run)
	w.written("auth.txt", "login by clés USB\n")
}

func TestTwoRunsShareTheFoldersOfQuestionsAndAnswers(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	folders := []string{t.TempDir(), t.TempDir()}
	answers := []string{"JWT", "Sessions"}
	var runs []*supervised
	var ids []string
	for _, folder := range folders {
		run := w.start("run", "--demo", "ask", "--on-question", "ask", "--cwd", folder)
		runs, ids = append(runs, run), append(ids, run.until("question").Question.ID)
	}
	for i, id := range ids {
		waitFor(t, w.pending(id))
		w.puts(id, answers[i]+"\n")
	}
	for i, run := range runs {
		w.succeeds(run)
		if said := run.stderr.String(); strings.Contains(said, ids[1-i]) {
			t.Errorf("it tells of the other's question:\n%s", said)
		}
		w.closed(ids[i], answers[i], "answer file")
		if text, err := os.ReadFile(filepath.Join(folders[i], "auth.txt")); string(text) != "login by "+answers[i]+"\n" {
			t.Errorf("%s (%v)", text, err)
		}
	}
}

// A folder that cannot be used closes that file drop, and no other.
func TestARunGoesOnWithoutFoldersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world, claude string) error{
		"answers is a file": func(_ *world, claude string) error {
			return os.WriteFile(filepath.Join(claude, "answers"), nil, 0o600)
		},
		"questions leads elsewhere": func(w *world, claude string) error {
			return os.Symlink(w.Cwd, filepath.Join(claude, "questions"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			claude := filepath.Join(w.Home, ".claude")
			noError(t, errors.Join(os.Mkdir(claude, 0o700), spoil(w, claude)))
			run := w.start("run", "--cwd", ".", "--demo", "ask", "--on-question", "ask")
			said := run.waitsFor("cannot be used for questions and answers as files")
			if !strings.HasSuffix(said, "; questions are answered in the other ways") {
				t.Errorf("it says %q", said)
			}
			w.must("answer", run.until("question").Question.ID, "JWT")
			w.succeeds(run)
			if entries, err := os.ReadDir(w.Cwd); len(entries) != 1 { // its auth.txt
				t.Errorf("%v lie where the link leads (%v)", entries, err)
			}
		})
	}
}

// Whoever tidies ~/.claude while a question is open takes nothing from it: it lies there again a second later.
func TestAQuestionOutlivesTheFolderThatItLiesIn(t *testing.T) {
	t.Parallel()
	for _, removed := range []string{".claude", ".claude/questions", ".claude/questions/pending", ".claude/answers"} {
		t.Run(removed, func(t *testing.T) {
			t.Parallel()
			w := demoWorld(t)
			run := w.start("run", "--cwd", ".", "--demo", "ask", "--on-question", "ask")
			id := run.until("question").Question.ID
			waitFor(t, w.pending(id))
			for { // the question may just be on its way into the folder
				err := os.RemoveAll(filepath.Join(w.Home, removed))
				if err == nil {
					break
				}
				if !errors.Is(err, syscall.ENOTEMPTY) {
					t.Fatal(err)
				}
			}
			path := filepath.Join(w.Home, ".claude")
			for _, part := range []string{".", "questions", "pending", id + ".json"} {
				path = filepath.Join(path, part)
				waitFor(t, path)
			}
			waitFor(t, filepath.Dir(w.answerFile(id)))
			w.puts(id, "2\n")
			w.succeeds(run)
			w.written("auth.txt", "login by Sessions\n")
			w.closed(id, "Sessions", "answer file")
		})
	}
}

func TestAQuestionThatNobodyNeedsAnsweredLeavesNoFile(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run := w.start("run", "--cwd", ".", "--demo", "ask", "--on-question", "ask")
	q := run.until("question").Question
	waitFor(t, w.pending(q.ID))
	w.must("stop", q.Run)
	run.exits(5)
	if files := append(w.filed("questions/pending"), w.filed("questions/answered")...); len(files) > 0 {
		t.Errorf("%q are left", files)
	}
}

// A parked question keeps its file, and an answer that is put beside it is found by resume.
func TestAnAnswerFileWaitsForTheNextSupervisor(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	run, question := w.park()
	if _, err := os.Stat(w.pending(question)); err != nil {
		t.Error(err)
	}
	w.puts(question, "2\n")
	w.must("resume", run)
	w.written("auth.txt", "login by Sessions\n")
	w.closed(question, "Sessions", "answer file")
	if left := w.filed("answers"); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
