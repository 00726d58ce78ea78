package checkpoints

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints/files"
)

// shortDirs returns folders whose path leaves room for a socket's name, which t.TempDir does not on every machine.
func shortDirs(t *testing.T) Dirs {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "waker")
	noError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return Dirs{Runtime: filepath.Join(dir, "runtime")}
}

func listen(t *testing.T, d Dirs) *Waker {
	t.Helper()
	b, err := d.Listen(testRun)
	noError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestEveryRingAfterTheLastOneHeardIsHeard(t *testing.T) {
	b := listen(t, shortDirs(t))
	for range 100 {
		Ring(b.Path())
		<-b.C()
	}
}

func TestRingsThatNobodyHasHeardYetAreOne(t *testing.T) {
	b := listen(t, shortDirs(t))
	for range 1000 {
		Ring(b.Path())
	}
	<-b.C()
	if err := b.Close(); err != nil { // ends the listening, whatever was still on its way
		t.Fatal(err)
	}
	if n := len(b.C()); n > 1 {
		t.Errorf("%d more", n)
	}
	if _, err := os.Lstat(b.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is there still: %v", err)
	}
}

func TestRingNeverBlocksNorCaresWhoIsThere(t *testing.T) {
	dir := shortDirs(t).Runtime
	noError(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(dir, "file")
	noError(t, os.WriteFile(file, nil, 0o600))
	Ring(filepath.Join(dir, "missing"))
	Ring(file)
	Ring("")
	Ring(strings.Repeat("x", 4000))
	deaf := filepath.Join(dir, "deaf")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: deaf, Net: "unixgram"})
	noError(t, err)
	for range 1000 { // far more than its queue holds
		Ring(deaf)
	}
	noError(t, conn.Close())
	Ring(deaf) // dead, the socket still there
	if text, err := os.ReadFile(file); err != nil || len(text) != 0 {
		t.Errorf("wrote %q into a file (%v)", text, err)
	}
}

func TestTheBellOfADeadSupervisorIsReplaced(t *testing.T) {
	d := shortDirs(t)
	noError(t, os.Mkdir(d.Runtime, 0o700))
	dead, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: d.wakerPath(testRun), Net: "unixgram"})
	noError(t, err)
	noError(t, dead.Close())
	b := listen(t, d)
	Ring(d.wakerPath(testRun))
	<-b.C()
}

func TestABellWhoseSocketWasCleanedAwayCloses(t *testing.T) {
	b := listen(t, shortDirs(t))
	noError(t, os.Remove(b.Path()))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
}

func TestAWakeUpSocketIsInAFolderOfOursOnly(t *testing.T) {
	d := shortDirs(t)
	d.State = filepath.Dir(d.Runtime)
	elsewhere := d.Runtime + "-elsewhere"
	listens := func(where string) {
		t.Helper()
		waker, err := d.Listen(testRun)
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if filepath.Dir(waker.Path()) != d.State {
			t.Errorf("%s: it is at %s", where, waker.Path())
		}
		Ring(waker.Path())
		<-waker.C()
		if err := waker.Close(); err != nil {
			t.Error(err)
		}
	}
	noError(t, errors.Join(os.Mkdir(elsewhere, 0o700), os.Symlink(elsewhere, d.Runtime)))
	listens("a link has the folder's name")
	if made, err := os.ReadDir(elsewhere); err != nil || len(made) != 0 {
		t.Errorf("made %v (%v)", made, err)
	}
	noError(t, errors.Join(os.Remove(d.Runtime), os.WriteFile(d.Runtime, nil, 0o600)))
	listens("a file has the folder's name")
	if os.Geteuid() != 0 { // to root, a folder of root's is its own
		d.Runtime = "/"
	} else if err := errors.Join(os.Remove(d.Runtime), os.Mkdir(d.Runtime, 0o700),
		os.Chown(d.Runtime, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	listens("another user has the folder")
	d.State = filepath.Join(d.State, strings.Repeat("x", 90))
	if _, err := d.Listen(testRun); !errors.Is(err, files.ErrUnsafeDir) || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("the state folder's path is too long for a socket: %v", err)
	}
}

func TestAFolderForBellsThatIsOpenToOthersIsClosed(t *testing.T) {
	d := shortDirs(t)
	noError(t, os.Mkdir(d.Runtime, 0o755))
	listen(t, d)
	if info, err := os.Stat(d.Runtime); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestABellNeedsAnIDAndAShortPath(t *testing.T) {
	d := shortDirs(t)
	if _, err := d.Listen("../x"); err == nil {
		t.Error("listens outside its folder")
	}
	d.Runtime = filepath.Join(d.Runtime, strings.Repeat("x", 90))
	if _, err := d.Listen(testRun); err == nil || !strings.Contains(err.Error(), "XDG_RUNTIME_DIR") {
		t.Errorf("got %v", err)
	}
}
