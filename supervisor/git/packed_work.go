package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// WorkRef is the one ref of the bundle as which the uncommitted work is packed: to a commit of the files as they are
// on disk, those that git ignores aside. Its last parent is a commit of the index, and its first, where anything was
// committed, HEAD; with HEAD come the commits that no remote has. All others must be in the clone where it is unpacked.
const WorkRef = "refs/claude-supervise/work"

// ErrTooLarge means that the uncommitted work is larger than the person lets it be. Nothing was packed.
var ErrTooLarge = fmt.Errorf("the uncommitted work is too large")

// TooLarge says that work is larger than the limit, and which of its files are the largest.
func TooLarge(size, limit int64, of []string) error {
	text := ""
	if len(of) > 0 {
		text = "; the largest: " + strings.Join(of, ", ")
	}
	return fmt.Errorf(
		"%w: %s, and at most %s are packed%s. Nothing was packed: let git ignore or remove what is not needed, "+
			"raise --max-size, or leave the work out with --without-work",
		ErrTooLarge, humanize.IBytes(uint64(size)), humanize.IBytes(uint64(limit)), text)
}

// Gitlinks returns the submodules of an index by path, each with its commit.
func (s *Shadow) Gitlinks(ctx context.Context, index string) (map[string]string, error) {
	out, err := s.In(ctx, index, nil, "ls-files", "--stage", "-z")
	if err != nil {
		return nil, err
	}
	links := map[string]string{}
	for line := range bytes.SplitSeq(out, []byte{0}) { // MODE OBJECT STAGE, then the path
		if rest, ok := bytes.CutPrefix(line, []byte(ModeSubmodule+" ")); ok {
			about, path, _ := bytes.Cut(rest, []byte{'\t'})
			object, _, _ := bytes.Cut(about, []byte{' '})
			links[string(path)] = string(object)
		}
	}
	return links, nil
}

// forget takes paths out of an index.
func (s *Shadow) forget(ctx context.Context, index string, paths iter.Seq[string]) error {
	var list strings.Builder
	for path := range paths {
		list.WriteString(path + "\x00")
	}
	if list.Len() == 0 {
		return nil
	}
	_, err := s.In(ctx, index, strings.NewReader(list.String()), "update-index", "-z", "--force-remove", "--stdin")
	return err
}

// sizes adds up files, to say which are the largest.
type sizes struct {
	Sum   int64
	files []struct {
		name string
		size int64
	}
}

func (s *sizes) add(name string, size int64) {
	s.Sum += size
	s.files = append(s.files, struct {
		name string
		size int64
	}{name, size})
}

func (s *sizes) Largest() []string {
	slices.SortFunc(s.files, func(a, b struct {
		name string
		size int64
	}) int {
		return int(min(max(b.size-a.size, -1), 1))
	})
	var names []string
	for _, f := range s.files[:min(3, len(s.files))] {
		names = append(names, fmt.Sprintf("%s (%s)", f.name, humanize.IBytes(uint64(f.size))))
	}
	return names
}

// commit makes a commit of a tree; parents that are "" are none.
func (s *Shadow) commit(ctx context.Context, at time.Time, what, tree string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree}
	for _, p := range parents {
		if p != "" {
			args = append(args, "-p", p)
		}
	}
	date := fmt.Sprintf("%d +0000", at.Unix())
	env := append(s.Env("none"), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	out, err := RunGit(ctx, s.Top, filepath.Dir(s.Dir), env, strings.NewReader(subject+what+"\n"), args...)
	return strings.TrimSpace(string(out)), err
}

// subject is what the messages of our commits begin with.
const subject = "claude-supervise: "

// elsewhere names the commits that are there where a bundle is read, as exclusions for git: what the remotes were last
// seen to have, where a shallow clone was cut off, and what comes along otherwise.
func (s *Shadow) elsewhere(ctx context.Context) (string, error) {
	out, err := s.Own(ctx, "for-each-ref", "--format=%(objectname)", "refs/remotes")
	if err != nil {
		return "", err
	}
	seen := map[string]bool{}
	var list strings.Builder
	known := string(out) + "\n" + Settings(filepath.Join(s.Dir, "shallow")) + "\n" + strings.Join(s.Brought, "\n")
	for _, object := range strings.Fields(known) {
		if IsObjectName(object) && !seen[object] {
			seen[object] = true
			list.WriteString("^" + object + "\n")
		}
	}
	return list.String(), nil
}

// remotes returns the addresses that the work tree can be cloned from.
func (s *Shadow) remotes(ctx context.Context) map[string]string {
	out, err := s.Own(ctx, "config", "--null", "--get-regexp", `^remote\..*\.url$`)
	if err != nil {
		return nil // none
	}
	remotes := map[string]string{}
	for pair := range strings.SplitSeq(string(out), "\x00") {
		key, address, _ := strings.Cut(pair, "\n")
		name := strings.TrimSuffix(strings.TrimPrefix(key, "remote."), ".url")
		if address = PublicURL(address); name != "" && address != "" && remotes[name] == "" {
			remotes[name] = address
		}
	}
	return remotes
}

// FolderSize adds up what a folder that is no work tree holds.
func FolderSize(root *os.Root, skip func(string, fs.DirEntry) bool) (sizes, error) {
	var s sizes
	err := fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case skip(at, d) && d.IsDir():
			return fs.SkipDir
		case skip(at, d) || !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err == nil {
			s.add(at, info.Size())
		}
		return err
	})
	return s, err
}

// MaxEntries bounds the entries of an archive, and the files that git names.
const MaxEntries = 200_000

// A GitManifest says what the uncommitted work belongs to. Head is "" where nothing was committed yet.
type GitManifest struct {
	Head    string            `json:"head,omitempty"`
	Branch  string            `json:"branch,omitempty"` // "" for a detached HEAD
	Remotes map[string]string `json:"remotes,omitempty"`
	Prefix  string            `json:"prefix,omitempty"` // where in the work tree the run's folder is
	Format  string            `json:"object_format"`    // sha1, sha256
}

// IsObjectName reports whether a text is the whole name of an object of git, by SHA-1 or SHA-256.
func IsObjectName(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// PublicURL is an address without what lets one in: the user, the password, the query. It is "" for one that is no
// address to fetch from, such as a command.
func PublicURL(address string) string {
	if !utf8.ValidString(address) || strings.ContainsAny(address, "\n\r\t\x00") || strings.Contains(address, "::") {
		return ""
	}
	if !strings.Contains(address, "://") {
		return address // a path, or HOST:PATH with the name of a user at most
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User, u.RawQuery, u.Fragment = nil, "", ""; u.Host == "" && u.Scheme != "file" {
		return ""
	}
	return u.String()
}
