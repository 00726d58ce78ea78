package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// repo makes a repository with a file on its only branch, and gives its path and the commit.
func (s *site) repo(name string) (path, commit string) {
	s.t.Helper()
	path = filepath.Join(s.home, name)
	s.git(s.home, "init", "--quiet", "--initial-branch", "main", path)
	return path, s.commits(path, "of-"+name, "first")
}

// commits writes a file of a repository, and gives the commit.
func (s *site) commits(path, file, content string) string {
	s.t.Helper()
	s.file(filepath.Join(filepath.Base(path), file), []byte(content))
	s.git(path, "add", ".")
	s.git(path, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "--quiet", "--message", content)
	return s.git(path, "rev-parse", "HEAD")
}

func (s *site) git(folder string, args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "HOME="+s.home, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// mirrors returns the names of the repositories that a worker keeps.
func (p *process) mirrors(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.home, ".local/state/claude-supervise-fleet/worker/repos/*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// work is the folder in which the agents of a run of this worker are, in an epoch; "*": in the one that it has.
func (p *process) work(run, epoch string) string {
	folder := filepath.Join(p.home, ".local/state/claude-supervise-fleet/worker/runs", run+"."+epoch, "work")
	if found, err := filepath.Glob(folder); err == nil && len(found) == 1 {
		return found[0]
	}
	return folder
}

func TestARunKeepsTheCommitOfItsRepositoryElsewhere(t *testing.T) {
	t.Parallel()
	s := newLedger(t, 1) // whose agents ask more than once
	repo, commit := s.repo("shop")
	one := s.worker("one")
	run := s.lays("--hold", "forever", "--repo", "file://"+repo, "--ref", "main")
	q := s.asks(run, "one")
	if at := s.git(one.work(run, "1"), "rev-parse", "HEAD"); at != commit {
		t.Errorf("it works at %s, not at %s", at, commit)
	}
	later := s.commits(repo, "of-shop", "second")
	another := s.asking("--repo", "file://"+repo)
	s.asks(another, "one")
	if at := s.git(one.work(another, "1"), "rev-parse", "HEAD"); at != later {
		t.Errorf("a later run works at %s, not at %s", at, later)
	}
	if kept := one.mirrors(t); len(kept) != 1 {
		t.Errorf("one repository is kept as %q", kept)
	}
	s.must("stop", another)

	one.signal(syscall.SIGKILL)
	two := s.worker("two")
	s.must("answer", q, "oak")
	s.until(run, "asking again on two", func(l listed) bool { // with a process: while it was parked, its folder was gone
		return l.Worker == "two" && len(l.Questions) == 1 && l.Questions[0].ID != q
	})
	if at := s.git(two.work(run, "*"), "rev-parse", "HEAD"); at != commit {
		t.Errorf("it continues at %s, not at %s", at, commit)
	}
	s.must("stop", run)
	s.ends(run, 5)
	s.workerIn(one.home, "one") // it ends the agent that the kill has left
	nothingIsLeft(t, run)
}

func TestWhatCannotBeClonedIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	repo, _ := s.repo("shop")
	s.worker("one")
	gone := s.asking("--repo", "file://"+repo, "--ref", "no-such-branch")
	l := s.until(gone, "ended", func(l listed) bool { return l.Status == "failed" })
	if !strings.Contains(l.Reason, "no such commit: no-such-branch in file://"+repo) {
		t.Errorf("it failed: %s", l.Reason)
	}
	if code, _, _ := s.says("wait", gone); code != 1 {
		t.Errorf("it ends with %d", code)
	}
	missing := s.asking("--repo", "file://"+filepath.Join(s.home, "no-such-repo"))
	s.until(missing, "tried again", func(l listed) bool {
		return l.Status == "queued" && strings.Contains(l.Reason, "no-such-repo cannot be cloned")
	})
	s.git(s.home, "clone", "--quiet", repo, "no-such-repo") // that was mended
	s.asks(missing, "one")
	s.must("stop", missing)
	if code, _, _ := s.says("wait", missing); code != 5 {
		t.Errorf("it ends with %d", code)
	}
}

func TestARunIsTakenByAWorkerWithItsLabelsAndRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.asking("--label", "gpu", "--label", "big")
	s.worker("plain")
	s.worker("half", "--label", "gpu")
	code, none, said := s.says("run", "--demo", "ask", "--label", "tpu")
	if code != 0 || !strings.Contains(said, "no worker with the labels tpu asks for runs") ||
		!strings.Contains(said, "claude-supervise fleet worker --label tpu") {
		t.Errorf("a label that no worker has: exit %d: %s", code, said)
	}
	if code, _, said := s.says("stop", strings.TrimSpace(none)); code != 0 {
		t.Errorf("it is not handed in: exit %d: %s", code, said)
	}
	second := s.asking("--label", "big", "--label", "gpu")
	s.until(second, "waiting for its labels", func(l listed) bool {
		return l.Status == "queued" && strings.Contains(l.Reason, "with the labels big, gpu")
	})
	s.worker("whole", "--label", "gpu", "--label", "big", "--capacity", "1")
	both := []string{first, second}
	var has, waits listed
	s.until(first, "one of two that are asked for", func(listed) bool {
		for i, run := range both {
			l := s.until(run, "there", func(listed) bool { return true })
			if len(l.Questions) == 1 {
				has, waits = l, s.until(both[1-i], "there", func(listed) bool { return true })
				return true
			}
		}
		return false
	})
	if has.Worker != "whole" || waits.Status != "queued" {
		t.Fatalf("with room for one it has %+v, and %+v waits", has, waits)
	}
	// Whatever the server may give a worker that has no room, it has given it by the time that another run is had.
	other := s.asking()
	s.until(other, "had", func(l listed) bool { return len(l.Questions) == 1 })
	if l := s.until(waits.ID, "there", func(listed) bool { return true }); l.Status != "queued" {
		t.Errorf("%+v was taken by a worker without room", l)
	}
	s.must("stop", has.ID)
	s.asks(waits.ID, "whole")
	s.must("stop", waits.ID, other)
}

func TestEachItemIsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.repo("api")
	s.repo("web")
	one := s.worker("one", "--capacity", "2")
	ids := strings.Fields(s.asking("--each", `printf '%s\n' api web`, "--repo", "file://"+filepath.Join(s.home, "{item}"),
		"--name", "{index}-{item}"))
	if len(ids) != 2 {
		t.Fatalf("two items are the runs %q", ids)
	}
	for i, item := range []string{"api", "web"} {
		q := s.asks(ids[i], "one")
		if _, err := os.Stat(filepath.Join(one.work(ids[i], "1"), "of-"+item)); err != nil {
			t.Errorf("%s works elsewhere: %v", item, err)
		}
		s.must("answer", q, "JWT")
	}
	for i, name := range []string{"1-api", "2-web"} {
		s.succeeds(name)
		if out := s.must("ps", "-a", "-q"); !slices.Contains(strings.Fields(out), ids[i]) {
			t.Errorf("%s is not listed: %s", ids[i], out)
		}
	}
	s.file("items", []byte("left\nright\n"))
	file := s.file("each.yaml", []byte("each: {lines: items}\nchild: {name: \"to the {item}\", prompt: \"Go {item}\"}"))
	for i, id := range strings.Fields(s.must("run", "-f", file, "--exec", "sh -c 'echo did \"$0\"' {}")) {
		way := []string{"left", "right"}[i]
		l := s.until(id, "ended", func(l listed) bool { return l.ExitCode != nil })
		if shown := s.must("show", "to the "+way); !strings.Contains(shown, "Go "+way) {
			t.Errorf("%+v does not go %s: %s", l, way, shown)
		}
	}
	if code, _, said := s.says("run", "--each", "true", "x"); code != 2 || !strings.Contains(said, "nothing to do") {
		t.Errorf("no item exits %d: %s", code, said)
	}
}
