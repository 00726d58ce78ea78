package claude

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	cli "claude-supervise/procs/claude"
)

// A setting of a newer release may break a promise of a run without a word. So each member of the settings that the
// program itself knows, by its schema, stands in a list of those that somebody has decided about, and each of the list
// in the schema. Only the pinned release is looked at: in others it is written otherwise.
func TestEverySettingOfTheReleaseIsDecidedAbout(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile(filepath.Join("..", "..", "supervisor", "permission", "testdata", "settings.txt"))
	noError(t, err)
	decided := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		if !strings.HasPrefix(line, "#") {
			for _, name := range strings.Fields(line) {
				decided[name] = true
			}
		}
	}
	pinned, err := os.ReadFile("package.json")
	noError(t, err)
	if version := cli.InstalledRelease(Program(t)); !bytes.Contains(pinned, []byte(`"`+version+`"`)) {
		t.Skipf("%s is not the pinned release", version) // in CI, too: make releases tries others
	}
	known := settingsOf(t, Program(t))
	for name := range known {
		if !decided[name] {
			t.Errorf("nobody has decided about the setting %s", name)
		}
	}
	for name := range decided {
		if !known[name] {
			t.Errorf("the release has no setting %s", name)
		}
	}
}

// settingsOf returns the members of the settings, with those of documents that the same part of the program reads.
func settingsOf(t *testing.T, program string) map[string]bool {
	t.Helper()
	file, err := os.Open(program)
	noError(t, err)
	defer file.Close()
	info, err := file.Stat()
	noError(t, err)
	code, err := unix.Mmap(int(file.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_PRIVATE)
	noError(t, err)
	defer func() { _ = unix.Munmap(code) }()
	at := bytes.Index(code, []byte(`describe("JSON Schema reference for Claude Code settings`))
	if at < 0 {
		t.Fatal("the program has no schema of its settings where it is looked for")
	}
	next := []byte("\nimport{") // begins each part
	part, _, _ := bytes.Cut(code[bytes.LastIndex(code[:at], next)+1:], next)
	members := map[string]bool{}
	member := regexp.MustCompile(`[{,;]([A-Za-z$]\w*):(?:\(\)=>|[A-Za-z$_][\w$]{0,3}\()`)
	for _, m := range member.FindAllSubmatch(part, -1) {
		members[string(m[1])] = true
	}
	return members
}
