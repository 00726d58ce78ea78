package permission

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// strangeNames are names that a repository can give its folders and links: plain ones, and one with each character that
// is white space or cannot be seen.
func strangeNames() []string {
	names := []string{"a", "B", "b", "é", "e\u0301", "-", "*", "[", `\`, "~", "$HOME", ".x", "..."}
	for _, table := range []*unicode.RangeTable{unicode.White_Space, unicode.Cf} {
		for _, r := range table.R16 {
			names = append(names, "a"+string(rune(r.Lo)), string(rune(r.Hi)))
		}
		for _, r := range table.R32 {
			names = append(names, "a"+string(rune(r.Lo)))
		}
	}
	return names
}

// A tree is a random folder of folders, files and links, some of which lead nowhere, out, or in a circle.
type tree struct {
	*rand.Rand
	t     *testing.T
	root  string
	names []string
}

func newTree(t *testing.T, seed uint64) tree {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tr := tree{rand.New(rand.NewPCG(seed, 1)), t, root, strangeNames()}
	tr.Shuffle(len(tr.names), func(i, j int) { tr.names[i], tr.names[j] = tr.names[j], tr.names[i] })
	tr.names = append(tr.names[:4], "a", "b") // so that paths meet what there is
	for range 12 {
		at := filepath.Join(root, tr.some(3, false))
		_ = os.MkdirAll(filepath.Dir(at), 0o700) // a link or a file may be in the way
		switch tr.IntN(4) {
		case 0:
			_ = os.MkdirAll(at, 0o700)
		case 1:
			_ = os.WriteFile(at, nil, 0o600)
		default:
			to := tr.some(3, true)
			if tr.IntN(3) == 0 {
				to = filepath.Join(root, to)
			}
			_ = os.Symlink(to, at)
		}
	}
	return tr
}

// some returns a random relative path.
func (t tree) some(most int, up bool) string {
	var names []string
	for range 1 + t.IntN(most) {
		switch n := t.IntN(8); {
		case n == 0 && up:
			names = append(names, "..")
		case n == 1 && up:
			names = append(names, ".", "")
		default:
			names = append(names, t.names[t.IntN(len(t.names))])
		}
	}
	return strings.Join(names, "/")
}

// make makes the folders that a path lacks, as mkdir -p does, also behind links that lead nowhere yet.
func (t tree) make(path string) {
	for i := range path {
		if path[i] == '/' {
			if real, known := follow(path[:i]); known && strings.HasPrefix(real, t.root) {
				_ = os.MkdirAll(real, 0o700)
			}
		}
	}
}

// What follow says of a path that is not there yet is where the kernel puts the file that is then written to it.
func TestAPathIsFollowedAsTheKernelDoes(t *testing.T) {
	written, circles := 0, 0
	for seed := range uint64(150) {
		tr := newTree(t, seed)
		for range 10 {
			path := tr.root + "/" + tr.some(5, true)
			real, known := follow(path)
			if _, err := os.Stat(path); !known {
				circles++
				if err == nil {
					t.Fatalf("seed %d: %q is there, and follow does not know where", seed, path)
				}
				continue
			}
			if !strings.HasPrefix(real, tr.root+"/") {
				continue // out of the tree nothing is written
			}
			tr.make(path)
			if again, _ := follow(path); again != real {
				t.Fatalf("seed %d: %q leads to %q, and to %q once its folders are there", seed, path, real, again)
			}
			err := os.WriteFile(path, []byte("x"), 0o600)
			if text, errReal := os.ReadFile(real); err == nil && (errReal != nil || string(text) != "x") {
				t.Fatalf("seed %d: %q was written, and %q holds %q (%v)", seed, path, real, text, errReal)
			}
			if err == nil {
				written++
				if kernel, err := filepath.EvalSymlinks(path); err != nil || kernel != real {
					t.Fatalf("seed %d: %q leads to %q, not %q (%v)", seed, path, kernel, real, err)
				}
				_ = os.Remove(real)
			}
		}
	}
	if written < 200 || circles < 10 {
		t.Errorf("only %d files were written, and %d paths led in a circle", written, circles)
	}
}

// A path that a tool is given is shown as within the run's folder only if the file that is written is there, and gets a
// rule only if it is that very file.
func TestAFileIsShownWhereItIsWritten(t *testing.T) {
	outside, plain := 0, 0
	for seed := range uint64(100) {
		tr := newTree(t, seed)
		folder := filepath.Join(tr.root, "a")
		_ = os.Mkdir(folder, 0o700)
		if info, err := os.Lstat(folder); err != nil || !info.IsDir() {
			continue
		}
		from := filepath.Join(folder, tr.some(1, false))
		for range 10 {
			path := tr.some(4, true)
			if tr.IntN(3) == 0 {
				path = folder + "/" + path
			}
			at := Locate(path, from, folder)
			if !strings.HasPrefix(at.Real, tr.root+"/") {
				if at.Real == "" && (!at.outside || at.plain) {
					t.Fatalf("seed %d: %q from %q: %+v", seed, path, from, at)
				}
				continue
			}
			tr.make(at.Path)
			if err := os.WriteFile(at.Path, nil, 0o600); err != nil {
				continue
			}
			file, err := filepath.EvalSymlinks(at.Path)
			if err != nil {
				t.Fatal(err)
			}
			in := strings.HasPrefix(file, folder+"/")
			if !in && !at.outside || at.plain && file != at.Path {
				t.Fatalf("seed %d: %q from %q is written to %q, in %v: %+v", seed, path, from, file, in, at)
			}
			if at.outside {
				outside++
			}
			if at.plain {
				plain++
			}
			_ = os.Remove(file)
		}
	}
	if outside < 10 || plain < 50 {
		t.Errorf("only %d were outside, and %d plain", outside, plain)
	}
}

// Whatever the links of a repository and the words that name them, a shell's write to the person's config is found.
func TestAShellsWriteToTheConfigIsFoundThroughAnyLinks(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		tr := newTree(t, seed)
		config := filepath.Join(tr.root, "a")
		real, known := follow(config)
		if !known || !strings.HasPrefix(real, tr.root+"/") {
			continue
		}
		g := NewGuarded("/nobody", config)
		for range 10 {
			cwd, known := follow(filepath.Join(tr.root, tr.some(2, false)))
			if !known || os.MkdirAll(cwd, 0o700) != nil {
				continue
			}
			path := tr.some(4, true)
			to, known := follow(cwd + "/" + path)
			tr.make(cwd + "/" + path)
			quoted := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
			touches := g.whyLine("cat x > "+quoted, cwd) != ""
			if known && strings.HasPrefix(to+"/", real+"/") {
				found++
				if !touches {
					t.Fatalf("seed %d: %q in %q is of %q, and not found", seed, path, cwd, real)
				}
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d of the writes were to the config", found)
	}
}

func TestALinkOfAProcessIsNotFollowed(t *testing.T) {
	for path, known := range map[string]bool{"/proc/self/cwd": false, "/proc/self/root/etc": false,
		"/proc/self/fd/0": false, "/proc/self/status": true, "/proc/thread-self/x": true} {
		if _, err := os.Stat("/proc/self/cwd"); errors.Is(err, fs.ErrNotExist) {
			t.Skip("this system has no /proc") // in CI, too
		}
		if real, got := follow(path); got != known {
			t.Errorf("%s leads to %q, known: %v", path, real, got)
		}
	}
}

func FuzzNamedLine(f *testing.F) {
	f.Add("cd ~/.config; echo x > claude-*/y <<E\nE")
	f.Add("for x in {a,b}; do ${x:-y} \"$x\" $'\\n' `z`; done")
	g := NewGuarded("/home/x", "/home/x/.config/claude-supervise")
	f.Fuzz(func(t *testing.T, line string) {
		if with := fmt.Sprintf("%s\necho x > ~/.config/claude-supervise/y", line); g.whyLine(with, "/nowhere") == "" {
			t.Errorf("%q is not found", with)
		}
		_ = g.whyLine(line, "/nowhere")
	})
}
