package pack

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

func TestAForgedPackFileChangesNothing(t *testing.T) {
	add := func(more ...forgedEntry) func([]forgedEntry) []forgedEntry {
		return func(es []forgedEntry) []forgedEntry { return append(es, more...) }
	}
	file := func(name, content string) forgedEntry {
		return forgedEntry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600}, content}
	}
	link := func(name, target string) forgedEntry {
		return forgedEntry{tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}, ""}
	}
	edit := func(name, old, new string) func([]forgedEntry) []forgedEntry {
		return func(es []forgedEntry) []forgedEntry {
			for i, e := range es {
				if e.Name == name {
					es[i].content = strings.ReplaceAll(e.content, old, new)
					if es[i].content == e.content {
						panic(name + " does not hold " + old)
					}
				}
			}
			return es
		}
	}
	for name, change := range map[string]func([]forgedEntry) []forgedEntry{
		"an absolute path":               add(file("/etc/x", "")),
		"a path that leaves":             add(file("work/files/../../../x", "")),
		"a path that is not clean":       add(file("work/files/a//b", "")),
		"a backslash":                    add(file(`work/files/a\..\b`, "")),
		"a git folder":                   add(file("work/files/a/.git/config", "")),
		"a git folder by another case":   add(file("work/files/.GIT/hooks/post-checkout", "")),
		"a git folder with an end":       add(file("work/files/.git. /config", "")),
		"a git folder by its short name": add(file("work/files/git~1/config", "")),
		"a git folder, invisibly":        add(file("work/files/.g\u200cit/config", "")),
		"a git file":                     add(file("work/files/.git", "gitdir: /tmp/x")),
		"a file that does not belong":    add(file("logs/owner.lock", "")),
		"another run's log":              add(file("logs/a-000000000000.jsonl", "")),
		"another session's transcript":   add(file("transcripts/00000000-0000-0000-0000-000000000000.jsonl", "")),
		"a bundle beside files":          add(file("work/work.bundle", "")),
		"a device": add(
			forgedEntry{tar.Header{Typeflag: tar.TypeChar, Name: "work/files/null", Devmajor: 1, Devminor: 3}, ""}),
		"a fifo": add(forgedEntry{tar.Header{Typeflag: tar.TypeFifo, Name: "work/files/fifo"}, ""}),
		"a hard link": add(
			forgedEntry{tar.Header{Typeflag: tar.TypeLink, Name: "work/files/hard", Linkname: "/etc/passwd"}, ""}),
		"a symlink to anywhere": add(link("work/files/l", "/etc")),
		"a symlink that leaves": add(link("work/files/a/l", "../../x")),
		"a symlink that leaves by another": add(link("work/files/d/e/f", "../../g"),
			link("work/files/l", "d/e/f/../../../x")),
		"a symlink to a git folder": add(link("work/files/l", ".git")),
		"a file through a symlink":  add(link("work/files/l", "a"), file("work/files/l/x", "")),
		"a symlink over a folder":   add(file("work/files/l/x", ""), link("work/files/l", "a")),
		"a symlink among the logs":  add(link("logs/"+packedAgent+".checkpoint.json", "x")),
		"a file twice":              add(file("work/files/file", "other")),
		"a file in a file":          add(file("work/files/file/x", "")),
		"a name that is too long":   add(file("work/files/"+strings.Repeat("x/", 3000)+"x", "")),
		"no manifest":               func(es []forgedEntry) []forgedEntry { return es[1:] },
		"no run":                    func(es []forgedEntry) []forgedEntry { return es[:1] },
		"the run first": func(es []forgedEntry) []forgedEntry {
			return append([]forgedEntry{es[1], es[0]}, es[2:]...)
		},
		"another run in the manifest": edit(manifestName, packedRun, "r-zzzzzzzz"),
		"a run that is a path":        edit(manifestName, packedRun, "../../x"),
		"a folder that is none":       edit(manifestName, `"folder": "/`, `"folder": "`),
		"an unknown kind of work":     edit(manifestName, `"files"`, `"programs"`),
		"work that is not there":      edit(manifestName, `"files"`, `"git"`),
		"a record that is missing":    edit(runName, `"launches": [`, `"launches": [null,`),
		"a run of another name":       edit(runName, packedRun, "r-zzzzzzzz"),
		"a session that is a path":    edit(runName, `"session_id": "`, `"session_id": "../../`),
		"no JSON":                     edit(runName, `{`, `[`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := newPC(t)
			parent := t.TempDir()
			folder := filepath.Join(parent, "new")
			_, err := there.unpack(forged(t, change), UnpackOptions{Folder: folder})
			if !errors.Is(err, errNotPack) && !errors.Is(err, checkpoints.ErrMalformed) {
				t.Errorf("%v", err)
			}
			if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
				t.Errorf("it made %v (%v)", entries, err)
			}
			if _, err := there.Store.Run(context.Background(), packedRun); !view.NoSuchID(err) {
				t.Errorf("the run: %v", err)
			}
		})
	}
}

func TestAPackFileOfALaterReleaseOrCutShortSaysSo(t *testing.T) {
	whole := forged(t, func(es []forgedEntry) []forgedEntry { return es })
	if _, err := newPC(t).unpack(whole, UnpackOptions{Folder: t.TempDir()}); err != nil {
		t.Fatalf("as it is it cannot be unpacked: %v", err)
	}
	later := forged(t, func(es []forgedEntry) []forgedEntry {
		es[0].content = strings.Replace(es[0].content, `"format": 1`, fmt.Sprintf(`"format": %d`, packFormat+1), 1)
		return es
	})
	if _, err := newPC(t).unpack(later, UnpackOptions{Folder: t.TempDir()}); err == nil ||
		!strings.Contains(err.Error(), "upgrade") {
		t.Errorf("%v", err)
	}
	for _, n := range []int{0, 1, 10, 100, len(whole) / 2, len(whole) - 1} {
		if _, err := newPC(t).unpack(whole[:n], UnpackOptions{Folder: t.TempDir()}); !errors.Is(err, errNotPack) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

func TestAPackFileThatUnpacksWithoutEndIsLeft(t *testing.T) {
	bomb := forged(t, func(es []forgedEntry) []forgedEntry {
		return append(es, forgedEntry{tar.Header{Typeflag: tar.TypeReg, Name: "work/files/zeros", Mode: 0o600},
			string(make([]byte, 2<<20))})
	})
	if len(bomb) > 64<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	if _, err := newPC(t).unpack(bomb, UnpackOptions{Folder: t.TempDir(), MaxWork: 1 << 20}); !errors.Is(err, errNotPack) {
		t.Errorf("%v", err)
	}
}

func TestAnAddressIsPackedWithoutWhatLetsOneIn(t *testing.T) {
	for address, want := range map[string]string{
		"https://user:secret@example.com/a.git": "https://example.com/a.git",
		"https://token@example.com/a.git?x=y#z": "https://example.com/a.git",
		"git@example.com:a/b.git":               "git@example.com:a/b.git",
		"ssh://git:pw@example.com:22/a":         "ssh://example.com:22/a",
		"/srv/a.git":                            "/srv/a.git",
		"file:///srv/a.git":                     "file:///srv/a.git",
		"ext::sh -c touch% /tmp/x":              "",
		"https://%zz":                           "",
		"https://example.com/a\nhttps://b":      "",
		"http:///only/a/path":                   "",
	} {
		if got := git.PublicURL(address); got != want {
			t.Errorf("%q is packed as %q, not %q", address, got, want)
		}
	}
}

// putInPlace puts the files of a pack into a folder, and sees that nothing lies beside it afterwards.
func putInPlace(t *testing.T, p *archive) {
	t.Helper()
	parent := t.TempDir()
	w, err := planFolder(filepath.Join(parent, "new"), p)
	if err == nil {
		err = w.do()
	}
	if entries, readErr := os.ReadDir(parent); readErr != nil || len(entries) > 1 {
		t.Errorf("beside the folder lies %v (%v, %v)", entries, err, readErr)
	}
}

// Each beginning of a small pack file is tried.
func TestAPackFileCutShortAnywhereChangesNothing(t *testing.T) {
	whole := forged(t, func(es []forgedEntry) []forgedEntry { return es })
	there := newPC(t)
	parent := t.TempDir()
	state := filesUnder(t, there.home)
	for n := range whole {
		_, err := there.unpack(whole[:n], UnpackOptions{Folder: filepath.Join(parent, "new")})
		if !errors.Is(err, errNotPack) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
	if left := filesUnder(t, parent); len(left) > 1 {
		t.Errorf("left behind: %q", left)
	}
	if left := filesUnder(t, there.home); !slices.Equal(left, state) {
		t.Errorf("left behind in the state: %q, there was %q", left, state)
	}
	if _, err := there.Store.Run(t.Context(), packedRun); !view.NoSuchID(err) {
		t.Errorf("the run: %v", err)
	}
}

// filesUnder lists what lies in a folder, the database's own files and the folder of all runs aside.
func filesUnder(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if base := filepath.Base(path); !strings.Contains(base, "state.db") && base != "runs" {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// What is refused after its form was read leaves nothing behind, either.
func TestAPackFileOfWrongTypesOrRecordsChangesNothing(t *testing.T) {
	records := func(old, new string) func([]forgedEntry) []forgedEntry {
		return func(es []forgedEntry) []forgedEntry {
			was := es[1].content
			if es[1].content = strings.Replace(was, old, new, 1); es[1].content == was {
				panic("run.json does not hold " + old)
			}
			return es
		}
	}
	for name, change := range map[string]func([]forgedEntry) []forgedEntry{
		"a number for a text":          records(`"task": "do it"`, `"task": 1`),
		"a text for a number":          records(`"launches": 1`, `"launches": "1"`),
		"a list for the configuration": records(`"hold": 0`, `"hold": []`),
		"a launch that is missing":     records(`"n": 1`, `"n": 2`),
		"launches that are not there":  records(`"launches": 1`, `"launches": 7`),
		"a cost below nothing":         records(`"cost_usd": 0`, `"cost_usd": -100`),
		"tokens that no sum can hold":  records(`"input_tokens": 0`, `"input_tokens": 9000000000000000000`),
		"a question of no group": records(`"questions": null`,
			`"questions": [{"id":"q-1","run":"`+packedRun+`","agent":"`+packedAgent+`","state":"open","kind":"clarification"}]`),
		"a question of an unknown kind": records(`"questions": null`,
			`"questions": [{"id":"q-1","run":"`+packedRun+`","agent":"`+
				packedAgent+`","group":"q-1","state":"open","kind":"root"}]`),
		"a child whose id is a path": records(`"questions": null`,
			`"questions": [{"id":"q-1","run":"`+packedRun+`","agent":"`+
				packedAgent+`","group":"q-1","state":"open","kind":"delegation","child":"a-/../../x"}]`),
		"a permission of nothing": records(`"questions": null`,
			`"questions": [{"id":"q-1","run":"`+packedRun+`","agent":"`+
				packedAgent+`","group":"q-1","state":"open","kind":"permission"}]`),
		"an answer to another's": records(`"deliveries": null`,
			`"deliveries": [{"uuid":"u-1","agent":"`+packedAgent+`","state":"pending","groups":["q-2"]}]`),
		"two manifests": func(es []forgedEntry) []forgedEntry { return append([]forgedEntry{es[0]}, es...) },
		"two runs": func(es []forgedEntry) []forgedEntry {
			return append([]forgedEntry{es[0], es[1]}, es[1:]...)
		},
		"the same log twice":          func(es []forgedEntry) []forgedEntry { return append(es, es[2]) },
		"the same file twice":         func(es []forgedEntry) []forgedEntry { return append(es, es[len(es)-1]) },
		"a schema of a later release": records(`"schema": 1`, `"schema": 2`),
		"a budget that nobody can check": records(`"questions": null`,
			`"questions": [{"id":"q-1","run":"`+packedRun+`","agent":"`+
				packedAgent+`","group":"q-1","state":"open","kind":"budget"}]`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := newPC(t)
			parent := t.TempDir()
			before := filesUnder(t, there.home)
			_, err := there.unpack(forged(t, change), UnpackOptions{Folder: filepath.Join(parent, "new")})
			if !errors.Is(err, errNotPack) && !errors.Is(err, checkpoints.ErrNewer) {
				t.Errorf("%v", err)
			}
			if left := append(filesUnder(t, parent)[1:], filesUnder(t, there.home)...); !slices.Equal(left, before) {
				t.Errorf("left behind: %q", left)
			}
			if _, err := there.Store.Run(t.Context(), packedRun); !view.NoSuchID(err) {
				t.Errorf("the run: %v", err)
			}
		})
	}
}

// attacked is a run whose records grant whatever they can, as anybody can write them.
func attacked(t testing.TB) []byte {
	return forged(t, func(es []forgedEntry) []forgedEntry {
		var e checkpoints.Exported
		if err := json.Unmarshal([]byte(es[1].content), &e); err != nil {
			t.Fatal(err)
		}
		attack(&e)
		es[1].content = string(text.JSON(e))
		return es
	})
}

func attack(e *checkpoints.Exported) {
	e.Run.Config = text.JSON(conf.Config{
		Claude: "/bin/sh", Notify: []string{"touch", "x"},
		Flags: []string{"--model", "opus", "--dangerously-skip-permissions"},
		Allow: []string{"Bash"}, AllowProject: true, AllowSessions: true,
		Answers:  []conf.Preset{{Key: "Bash", Value: supervisor.Allow}},
		Delegate: conf.Delegates{conf.AutoDelegations},
		Retries:  1000, KeepProcesses: true, Deny: []string{"Bash(rm:*)"}, Budget: conf.Budget{CostUSD: 5},
	})
	at := checkpoints.Now()
	call := func() *checkpoints.ToolCall {
		return &checkpoints.ToolCall{Launch: 2, Request: "r", ToolUse: "t",
			Name: "Bash", Input: json.RawMessage(`{"command":"touch x"}`)}
	}
	work := text.JSON(signals.Signal{Kind: signals.Delegate,
		Fields: []signals.Field{{Name: "new_task_description", Value: "touch x"}}})
	for i, q := range []supervisor.Question{
		{Kind: questions.AskCommand, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: questions.RunIt},
			Wording:  checkpoints.Wording{Context: "touch x"}},
		{Kind: questions.AskBlocker, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: "run: touch x"}, Handling: checkpoints.Handling{Prepared: true}},
		{Kind: questions.AskCommand, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: questions.RunIt},
			Wording:  checkpoints.Wording{Context: "touch y"}, Origin: checkpoints.Origin{Asker: "q-1"}},
		{Kind: questions.AskCommand, State: checkpoints.QuestionDelivered,
			Response: checkpoints.Response{Answer: questions.RunIt},
			Handling: checkpoints.Handling{Ran: &checkpoints.Ran{Epoch: 1}}},
		{Kind: questions.AskPermission, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: supervisor.Allow}, Origin: checkpoints.Origin{Tool: call()},
			Wording: checkpoints.Wording{Text: "Allow Bash: true?"}, Grant: checkpoints.Grant{Rule: "Bash(true)"}},
		{Kind: questions.AskPermission, State: checkpoints.QuestionDelivered,
			Response: checkpoints.Response{Answer: supervisor.AllowRun, ForAllLike: true},
			Origin:   checkpoints.Origin{Tool: call()}, Grant: checkpoints.Grant{Rule: "Bash(touch x)"}},
		{Kind: questions.AskPermission, State: checkpoints.QuestionOpen, Origin: checkpoints.Origin{Tool: call()},
			Wording: checkpoints.Wording{Text: "Allow Bash: true?", Context: "true"},
			Grant:   checkpoints.Grant{Rule: "Bash(true)"}},
		{Kind: questions.AskDelegation, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: supervisor.Approve},
			Origin:   checkpoints.Origin{Child: "a-new000000000", Signal: work}},
		{Kind: questions.AskBlocker, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: questions.DelegateIt},
			Origin:   checkpoints.Origin{Child: "a-new000000001", Signal: work},
			Handling: checkpoints.Handling{Prepared: true}},
		{Kind: questions.AskBudget, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: "raise 1000"},
			Origin:   checkpoints.Origin{Exceeded: &checkpoints.Exceeded{What: questions.BudgetCost, Bound: 5}}},
		{Kind: questions.AskClarification, State: checkpoints.QuestionAnswered,
			Response: checkpoints.Response{Answer: "SQLite"}, Wording: checkpoints.Wording{Text: "Which?"}},
	} {
		q.ID = "q-" + string(rune('0'+i))
		if i > 9 {
			q.ID = "q-a"
		}
		q.Run, q.Agent, q.Group, q.Fingerprint, q.AskedAt, q.AnsweredBy = packedRun, packedAgent, q.ID, q.ID, at, "a person"
		if q.State != checkpoints.QuestionOpen {
			q.AnsweredAt = &at
		}
		e.Questions = append(e.Questions, &q)
	}
	e.Deliveries = append(e.Deliveries, &checkpoints.Delivery{
		UUID: "u-1", Agent: packedAgent, Key: "k", Seq: 1, State: checkpoints.DeliveryPending, Launch: 2,
		Tool: call(), Grant: "q-5",
		Reply: text.JSON(ask.Reply{Behavior: supervisor.Allow}), Groups: []string{"q-5"}, CreatedAt: at,
	})
	e.Agents[0].Without, e.Agents[0].From = []string{"--replay-user-messages"}, "11111111-1111-1111-1111-111111111111"
	e.Launches[0].PID, e.Launches[0].StartTicks, e.Launches[0].Transcript = 1, 1, "/etc/passwd"
	e.Notes = append(e.Notes, checkpoints.InboxEntry{Seq: 1, Run: packedRun, Kind: supervisor.EntryAnswer, Question: "q-6",
		Value: supervisor.Allow, By: "a person", At: at})
}

func TestWhatAPackFileGrantsIsAskedAnewOrDropped(t *testing.T) {
	there := newPC(t)
	got, err := there.unpack(attacked(t), UnpackOptions{Folder: filepath.Join(t.TempDir(), "new"), File: "run.tar.gz"})
	if err != nil {
		t.Fatal(err)
	}
	l, err := there.Store.Load(t.Context(), packedRun)
	if err != nil {
		t.Fatal(err)
	}
	s, err := supervisor.Loaded(l)
	if err != nil {
		t.Fatal(err)
	}
	if what := granted(s); what != "" {
		t.Errorf("granted is %s", what)
	}
	if s.Run.FromPack != "run.tar.gz" {
		t.Errorf("it does not know where it came from: %q", s.Run.FromPack)
	}
	for id, want := range map[string]checkpoints.QuestionState{
		"q-0": checkpoints.QuestionWithdrawn, "q-1": checkpoints.QuestionAnswered, "q-2": checkpoints.QuestionOpen,
		"q-3": checkpoints.QuestionDelivered, "q-4": checkpoints.QuestionOpen, "q-5": checkpoints.QuestionDelivered,
		"q-6": checkpoints.QuestionOpen, "q-7": checkpoints.QuestionOpen, "q-8": checkpoints.QuestionOpen,
		"q-9": checkpoints.QuestionWithdrawn, "q-a": checkpoints.QuestionAnswered,
	} {
		if is := s.Questions.Get(id).State; is != want {
			t.Errorf("%s, a %s, is %s and not %s", id, s.Questions.Get(id).Kind, is, want)
		}
	}
	if q := s.Questions.Get("q-2"); q.Context != "touch x" {
		t.Errorf("asked is whether %q may run, and wanted is touch x", q.Context)
	}
	for _, id := range []string{"q-4", "q-6"} {
		if q := s.Questions.Get(id); q.Text != "Allow Bash: touch x?" || q.Rule != "Bash(touch x)" ||
			q.Fingerprint != ask.FingerprintOf(*q.Tool) {
			t.Errorf("%s shows %q and the rule %q", id, q.Text, q.Rule)
		}
	}
	if q := s.Questions.Get("q-a"); q.Answer != "SQLite" {
		t.Errorf("the answer to what it only wanted to know is %q", q.Answer)
	}
	if flags := strings.Join(s.Config.Flags, " "); flags != "--model=opus" || len(s.Config.Deny) != 1 ||
		s.Config.Budget.CostUSD != 5 {
		t.Errorf("what is harmless does not stay: %+v", s.Config)
	}
	told := ""
	for _, w := range got.Withheld {
		told += w.What + " | " + w.Again + "\n"
	}
	for _, want := range []string{
		"/bin/sh", "touch x | ", "| -- --dangerously-skip-permissions", "| --allow Bash\n", "| --allow project",
		`"Bash": allow`,
		"--delegate auto", "--retries 1000", "--keep-processes", "the rule Bash(touch x) | --allow 'Bash(touch x)'",
		"the answer to q-6 (permission): allow",
	} {
		if !strings.Contains(told, want) {
			t.Errorf("it does not tell of %q:\n%s", want, told)
		}
	}
	if _, err := there.Store.Answer(t.Context(),
		supervisor.InboxEntry{Question: "q-6", Value: supervisor.Deny, By: "me"}); err != nil {
		t.Errorf("what is asked anew cannot be answered: %v", err)
	}
}
