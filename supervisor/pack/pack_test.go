package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/examples"
	"claude-supervise/procs/claude"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/git"
	"claude-supervise/supervisor/internal/gittest"
	"claude-supervise/supervisor/records"
)

// A pc is a machine with a state of its own, on which runs are packed and unpacked.
type pc struct {
	client.Client
	t    testing.TB
	home string
}

func newPC(t testing.TB) pc {
	t.Helper()
	home := t.TempDir()
	dirs := checkpoints.Dirs{State: filepath.Join(home, "state"), Runtime: filepath.Join(home, "run")}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return pc{Client: client.Client{Dirs: dirs, Store: store}, t: t, home: home}
}

const (
	packedRun   = "r-abcdefgh"
	packedAgent = "a-7Qm2xK9fWb4T"
)

// waiting leaves a run in a folder on the machine: its agent has begun a conversation, and its supervisor is gone.
func (p pc) waiting(folder string, cfg conf.Config) (session string) {
	p.t.Helper()
	s, err := supervisor.Step(supervisor.State{},
		supervisor.Happened{At: checkpoints.Now(),
			Event: supervisor.Created{Run: packedRun, Cwd: folder, Agent: packedAgent, Task: "do it", Config: cfg}})
	if err != nil {
		p.t.Fatal(err)
	}
	change := records.Changes(records.Records{}, s.Records)
	session = s.Agents.Get(packedAgent).SessionID
	at := checkpoints.Now()
	change.Launches = []*supervisor.Launch{{
		Agent: packedAgent, N: 1, Phase: checkpoints.LaunchEnded, Begun: true, EndedAt: &at,
		Transcript: p.transcript(folder, session),
	}}
	change.Agents[0].Launches = 1
	if change.Event, err = (supervisor.Happened{At: at, Event: supervisor.Created{Run: packedRun}}).Record(packedRun,
		1); err != nil {
		p.t.Fatal(err)
	}
	if err := p.Store.Commit(context.Background(), change); err != nil {
		p.t.Fatal(err)
	}
	gittest.Put(p.t, p.transcript(folder, session), "one\ntwo\n")
	gittest.Put(p.t, filepath.Join(strings.TrimSuffix(p.transcript(folder, session), ".jsonl"), "subagents",
		"agent-1.jsonl"), "sub\n")
	gittest.Put(p.t, p.Dirs.AgentLog(packedRun, packedAgent), "log\n")
	return session
}

func (p pc) transcript(folder, session string) string {
	return filepath.Join(p.home, ".claude", "projects", strings.ReplaceAll(folder, "/", "-"), session+".jsonl")
}

func (p pc) pack(opt PackOptions) ([]byte, PackedRun, error) {
	var file bytes.Buffer
	opt.Env, opt.File = []string{"HOME=" + p.home}, "the file"
	packed, err := Write(context.Background(), p.Client, packedRun, &file, opt)
	return file.Bytes(), packed, err
}

func (p pc) unpack(file []byte, opt UnpackOptions) (UnpackedRun, error) {
	opt.Env = []string{"HOME=" + p.home}
	return Unpack(context.Background(), p.Client, bytes.NewReader(file), opt)
}

func (p pc) mustPack() []byte {
	p.t.Helper()
	file, _, err := p.pack(PackOptions{})
	if err != nil {
		p.t.Fatal(err)
	}
	return file
}

func TestAFolderThatIsNoWorkTreeComesAlongWhole(t *testing.T) {
	here, there := newPC(t), newPC(t)
	folder, empty := t.TempDir(), filepath.Join(t.TempDir(), "not", "there", "yet")
	session := here.waiting(folder, conf.Config{Claude: "/opt/claude", Notify: []string{"mail", "me"},
		TraceParent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
		Where:       &claude.Whereabouts{Values: map[string]string{"CLAUDE_CONFIG_DIR": "/elsewhere"}}})
	gittest.Put(t, filepath.Join(folder, "a", "b.txt"), "b\n")
	gittest.Put(t, filepath.Join(folder, "nested", ".git", "config"), "[core]\n")
	for name, target := range map[string]string{"in": "a/b.txt", "out": "/etc/passwd", "up": "../x"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	var done, total int64
	file, packed, err := here.pack(PackOptions{Progress: func(d, all int64) {
		if d < done || d > all {
			t.Errorf("the bar goes from %d of %d to %d of %d", done, total, d, all)
		}
		done, total = d, all
	}})
	if err != nil || len(packed.Told) != 2 {
		t.Fatalf("told %q, %v", packed.Told, err)
	}
	if all := int64(len("b\n" + "one\ntwo\n" + "sub\n" + "log\n")); done != all || total != all {
		t.Errorf("the bar ends with %d of %d, of files of %d bytes", done, total, all)
	}

	if dry, err := there.unpack(file, UnpackOptions{Folder: empty, DryRun: true}); err != nil || dry.Cwd != empty {
		t.Errorf("a dry run: %+v, %v", dry, err)
	}
	if _, err := os.Lstat(empty); err == nil {
		t.Error("a dry run makes the folder")
	}
	got, err := there.unpack(file, UnpackOptions{Folder: empty})
	if err != nil {
		t.Fatal(err)
	}
	if got.Cwd != empty || got.From != folder || len(got.Withheld) != 5 {
		t.Errorf("%+v", got)
	}
	gittest.WantFile(t, filepath.Join(empty, "a", "b.txt"), "b\n")
	gittest.WantFile(t, filepath.Join(empty, "in"), "b\n")
	gittest.WantFile(t, there.transcript(empty, session), "one\ntwo\n")
	gittest.WantFile(t, strings.TrimSuffix(there.transcript(empty, session), ".jsonl")+"/subagents/agent-1.jsonl",
		"sub\n")
	gittest.WantFile(t, there.Dirs.AgentLog(packedRun, packedAgent), "log\n")
	for _, gone := range []string{"out", "up", "nested/.git", placing} {
		if _, err := os.Lstat(filepath.Join(empty, gone)); err == nil {
			t.Errorf("%s is there", gone)
		}
	}

	l, err := there.Store.Load(context.Background(), packedRun)
	if err != nil {
		t.Fatal(err)
	}
	s, err := supervisor.Loaded(l)
	if err != nil {
		t.Fatal(err)
	}
	a := s.Agents.Get(packedAgent)
	if s.Config.Claude != "" || s.Config.Notify != nil || s.Config.TraceParent != "" || s.Config.Where != nil ||
		s.Run.Cwd != empty || s.Launch(a.ID).Transcript != "" {
		t.Errorf("programs or files came along: %+v %+v", s.Config, s.Run)
	}
	if len(a.Outbox) != 1 || !strings.Contains(a.Outbox[0].Text, "New folder: "+empty) {
		t.Errorf("the agent is told %+v", a.Outbox)
	}
}

func TestOnlyAScenarioThatIsBuiltInComesAlong(t *testing.T) {
	const none = "(a file that was not packed)"
	for demo, want := range map[string]string{"ask": "ask", "mine.yaml": none, "/x/mine": none} {
		s, err := supervisor.Step(supervisor.State{},
			supervisor.Happened{Event: supervisor.Created{Run: packedRun, Cwd: "/a", Agent: packedAgent,
				Config: conf.Config{Demo: demo}}})
		if err != nil {
			t.Fatal(err)
		}
		if s, err = supervisor.Step(s,
			supervisor.Happened{Event: supervisor.Unpacked{From: "/a", Cwd: "/b",
				Config: first(Harmless(s.Config, nil, false))}}); err != nil || s.Config.Demo != want {
			t.Errorf("%q becomes %q, %v", demo, s.Config.Demo, err)
		}
		if _, err := examples.Load(s.Config.Demo); (err == nil) != (demo == "ask") {
			t.Errorf("of %q is played %q: %v", demo, s.Config.Demo, err)
		}
	}
}

// In a file that is vouched for the person's rules, answers in advance and retries hold; its programs do not.
func TestWhatAVouchedFileGrantsStays(t *testing.T) {
	here := newPC(t)
	answers := []conf.Preset{{Key: "Which port", Value: "8080"}, {Key: "shape", Value: "round", FromFile: true}}
	here.waiting(t.TempDir(), conf.Config{Claude: "/opt/claude", Notify: []string{"mail"}, Answers: answers,
		Allow: []string{"Bash(make test)"}, AllowProject: true, Retries: 9, KeepProcesses: true, MaxAgents: 1000})
	file := here.mustPack()
	for _, vouched := range []bool{false, true} {
		there := newPC(t)
		size := 5
		given := conf.Given{Retries: &size, Answers: []conf.Preset{{Key: "which PORT", Value: "1"}}}
		if vouched {
			given = conf.Given{}
		}
		got, err := there.unpack(file, UnpackOptions{Folder: filepath.Join(t.TempDir(), "new"), Vouched: vouched,
			Given: given})
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
		cfg, again := s.Config, ""
		for _, w := range got.Withheld {
			again += w.Again + "\n"
		}
		if cfg.Claude != "" || cfg.Notify != nil || cfg.KeepProcesses || cfg.MaxAgents != conf.DefaultMaxAgents {
			t.Errorf("vouched %t: programs or limits came along: %+v", vouched, cfg)
		}
		if vouched {
			if !slices.Equal(cfg.Answers, answers) || cfg.Retries != 9 || !slices.Equal(cfg.Allow,
				[]string{"Bash(make test)"}) ||
				!cfg.AllowProject || strings.Contains(again, "--answer") || strings.Contains(again, "--allow") {
				t.Errorf("what was granted is lost: %+v, withheld %s", cfg, again)
			}
			continue
		}
		if !slices.Equal(cfg.Answers, given.Answers) || cfg.Retries != 5 || len(cfg.Allow) > 0 || cfg.AllowProject {
			t.Errorf("a stranger's file grants %+v", cfg)
		}
		for _, want := range []string{"--answer 'Which port=8080'\n", "--answer 'shape=round'\n", "--retries 9\n"} {
			if !strings.Contains(again, want) {
				t.Errorf("it is not said how to give it again: %s in %s", want, again)
			}
		}
	}
}

func first[A, B any](a A, _ B) A { return a }

// A file that comes back may have been changed: what it says of programs and flags is not taken.
func TestARunThatComesBackIsConfiguredAsItWasHere(t *testing.T) {
	p := newPC(t)
	p.waiting(t.TempDir(), conf.Config{Claude: "/bin/claude", Flags: []string{"--model", "opus"},
		Notify: []string{"/bin/mine"}})
	before := p.mustPack()
	if _, err := p.unpack(before, UnpackOptions{Here: "/elsewhere"}); err != nil {
		t.Fatal(err)
	}
	l, err := p.Store.Load(context.Background(), packedRun)
	if err != nil {
		t.Fatal(err)
	}
	s, err := supervisor.Loaded(l)
	if err != nil || s.Config.Claude != "/bin/claude" || len(s.Config.Notify) != 1 {
		t.Errorf("it comes back as %+v (%v)", s.Config, err)
	}
	u := unpacking{Client: p.Client, archive: &archive{manifest: manifest{Run: packedRun}}}
	if err := p.Store.Commit(context.Background(), checkpoints.Change{Run: packedAs(l.Run, "x.tar.gz")}); err != nil {
		t.Fatal(err)
	}
	if err := u.known(context.Background()); err != nil || !u.same || u.ours.Claude != "/bin/claude" {
		t.Errorf("what is taken is not what was here: %+v (%v)", u.ours, err)
	}
}

func packedAs(r supervisor.Run, file string) *supervisor.Run {
	r.Packed = file
	return &r
}

func TestAPackedRunIsRefusedHereUntilItComesBack(t *testing.T) {
	ctx := context.Background()
	p := newPC(t)
	folder := t.TempDir()
	p.waiting(folder, conf.Config{})
	file := p.mustPack()
	var packed *checkpoints.PackedError
	if _, err := p.Resumable(ctx, packedRun, checkpoints.Now()); !errors.As(err, &packed) {
		t.Errorf("resume: %v", err)
	}
	if err := p.Stop(ctx, packedRun, "", false, "me"); !errors.As(err, &packed) {
		t.Errorf("stop: %v", err)
	}
	if _, _, err := p.pack(PackOptions{}); !errors.As(err, &packed) {
		t.Errorf("pack: %v", err)
	}
	got, err := p.unpack(file, UnpackOptions{Here: "/elsewhere"})
	if err != nil || got.Cwd != folder {
		t.Fatalf("it comes back to %q, %v", got.Cwd, err)
	}
	if _, err := p.Resumable(ctx, packedRun, checkpoints.Now()); err != nil {
		t.Error(err)
	}
	if _, err := p.unpack(file, UnpackOptions{}); !errors.Is(err, checkpoints.ErrDuplicateID) {
		t.Errorf("it comes back a second time: %v", err)
	}

	p.mustPack()
	if run, err := TakeBack(ctx, p.Client, packedRun); err != nil || run != packedRun {
		t.Errorf("%s, %v", run, err)
	}
	if _, err := p.Resumable(ctx, packedRun, checkpoints.Now()); err != nil {
		t.Error(err)
	}
	if _, err := TakeBack(ctx, p.Client, packedRun); err == nil {
		t.Error("what is not packed is taken back")
	}
}

func TestARunThatIsSupervisedIsNotPacked(t *testing.T) {
	p := newPC(t)
	p.waiting(t.TempDir(), conf.Config{})
	owner, err := p.Dirs.Own(context.Background(), packedRun)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = owner.Release() }()
	if _, _, err := p.pack(PackOptions{}); !errors.Is(err, supervisor.ErrOwned) {
		t.Errorf("%v", err)
	}
}

func TestAStopThatComesWhileARunIsPackedIsNotLost(t *testing.T) {
	p := newPC(t)
	p.waiting(t.TempDir(), conf.Config{})
	_, _, err := p.pack(PackOptions{Keep: func() error {
		return p.Stop(context.Background(), packedRun, "", false, "me")
	}})
	if !errors.Is(err, checkpoints.ErrInboxMoved) {
		t.Errorf("%v", err)
	}
	if _, err := p.Resumable(context.Background(), packedRun, checkpoints.Now()); err != nil {
		t.Errorf("it counts as packed: %v", err)
	}
}

func TestWorkThatIsTooLargeIsNotPacked(t *testing.T) {
	for name, prepare := range map[string]func(string){
		"folder": func(string) {},
		"clone":  func(folder string) { gittest.InRepository(t, folder) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPC(t)
			folder := t.TempDir()
			prepare(folder)
			p.waiting(folder, conf.Config{})
			gittest.Put(t, filepath.Join(folder, "large.bin"), strings.Repeat("x", 5000))
			gittest.Put(t, filepath.Join(folder, "run.tar.gz"), strings.Repeat("x", 9000))
			own := []string{filepath.Join(folder, "run.tar.gz")}
			_, _, err := p.pack(PackOptions{MaxWork: 4096, Without: own})
			if !errors.Is(err, git.ErrTooLarge) || !strings.Contains(err.Error(), "large.bin (4.9 KiB)") {
				t.Errorf("%v", err)
			}
			if _, _, err := p.pack(PackOptions{MaxWork: 6000, Without: own}); err != nil {
				t.Errorf("the pack file counts itself: %v", err)
			}
		})
	}
}

func TestARepositoryWithoutARemoteIsMadeAnewInAnEmptyFolder(t *testing.T) {
	for _, commits := range []int{0, 2} {
		t.Run(fmt.Sprint(commits, " commits"), func(t *testing.T) {
			here, there := newPC(t), newPC(t)
			folder, empty := t.TempDir(), filepath.Join(t.TempDir(), "new")
			gittest.InRepository(t, folder)
			for i := range commits {
				gittest.Put(t, filepath.Join(folder, "file"), fmt.Sprint(i))
				gittest.GitIn(t, folder, "add", "--all")
				gittest.GitIn(t, folder, "commit", "--quiet", "-m", fmt.Sprint(i))
			}
			gittest.Put(t, filepath.Join(folder, "sub", "new"), "new\n")
			here.waiting(filepath.Join(folder, "sub"), conf.Config{})
			got, err := there.unpack(here.mustPack(), UnpackOptions{Folder: empty})
			if err != nil || got.Cwd != filepath.Join(empty, "sub") {
				t.Fatalf("%+v, %v", got, err)
			}
			for _, args := range [][]string{{"status", "--porcelain"}, {"symbolic-ref", "HEAD"}, {"for-each-ref"}} {
				if was, is := gittest.GitIn(t, folder, args...), gittest.GitIn(t, empty, args...); was != is {
					t.Errorf("git %q was\n%s\nand is\n%s", args, was, is)
				}
			}
			gittest.WantFile(t, filepath.Join(empty, "sub", "new"), "new\n")
		})
	}
}

func TestACloneWithChangesOfItsOwnIsLeftAlone(t *testing.T) {
	origin := t.TempDir()
	gittest.InRepository(t, origin)
	for _, name := range []string{"kept", "changed", ".gitignore"} {
		gittest.Put(t, filepath.Join(origin, name), "*.ignored\n")
	}
	gittest.GitIn(t, origin, "add", "--all")
	gittest.GitIn(t, origin, "commit", "--quiet", "-m", "base")
	clone := func() string {
		dir := filepath.Join(t.TempDir(), "clone")
		gittest.GitIn(t, origin, "clone", "--quiet", origin, dir)
		return dir
	}
	here := newPC(t)
	work := clone()
	here.waiting(work, conf.Config{})
	gittest.Put(t, filepath.Join(work, "changed"), "by the agent\n")
	gittest.Put(t, filepath.Join(work, "new"), "new\n")
	gittest.Put(t, filepath.Join(work, "x.ignored"), "forced\n")
	gittest.GitIn(t, work, "add", "--force", "x.ignored")
	file := here.mustPack()

	for name, prepare := range map[string]func(dir string){
		"another change to the same file": func(dir string) {
			gittest.Put(t, filepath.Join(dir, "changed"),
				"by me\n")
		},
		"a change to another file":      func(dir string) { gittest.Put(t, filepath.Join(dir, "kept"), "by me\n") },
		"another new file of that name": func(dir string) { gittest.Put(t, filepath.Join(dir, "new"), "by me\n") },
		"a folder of that name":         func(dir string) { gittest.Put(t, filepath.Join(dir, "new", "x"), "by me\n") },
		"a file that git ignores": func(dir string) {
			gittest.Put(t, filepath.Join(dir, "x.ignored"),
				"by me\n")
		},
		"something else in the index": func(dir string) {
			gittest.Put(t, filepath.Join(dir, "kept"), "by me\n")
			gittest.GitIn(t, dir, "add", "kept")
			gittest.Put(t, filepath.Join(dir, "kept"), "*.ignored\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			there := newPC(t)
			dir := clone()
			prepare(dir)
			before := gittest.GitIn(t, dir, "status", "--porcelain", "--untracked-files=all")
			if _, err := there.unpack(file, UnpackOptions{Folder: dir}); !errors.Is(err, errNotClean) {
				t.Errorf("%v", err)
			}
			if after := gittest.GitIn(t, dir, "status", "--porcelain", "--untracked-files=all"); after != before {
				t.Errorf("it was\n%s\nand is\n%s", before, after)
			}
		})
	}
	t.Run("but what is in nobody's way may stay", func(t *testing.T) {
		there := newPC(t)
		dir := clone()
		gittest.Put(t, filepath.Join(dir, "mine"), "by me\n")
		gittest.Put(t, filepath.Join(dir, "new"), "new\n") // as packed
		if _, err := there.unpack(file, UnpackOptions{Folder: dir}); err != nil {
			t.Fatal(err)
		}
		if got := gittest.GitIn(t, dir, "status", "--porcelain"); got != "M changed\nA  x.ignored\n?? mine\n?? new" {
			t.Errorf("%s", got)
		}
	})
	for name, dir := range map[string]string{"no work tree": origin + "/..", "another repository": func() string {
		dir := t.TempDir()
		gittest.InRepository(t, dir)
		return dir
	}()} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if name == "another repository" {
				folder = dir
			}
			gittest.Put(t, filepath.Join(folder, "x"), "x")
			if _, err := newPC(t).unpack(file, UnpackOptions{Folder: folder}); !errors.Is(err, errNotClone) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestATranscriptThatHasGoneOnIsNeverReplaced(t *testing.T) {
	for name, c := range map[string]struct {
		there string
		err   error
	}{
		"its beginning":      {"one\n", nil},
		"the same":           {"one\ntwo\n", nil},
		"one that is longer": {"one\ntwo\nthree\n", errOtherFile},
		"another":            {"one\n2\n", errOtherFile},
	} {
		t.Run(name, func(t *testing.T) {
			here, there := newPC(t), newPC(t)
			session := here.waiting(t.TempDir(), conf.Config{})
			path := there.transcript("/some/where", session)
			gittest.Put(t, path, c.there)
			_, err := there.unpack(here.mustPack(), UnpackOptions{Folder: t.TempDir()})
			if !errors.Is(err, c.err) {
				t.Errorf("%v", err)
			}
			if c.err == nil {
				c.there = "one\ntwo\n"
			}
			gittest.WantFile(t, path, c.there)
			if _, err := there.Store.Run(context.Background(), packedRun); (err == nil) != (c.err == nil) {
				t.Errorf("the run: %v", err)
			}
		})
	}
}
