package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The files of a run without a repository are in its snapshots alone.
func TestTheFilesOfARunAreFetched(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	run := s.must("run", "--demo", "ask", "--hold", "0")
	parked := s.until(run, "parked", listed.parked)
	if said := s.must("fetch", run, "early"); !strings.Contains(said, "has not ended: parked") {
		t.Errorf("of a run that is parked it says %s", said)
	}
	s.must("answer", parked.Questions[0].ID, "JWT")
	s.succeeds(run)
	shown := s.must("show", run)
	if !strings.Contains(shown, "claude-supervise fleet fetch "+run+" DIR") || strings.Contains(shown, "/work\n") {
		t.Errorf("it is shown as\n%s", shown)
	}
	s.must("fetch", run, "result")
	written, err := os.ReadFile(filepath.Join(s.home, "result", "auth.txt"))
	if err != nil || !strings.Contains(string(written), "JWT") {
		t.Errorf("auth.txt is %q, %v", written, err)
	}
	if code, _, said := s.says("fetch", run, "result"); code == 0 || !strings.Contains(said, "empty") {
		t.Errorf("into a folder that is not empty it exits %d: %s", code, said)
	}
	if code, _, said := s.says("fetch", "r-nosuch00", "other"); code != 2 && code != 1 || !strings.Contains(said, "no run") {
		t.Errorf("of no run it exits %d: %s", code, said)
	}
	for _, left := range []string{".local/state/claude-supervise", ".claude/projects"} {
		if _, err := os.Stat(filepath.Join(s.home, left)); err == nil {
			t.Errorf("on the machine of the person is %s", left)
		}
	}
}

func TestTheFilesOfARunInARepositoryAreFetchedIntoAClone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	repo, _ := s.repo("shop")
	run := s.must("run", "--demo", "ask", "--hold", "0", "--repo", "file://"+repo)
	parked := s.until(run, "parked", listed.parked)
	s.must("answer", parked.Questions[0].ID, "JWT")
	s.succeeds(run)
	if code, _, said := s.says("fetch", run, "nowhere"); code == 0 || !strings.Contains(said, "clone") {
		t.Errorf("into no clone it exits %d: %s", code, said)
	}
	clone := filepath.Join(s.home, "clone")
	s.git(s.home, "clone", "-q", repo, clone)
	s.must("fetch", run, "clone")
	if written, err := os.ReadFile(filepath.Join(clone, "auth.txt")); err != nil || !strings.Contains(string(written), "JWT") {
		t.Errorf("auth.txt is %q, %v", written, err)
	}
}

func TestAWorkerInAWorkTreeSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	home := t.TempDir()
	s.git(home, "init", "-q")
	p, err := s.begins(home, takesRuns, s.workerArgs("one")...)
	if err == nil || !strings.Contains(p.said.String(), "is in a git work tree: "+filepath.Join(home, ".git")) {
		t.Errorf("it says %s", p.said)
	}
}

// Workers of other machines, and whoever has named the server's address, find it again.
func TestAServerThatIsStartedAgainHasItsPort(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	before := s.server().Address
	s.restarts()
	if now := s.server().Address; now != before {
		t.Errorf("it was at %s, and is at %s", before, now)
	}
	for _, name := range []string{"temporal.db", "port", "dev.json", "fleet.key"} {
		if info, err := os.Stat(filepath.Join(s.dev, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s is %v, %v", name, info, err)
		}
	}
}
