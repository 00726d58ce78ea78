package pack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"claude-supervise/supervisor/git"
)

// A bundle is one of those that hold the work.
type bundle struct {
	path  string
	ref   string   // the commit that it brings
	needs []string // commits that have to be there before, in the clone or brought by an earlier one
	at    int64    // where in it the pack begins
}

// bundleHeaders reads the headers of bundles, of which each is of what is new since the one before.
func (p *archive) bundleHeaders(entries []entry) (all []bundle, err error) {
	for _, e := range entries {
		b := bundle{path: p.path(e)}
		if b.ref, b.needs, b.at, err = bundleHeader(b.path); err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// bundleHeader reads what stands before the pack in a bundle (gitformat-bundle): the commits that it needs, and its one
// ref.
func bundleHeader(path string) (ref string, needs []string, at int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", nil, 0, err
	}
	defer func() { _ = f.Close() }() // only read
	r := bufio.NewReader(io.LimitReader(f, 16<<20))
	for first := true; ; first = false {
		line, err := r.ReadString('\n')
		if err != nil {
			return "", nil, 0, notPack("its bundle has no end of its header")
		}
		at += int64(len(line))
		line = strings.TrimSuffix(line, "\n")
		need, isNeed := strings.CutPrefix(line, "-")
		object, name, _ := strings.Cut(line, " ")
		switch {
		case first && (line == "# v2 git bundle" || line == "# v3 git bundle"):
		case first:
			return "", nil, 0, notPack("its bundle is none")
		case line == "" && ref != "":
			return ref, needs, at, nil
		case strings.HasPrefix(line, "@object-format="):
		case isNeed && len(need) >= 40:
			need, _, _ = strings.Cut(need, " ")
			if !git.IsObjectName(need) {
				return "", nil, 0, notPack("its bundle needs %.60q", need)
			}
			needs = append(needs, need)
		case name == git.WorkRef && ref == "" && git.IsObjectName(object):
			ref = object
		default:
			return "", nil, 0, notPack("its bundle says %.60q", line)
		}
	}
}

// unbundle puts the bundles' objects where env says; git checks each of them. errNotClone is the error where they need
// a commit that is not there.
func (w *gitWork) unbundle(ctx context.Context, env []string, limit int64) error {
	if w.brought {
		return nil
	}
	for _, b := range slices.Concat(w.before, w.bundles) {
		for _, commit := range b.needs {
			if _, err := git.RunGit(ctx, w.Top, filepath.Dir(w.Dir), env, nil, "cat-file", "-e",
				commit+"^{commit}"); err != nil {
				return notClone(w.to, true, "it lacks the commit "+commit)
			}
		}
		if err := w.unbundleOne(ctx, b, env, limit); err != nil {
			return err
		}
	}
	return nil
}

func (w *gitWork) unbundleOne(ctx context.Context, b bundle, env []string, limit int64) error {
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if _, err := f.Seek(b.at, io.SeekStart); err != nil {
		return err
	}
	_, err = git.RunGit(ctx, w.Top, filepath.Dir(w.Dir), env, f, "index-pack", "--stdin", "--fix-thin", "--strict",
		fmt.Sprintf("--max-input-size=%d", limit))
	if _, is := errors.AsType[*git.GitError](err); is {
		return notPack("its bundle: %v", err)
	}
	return err
}

// parents holds the commit in the bundle against the manifest.
func (w *gitWork) parents(ctx context.Context) error {
	out, err := w.In(ctx, "none", nil, "rev-list", "--parents", "-n", "1", w.work)
	if err != nil {
		return notPack("its bundle: %v", err)
	}
	family := strings.Fields(string(out))
	want := 2
	if w.to.Head != "" {
		want = 3
	}
	whole := len(family) == want
	if n := len(w.bundles); n > 1 { // the state before is its last parent
		whole = len(family) == want+1 && family[want] == w.bundles[n-2].ref
	}
	if !whole || want == 3 && family[1] != w.to.Head {
		return notPack("its bundle does not belong to the commit %.60q", w.to.Head)
	}
	w.index = family[want-1]
	return nil
}

// initClone makes an empty folder a work tree, for a bundle that needs no commits of others.
func initClone(ctx context.Context, folder, scratch string, m *git.GitManifest) error {
	args := []string{"init", "--quiet", "--template=", "--object-format=" + m.Format}
	if m.Branch != "" {
		if _, err := git.RunGit(ctx, folder, scratch, nil, nil, "check-ref-format",
			"refs/heads/"+m.Branch); err != nil {
			return notPack("its branch is %.60q", m.Branch)
		}
		args = append(args, "--initial-branch="+m.Branch)
	}
	_, err := git.RunGit(ctx, folder, scratch, nil, nil, args...)
	return err
}
