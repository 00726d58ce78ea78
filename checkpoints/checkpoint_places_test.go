package checkpoints

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints/files"
	"claude-supervise/e2e/machinetest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// An area is a run's folder with another root beside it, a folder of ours, and one where nothing may be touched.
type area struct {
	Places
	dir, base, root, ours, outside string
}

func newArea(t *testing.T) area {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "places") // a socket's name has to fit
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	a := area{dir: dir, base: filepath.Join(dir, "run"), root: filepath.Join(dir, "root"),
		ours: filepath.Join(dir, "ours"), outside: filepath.Join(dir, "outside")}
	for _, folder := range []string{a.base, a.root, a.ours, a.outside} {
		noError(t, os.Mkdir(folder, 0o700))
	}
	a.Places = Places{Base: a.base, Roots: []string{filepath.Join(dir, "gone"), "", a.root}}
	return a
}

func (a area) put(t *testing.T, path, text string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.base, path)
	}
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o640)))
	return path
}

// tree is all that lies in a folder, with what the files hold.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		found[name] = d.Type().String()
		if err == nil && d.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(path)
			found[name] += " " + string(text)
		}
		return err
	})
	noError(t, err)
	return found
}

func TestACheckpointThatAnAgentNamesIsKeptAsItIs(t *testing.T) {
	for name, form := range map[string]string{
		"checkpoint.json": FormHybrid, "agent-pause-state.json": FormSkill, "mutation-agent.md": FormMarkdown,
	} {
		a := newArea(t)
		text := ofDocument(t, name) + " \n"
		a.put(t, name, text)
		kept := filepath.Join(a.ours, "kept")
		for range 2 {
			c, err := a.Keep(name, kept)
			if err != nil || c.Form != form {
				t.Fatalf("%s: %v, %v", name, c, err)
			}
		}
		if diff := cmp.Diff(map[string]string{"kept": fs.FileMode(0).String() + " " + text}, tree(t, a.ours)); diff != "" {
			t.Error(diff)
		}
		if info, err := os.Stat(kept); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v (%v)", info.Mode(), err)
		}
		c, err := ReadCheckpoint(kept)
		if err != nil || c.Form != form {
			t.Errorf("the copy: %v, %v", c, err)
		}
	}
}

// Where an agent may leave its checkpoint, and where not. None of the methods finds another one, and what is refused is
// left alone.
func TestACheckpointIsFoundOnlyWhereAnAgentMayLeaveOne(t *testing.T) {
	long := strings.Repeat("n", 4096)
	for path, want := range map[string]error{
		"here.json":                     nil,
		"./sub/../here.json":            nil,
		"RUN/here.json":                 nil,
		"RUN/../run/here.json":          nil,
		"ROOT/there.json":               nil,
		"../root/there.json":            nil,
		"inner/here.json":               nil, // a link within the folder
		"to root/there.json":            nil, // and from one folder to another
		"~/home.json":                   nil,
		"/tmp/../" + "RUN/here.json":    nil,
		"link.json":                     files.ErrNotOurs,
		"hard":                          nil,
		"fifo":                          files.ErrNotOurs,
		"socket":                        files.ErrNotOurs,
		"sub":                           files.ErrNotOurs,
		".":                             errOutside, // a folder whose own folder is none of these
		"sub/.":                         files.ErrNotOurs,
		"/":                             errOutside,
		"fifo/x":                        fs.ErrNotExist,
		"here.json/x":                   fs.ErrNotExist,
		"missing.json":                  fs.ErrNotExist,
		"gone/with/its/folder.json":     fs.ErrNotExist,
		"":                              fs.ErrNotExist,
		"here.json\x00.png":             fs.ErrNotExist,
		long:                            fs.ErrNotExist,
		long + "/x":                     fs.ErrNotExist,
		strings.Repeat("n/", 10_000):    fs.ErrNotExist,
		"OUTSIDE/secret.json":           errOutside,
		"../outside/secret.json":        errOutside,
		"sub/../../outside/secret.json": errOutside,
		"way out/secret.json":           errOutside,
		"way out/../here.json":          nil, // as the name reads, it never left
		"sub/way out/secret.json":       errOutside,
		"up/outside/secret.json":        errOutside,
		"loop/x.json":                   errOutside,
		"large.json":                    files.ErrTooLarge,
		"package.json":                  errNotCheckpoint,
		"half.json":                     errNotCheckpoint,
		"empty.json":                    errNotCheckpoint,
		"state.yaml":                    errNotCheckpoint,
	} {
		t.Run(files.Shorten(path), func(t *testing.T) {
			a := newArea(t)
			t.Setenv("HOME", a.root)
			at := func(name string) string { return filepath.Join(a.base, name) }
			for name, text := range map[string]string{
				"here.json": hybrid, a.root + "/there.json": hybrid, a.root + "/home.json": hybrid,
				a.outside + "/secret.json": hybrid,
				"sub/x.json":               hybrid, "package.json": `{"name": "app", "files": []}`, "half.json": hybrid[:100],
				"empty.json": "",
				"state.yaml": "current_step: one\n",
			} {
				a.put(t, name, text)
			}
			socket, err := net.Listen("unix", at("socket"))
			noError(t, err)
			defer socket.Close()
			if err := errors.Join(
				os.Symlink("here.json", at("link.json")), os.Link(at("here.json"), at("hard")), unix.Mkfifo(at("fifo"), 0o600),
				os.Symlink(".", at("inner")), os.Symlink(a.root, at("to root")), os.Symlink(a.outside, at("way out")),
				os.Symlink("../../outside", at("sub/way out")), os.Symlink("..", at("up")), os.Symlink("loop", at("loop")),
			); err != nil {
				t.Fatal(err)
			}
			if errors.Is(want, files.ErrTooLarge) {
				a.put(t, path, hybrid+strings.Repeat(" ", checkpointMax))
			}
			path := strings.NewReplacer("RUN", a.base, "ROOT", a.root, "OUTSIDE", a.outside).Replace(path)
			before := tree(t, a.dir)
			_, err = a.Keep(path, filepath.Join(a.ours, "kept"))
			if !errors.Is(err, want) {
				t.Errorf("keep: %v, want %v", err, want)
			}
			if want == nil {
				if err := errors.Join(a.SetAnswer(path, said("yes")), a.StoreAnswers(path, map[string]any{"q1": "yes"})); err != nil {
					t.Error(err)
				}
				return
			}
			if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) {
				t.Errorf("%q acts on a terminal", err)
			}
			if err := a.SetAnswer(path, said("yes")); !errors.Is(err, want) {
				t.Errorf("set the answer: %v, want %v", err, want)
			}
			if err := a.StoreAnswers(path, nil); !errors.Is(err, want) {
				t.Errorf("store the answers: %v, want %v", err, want)
			}
			if diff := cmp.Diff(before, tree(t, a.dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestACheckpointOfAnotherUserIsNotRead(t *testing.T) {
	if os.Geteuid() != 0 {
		machinetest.Lacks(t, "CI runs this test as root: nobody else can give a file away")
	}
	a := newArea(t)
	path := a.put(t, "c.json", hybrid)
	noError(t, os.Chown(path, 65534, 65534))
	if _, err := a.Keep("c.json", filepath.Join(a.ours, "kept")); !errors.Is(err, files.ErrNotOurs) {
		t.Errorf("got %v", err)
	}
}

func TestAPlaceMayBeNamedByALink(t *testing.T) {
	a := newArea(t)
	a.put(t, "c.json", hybrid)
	noError(t, os.Symlink(a.base, filepath.Join(a.dir, "link")))
	linked := Places{Base: filepath.Join(a.dir, "link")}
	for _, path := range []string{"c.json", filepath.Join(a.base, "c.json"), filepath.Join(a.dir, "link", "c.json")} {
		for name, p := range map[string]Places{"linked": linked, "not linked": a.Places} {
			if _, err := p.Keep(path, filepath.Join(a.ours, "kept")); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := (Places{}).Keep(filepath.Join(a.base, "c.json"), filepath.Join(a.ours, "kept")); !errors.Is(err,
		errOutside) {
		t.Errorf("without any place: %v", err)
	}
}

func TestAFolderThatIsSwappedForALinkLeadsNowhere(t *testing.T) {
	a := newArea(t)
	a.put(t, a.outside+"/c.json", hybrid)
	if err := os.Symlink(a.outside, filepath.Join(a.base, "sub")); err != nil { // after the path was resolved
		t.Fatal(err)
	}
	if folder, err := folderUnder(a.base, "sub"); err == nil {
		t.Errorf("opened %s", folder.Name())
	}
	noError(t, unix.Mkfifo(filepath.Join(a.base, "fifo"), 0o600))
	for _, path := range [][2]string{{a.base, "fifo"}, {filepath.Join(a.base, "fifo"), "."}} {
		if _, err := folderUnder(path[0], path[1]); !errors.Is(err, unix.ENOTDIR) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestWithoutACopyNothingIsKept(t *testing.T) {
	a := newArea(t)
	a.put(t, "c.json", hybrid)
	c, err := a.Keep("c.json", filepath.Join(a.ours, "gone", "kept"))
	if c != nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no copy") {
		t.Errorf("got %v, %v", c, err)
	}
}

func TestAnAnswerIsWrittenIntoACheckpointThatStaysAsItWas(t *testing.T) {
	a := newArea(t)
	text := strings.Replace(hybrid, `"context"`, `"zeta": {"b": 1.10}, "context"`, 1)
	path := a.put(t, "c.json", text)
	for _, answer := range []string{"jwt", "oauth <2>\n"} {
		for range 2 {
			noError(t, a.SetAnswer("c.json", said(answer)))
		}
	}
	want := strings.Replace(hybrid, `null
}`, `"oauth <2>\n",
  "zeta": {"b": 1.10}
}`, 1)
	if diff := cmp.Diff(map[string]string{"c.json": fs.FileMode(0).String() + " " + want}, tree(t, a.base)); diff != "" {
		t.Error(diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestAnAnswerIsWrittenIntoNoCheckpointOfAnotherForm(t *testing.T) {
	a := newArea(t)
	for _, name := range []string{"agent-pause-state.json", "mutation-agent.md"} {
		a.put(t, name, ofDocument(t, name))
		before := tree(t, a.base)
		if err := a.SetAnswer(name, said("A")); !errors.Is(err, errNotCheckpoint) {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(before, tree(t, a.base)); diff != "" {
			t.Error(diff)
		}
	}
}

// The answers to several questions are one object, which the next answer replaces.
func TestTheAnswersToSeveralQuestionsAreAnObjectInACheckpoint(t *testing.T) {
	a := newArea(t)
	a.put(t, "c.json", hybrid)
	for _, answer := range []string{`{"q1": "oauth", "q2": null, "q3": ["a", "b"]}`, `"jwt"`, `["a", "b"]`} {
		noError(t, a.SetAnswer("c.json", json.RawMessage(answer)))
		text, err := os.ReadFile(filepath.Join(a.base, "c.json"))
		if want := strings.Replace(hybrid, "null\n}", answer+"\n}", 1); string(text) != want || err != nil {
			t.Errorf("%s (%v)", text, err)
		}
	}
}

// said is an answer as SetAnswer takes it.
func said(answer string) json.RawMessage {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return raw
}

func TestAnAnswerThatDoesNotFitLeavesTheCheckpointAlone(t *testing.T) {
	a := newArea(t)
	path := a.put(t, "c.json", hybrid)
	if err := a.SetAnswer("c.json", said(strings.Repeat("x", checkpointMax))); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path); string(text) != hybrid || err != nil {
		t.Errorf("left %d bytes (%v)", len(text), err)
	}
}

func TestAnswersAreStoredBesideTheState(t *testing.T) {
	a := newArea(t)
	a.put(t, "state.md", ofDocument(t, "mutation-agent.md"))
	for _, answers := range []map[string]any{{"q1": "No"}, {"q1": "Yes <all>", "q2": []string{"B", "C"}, "q3": nil}} {
		noError(t, a.StoreAnswers("state.md", answers))
	}
	text, err := os.ReadFile(filepath.Join(a.base, "state.md.answer.json"))
	if want := `{"answers":{"q1":"Yes <all>","q2":["B","C"],"q3":null}}` + "\n"; string(text) != want || err != nil {
		t.Errorf("%q (%v)", text, err)
	}
}

func TestAnswersReplaceNothingElseThatHasTheirName(t *testing.T) {
	for name, place := range map[string]func(path string) error{
		"another file": func(path string) error { return os.WriteFile(path, []byte(`{"answers": {}, "mine": 1}`), 0o600) },
		"other values": func(path string) error { return os.WriteFile(path, []byte(`{"answers": {"q1": 3}}`), 0o600) },
		"half a file":  func(path string) error { return os.WriteFile(path, []byte(`{"answers"`), 0o600) },
		"a link":       func(path string) error { return os.Symlink("state.json", path) },
		"a folder":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a FIFO":       func(path string) error { return unix.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newArea(t)
			path := a.put(t, "state.json", ofDocument(t, "agent-pause-state.json"))
			noError(t, place(path+stateAnswerSuffix))
			before := tree(t, a.base)
			if err := a.StoreAnswers("state.json", map[string]any{"q1": "A"}); !errors.Is(err, files.ErrNotOurs) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(before, tree(t, a.base)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestARefusalNamesTheFileInOneLineThatCanBePrinted(t *testing.T) {
	a := newArea(t)
	for path, want := range map[string]string{
		"gone.json":                 `checkpoint gone.json: no such file or directory`,
		"/etc/passwd":               `checkpoint /etc/passwd: outside of the folders where an agent may leave one`,
		"\x1b[2J\n.json":            `checkpoint "\x1b[2J\n.json": no such file or directory`,
		"bell\a\u202e.json":         `checkpoint "bell\a\u202e.json": no such file or directory`,
		"\xff.json":                 `checkpoint "\xff.json": no such file or directory`,
		strings.Repeat("ü", 10_000): `checkpoint ` + strings.Repeat("ü", 300) + `…: file does not exist: file name too long`,
	} {
		_, err := a.Keep(path, filepath.Join(a.ours, "kept"))
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: %v", path, err)
		}
	}
	a.put(t, "bad.json", `{"current_step": "`+"\x1b"+`[2J"}`)
	if _, err := a.Keep("bad.json", filepath.Join(a.ours, "kept")); err == nil ||
		bytes.ContainsRune([]byte(err.Error()), 0x1b) {
		t.Errorf("got %q", err)
	}
}
