package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"claude-supervise/e2e/machinetest"
)

// Anybody can put a .git into a folder like /tmp, above the work of others: an empty one is no repository, and that of
// somebody else is not theirs. What is of the folder's own counts, as a link to it does.
func TestADotGitOfAnybodyAboveIsNoRepository(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		machinetest.Lacks(t, "git: %v", err)
	}
	for name, c := range map[string]struct {
		dotGit   func(t *testing.T, above string)
		owner    int
		workTree bool
	}{
		"empty":          {dotGit: func(t *testing.T, above string) { mkdir(t, filepath.Join(above, ".git")) }},
		"of one's own":   {dotGit: repository, workTree: true},
		"of another":     {dotGit: repository, owner: 4321},
		"a file of them": {dotGit: func(t *testing.T, above string) { write(t, filepath.Join(above, ".git")) }, owner: 4321},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			work := filepath.Join(above, "work")
			mkdir(t, work)
			c.dotGit(t, above)
			if c.owner != 0 {
				if os.Geteuid() != 0 {
					machinetest.Lacks(t, "only root can give a file to somebody else")
				}
				if err := os.Lchown(filepath.Join(above, ".git"), c.owner, c.owner); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(work, link); err != nil {
				t.Fatal(err)
			}
			for _, folder := range []string{work, link} {
				s, err := OpenShadow(t.Context(), folder, t.TempDir())
				switch {
				case c.workTree && (err != nil || s.Top != above || s.Prefix != "work"):
					t.Errorf("%s: %+v, %v", folder, s, err)
				case !c.workTree && (!errors.Is(err, ErrNoWorkTree) || HasGitAbove(folder)):
					t.Errorf("%s is in a work tree: %+v, %v", folder, s, err)
				}
			}
			repository(t, work) // one of the work itself is found below whatever is above
			if s, err := OpenShadow(t.Context(), work, t.TempDir()); err != nil || s.Top != work {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

func repository(t *testing.T, folder string) {
	t.Helper()
	if _, err := RunGit(t.Context(), folder, t.TempDir(), nil, nil, "init", "--quiet"); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}
