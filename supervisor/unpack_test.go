package supervisor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claude-supervise/checkpoints"
)

// forged packs a run and lets change alter its entries.
func forged(t testing.TB, change func([]forgedEntry) []forgedEntry) []byte {
	t.Helper()
	p := newPC(t)
	folder := t.TempDir()
	put(t, filepath.Join(folder, "file"), "text\n")
	p.waiting(folder, Config{})
	z, err := gzip.NewReader(bytes.NewReader(p.mustPack()))
	if err != nil {
		t.Fatal(err)
	}
	var entries []forgedEntry
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, forgedEntry{*h, string(content)})
	}
	var file bytes.Buffer
	zw := gzip.NewWriter(&file)
	w := tar.NewWriter(zw)
	for _, e := range change(entries) {
		e.Size = int64(len(e.content))
		e.Format = tar.FormatUnknown
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

type forgedEntry struct {
	tar.Header
	content string
}

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
		"an absolute path":                 add(file("/etc/x", "")),
		"a path that leaves":               add(file("work/files/../../../x", "")),
		"a path that is not clean":         add(file("work/files/a//b", "")),
		"a backslash":                      add(file(`work/files/a\..\b`, "")),
		"a git folder":                     add(file("work/files/a/.git/config", "")),
		"a git folder by another case":     add(file("work/files/.GIT/hooks/post-checkout", "")),
		"a git folder with an end":         add(file("work/files/.git. /config", "")),
		"a git folder by its short name":   add(file("work/files/git~1/config", "")),
		"a git folder, invisibly":          add(file("work/files/.g\u200cit/config", "")),
		"a git file":                       add(file("work/files/.git", "gitdir: /tmp/x")),
		"a file that does not belong":      add(file("logs/owner.lock", "")),
		"another run's log":                add(file("logs/a-000000000000.jsonl", "")),
		"another session's transcript":     add(file("transcripts/00000000-0000-0000-0000-000000000000.jsonl", "")),
		"a bundle beside files":            add(file("work/work.bundle", "")),
		"a device":                         add(forgedEntry{tar.Header{Typeflag: tar.TypeChar, Name: "work/files/null", Devmajor: 1, Devminor: 3}, ""}),
		"a fifo":                           add(forgedEntry{tar.Header{Typeflag: tar.TypeFifo, Name: "work/files/fifo"}, ""}),
		"a hard link":                      add(forgedEntry{tar.Header{Typeflag: tar.TypeLink, Name: "work/files/hard", Linkname: "/etc/passwd"}, ""}),
		"a symlink to anywhere":            add(link("work/files/l", "/etc")),
		"a symlink that leaves":            add(link("work/files/a/l", "../../x")),
		"a symlink that leaves by another": add(link("work/files/d/e/f", "../../g"), link("work/files/l", "d/e/f/../../../x")),
		"a symlink to a git folder":        add(link("work/files/l", ".git")),
		"a file through a symlink":         add(link("work/files/l", "a"), file("work/files/l/x", "")),
		"a symlink over a folder":          add(file("work/files/l/x", ""), link("work/files/l", "a")),
		"a symlink among the logs":         add(link("logs/"+packedAgent+".checkpoint.json", "x")),
		"a file twice":                     add(file("work/files/file", "other")),
		"a file in a file":                 add(file("work/files/file/x", "")),
		"a name that is too long":          add(file("work/files/"+strings.Repeat("x/", 3000)+"x", "")),
		"no manifest":                      func(es []forgedEntry) []forgedEntry { return es[1:] },
		"no run":                           func(es []forgedEntry) []forgedEntry { return es[:1] },
		"the run first":                    func(es []forgedEntry) []forgedEntry { return append([]forgedEntry{es[1], es[0]}, es[2:]...) },
		"another run in the manifest":      edit(manifestName, packedRun, "r-zzzzzzzz"),
		"a run that is a path":             edit(manifestName, packedRun, "../../x"),
		"a folder that is none":            edit(manifestName, `"folder": "/`, `"folder": "`),
		"an unknown kind of work":          edit(manifestName, `"files"`, `"programs"`),
		"work that is not there":           edit(manifestName, `"files"`, `"git"`),
		"a record that is missing":         edit(runName, `"launches": [`, `"launches": [null,`),
		"a run of another name":            edit(runName, packedRun, "r-zzzzzzzz"),
		"a session that is a path":         edit(runName, `"session_id": "`, `"session_id": "../../`),
		"no JSON":                          edit(runName, `{`, `[`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := newPC(t)
			parent := t.TempDir()
			folder := filepath.Join(parent, "new")
			_, err := there.unpack(forged(t, change), UnpackOptions{Folder: folder})
			if !errors.Is(err, ErrNotPack) && !errors.Is(err, checkpoints.ErrMalformed) {
				t.Errorf("%v", err)
			}
			if entries, err := os.ReadDir(parent); err != nil || len(entries) > 0 {
				t.Errorf("it made %v (%v)", entries, err)
			}
			if _, err := there.Store.Run(context.Background(), packedRun); !NoSuchID(err) {
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
		es[0].content = strings.Replace(es[0].content, `"format": 1`, `"format": 2`, 1)
		return es
	})
	if _, err := newPC(t).unpack(later, UnpackOptions{Folder: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "upgrade") {
		t.Errorf("%v", err)
	}
	for _, n := range []int{0, 1, 10, 100, len(whole) / 2, len(whole) - 1} {
		if _, err := newPC(t).unpack(whole[:n], UnpackOptions{Folder: t.TempDir()}); !errors.Is(err, ErrNotPack) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

func TestAPackFileThatUnpacksWithoutEndIsLeft(t *testing.T) {
	bomb := forged(t, func(es []forgedEntry) []forgedEntry {
		return append(es, forgedEntry{tar.Header{Typeflag: tar.TypeReg, Name: "work/files/zeros", Mode: 0o600}, string(make([]byte, 2<<20))})
	})
	if len(bomb) > 64<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	if _, err := newPC(t).unpack(bomb, UnpackOptions{Folder: t.TempDir(), MaxWork: 1 << 20}); !errors.Is(err, ErrNotPack) {
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
		if got := publicURL(address); got != want {
			t.Errorf("%q is packed as %q, not %q", address, got, want)
		}
	}
}

// Whatever is in a pack file, reading it ends, and what is read once is written and read again the same.
func FuzzReadParcel(f *testing.F) {
	f.Add(forged(f, func(es []forgedEntry) []forgedEntry { return es }))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			return
		}
		first, err := readParcel(bytes.NewReader(file), t.TempDir(), 1<<20)
		if err != nil {
			return
		}
		var again bytes.Buffer
		p := newPacker(&again, time.Unix(0, 0))
		if err := errors.Join(p.document(manifestName, first.manifest), p.document(runName, first.run)); err != nil {
			t.Fatal(err)
		}
		for _, e := range first.entries {
			h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: 0o600, Size: e.size}
			if err := p.header(h); err != nil {
				t.Fatal(err)
			}
			if e.kind == tar.TypeReg {
				content, err := os.ReadFile(first.path(e))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.tar.Write(content); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		second, err := readParcel(&again, t.TempDir(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := json.Marshal([]any{first.manifest, first.run})
		two, _ := json.Marshal([]any{second.manifest, second.run})
		if !bytes.Equal(one, two) || !slices.EqualFunc(first.entries, second.entries, func(a, b entry) bool {
			return a.name == b.name && a.kind == b.kind && a.link == b.link && a.size == b.size
		}) {
			t.Error("it is read as something else the second time")
		}
	})
}
