// Package house holds what no compiler does: which package may import which, and that every goroutine is waited for.
package house

import (
	"go/token"
	"path"
	"strconv"
	"strings"
	"testing"
)

// A room is a package, or with /... one and all below it that have no row of their own.
type room struct {
	name    string
	may     string // the packages of ours that it may import
	because string
	never   string // the packages of others' that it must not import
}

// What others' packages do for who has clocks, files, processes or goroutines.
const (
	acts = "os/... io/ioutil net net/http/... syscall/... golang.org/x/sys/... database/sql/... math/rand/... " +
		"crypto/rand context golang.org/x/sync/... github.com/fsnotify/... github.com/gofrs/flock " +
		"github.com/rs/zerolog/... modernc.org/..."
	io = "os/... net net/http/... syscall golang.org/x/sys/... crypto/rand path/filepath"
)

// leaves are what all of supervisor/... may know: records, signals, processes, texts.
const leaves = "checkpoints/... signals procs/... supervisor/text " + core

// words are what the core and all of supervisor/... may know: its own leaves, which know no run.
const words = "supervisor/conf supervisor/task supervisor/ask supervisor/listen supervisor/effect supervisor/label " +
	"supervisor/notice supervisor/exit supervisor/table supervisor/records supervisor/pace"

// core is the core with its leaves.
const core = "supervisor " + words

// rooms says who may import whom.
var rooms = []room{
	{"signals", "procs/stream", "bytes to signals and back; it knows nobody but the shapes of the stream's lines", ""},
	{"procs/stream", "", "the CLI's lines, split and shaped, for whoever has such lines: it knows nobody and opens no file", "os/..."},
	{"procs/...", "procs/...", "one process; it knows no run", ""},
	{"checkpoints/...", "checkpoints/...", "records; it knows neither who makes nor who reads them", ""},

	{"supervisor", "signals procs/... checkpoints supervisor/rules supervisor/text supervisor/calls supervisor/prompts " +
		"supervisor/questions " + words, "the core decides and does nothing: what it needs comes inside the events", acts + " io/fs"},
	{"supervisor/text/...", "", "texts are about nothing", ""},
	{"supervisor/table", "", "a table holds anything", acts},
	{"supervisor/pace", "checkpoints supervisor/task", "how long is waited; for what, the core says", acts},
	{"supervisor/records", "checkpoints procs supervisor/conf supervisor/exit supervisor/label supervisor/notice " +
		"supervisor/prompts supervisor/questions supervisor/task supervisor/table supervisor/text",
		"what records say by themselves; what follows from it, the core decides", acts},
	{"supervisor/rules", "supervisor/text", "a rule is a text", ""},
	{"supervisor/calls", "supervisor/rules supervisor/text", "what a call does is read from its input", ""},
	{"supervisor/prompts", "signals checkpoints supervisor/questions supervisor/text",
		"what is said to an agent is made of records", acts},
	{"supervisor/conf", "signals procs procs/claude checkpoints supervisor/questions supervisor/prompts supervisor/text",
		"what a person asks for is read and compared; it knows no state", acts},
	{"supervisor/task", "signals checkpoints supervisor/conf supervisor/text", "a task is words", acts},
	{"supervisor/ask", "signals procs procs/claude checkpoints supervisor/calls supervisor/label supervisor/prompts supervisor/questions " +
		"supervisor/rules supervisor/task supervisor/text", "what is asked is read; whom it concerns, the core says", acts},
	{"supervisor/listen", "signals procs procs/claude checkpoints supervisor/calls supervisor/prompts supervisor/text",
		"what one process says; what follows from it, the core decides", acts},
	{"supervisor/effect", "checkpoints", "an effect is a word; who does it is named nowhere", acts},
	{"supervisor/label", "checkpoints supervisor/text", "a name is made of records", acts},
	{"supervisor/notice", "checkpoints supervisor/text", "what is told is a record; who is told, others know", acts},
	{"supervisor/exit", "checkpoints procs", "a code is read off a record", acts},
	{"supervisor/questions", "checkpoints supervisor/rules supervisor/text",
		"the law of questions is pure; what is found on disk is handed in", acts},
	{"supervisor/git", "supervisor/text", "git's plumbing knows no run", ""},
	{"supervisor/worktree", "checkpoints/... procs supervisor/git supervisor/text", "a folder of its own, for any agent", ""},
	{"supervisor/findings", "checkpoints/... supervisor supervisor/text", "files that agents share", ""},
	{"supervisor/permission", leaves + " supervisor/calls supervisor/rules", "it looks at calls, and asks nobody", ""},
	{"supervisor/images", "", "bytes to what they are a picture of; pure", io},
	{"supervisor/sessions", leaves + " supervisor/questions",
		"the questions of sessions that nobody supervises: they have no run, and need no engine", ""},
	{"supervisor/view", leaves + " supervisor/questions supervisor/calls supervisor/filedrop supervisor/images " +
		"supervisor/sessions", "it reads, and changes nothing", ""},
	{"supervisor/client", leaves + " supervisor/questions supervisor/images supervisor/view supervisor/filedrop",
		"it leaves things in the inbox, and needs no engine", ""},
	{"supervisor/precedents", core + " checkpoints supervisor/questions supervisor/rules supervisor/text",
		"what was answered before is looked up beside the records, and changes none", ""},
	{"supervisor/service", core + " supervisor/precedents supervisor/client supervisor/questions " +
		"supervisor/view supervisor/text supervisor/images supervisor/sessions " +
		"supervisor/filedrop supervisor/git supervisor/prompts supervisor/worktree checkpoints",
		"what every front end does; none of them knows the store, service its folders, and the work of forks", ""},
	{"supervisor/filedrop", leaves + " supervisor/prompts supervisor/questions",
		"files lead into the inbox, as any client does; which inbox, host says", ""},
	{"supervisor/nested", leaves + " supervisor/client supervisor/view", "a client of the root run", ""},
	{"supervisor/pack", leaves + " supervisor/questions supervisor/client supervisor/findings supervisor/git " +
		"supervisor/permission supervisor/rules supervisor/view supervisor/worktree", "it packs what all of these keep", ""},
	{"supervisor/engine", leaves + " supervisor/prompts supervisor/questions supervisor/rules supervisor/view " +
		"supervisor/worktree supervisor/filedrop supervisor/images",
		"it does no I/O itself; package host does it, behind the engine's interfaces", io},
	{"supervisor/host", leaves + " supervisor/prompts supervisor/questions supervisor/client supervisor/engine " +
		"supervisor/filedrop supervisor/findings supervisor/git supervisor/permission supervisor/view " +
		"supervisor/worktree supervisor/images",
		"the engine's interfaces on the real machine", ""},
	{"supervisor/doctor", leaves + " supervisor/permission supervisor/sessions supervisor/view supervisor/filedrop", "it looks at the set-up, and starts no run", ""},
	{"supervisor/telemetry", "checkpoints supervisor/engine", "it wraps the engine's store", ""},
	{"supervisor/internal/...", "checkpoints supervisor", "for tests", ""},

	{"cmd/...", "supervisor/... examples/... cmd/...", "a program knows the supervisor, and no leaf", ""},
	{"cmd/internal/report", core + " supervisor/questions supervisor/text supervisor/view cmd/internal/markup/... " +
		"cmd/internal/terminal",
		"it shows what view has found, and reads nothing itself", ""},
	{"cmd/internal/web", core + " supervisor/precedents supervisor/text supervisor/client supervisor/questions supervisor/service " +
		"supervisor/view supervisor/images cmd/internal/markup/... cmd/internal/report", "the program that serves it gives the rest", ""},
	{"cmd/internal/terminal/screentest", "", "tests read screens by it", ""},
	{"cmd/internal/terminal", "supervisor/questions supervisor/text/... cmd/internal/terminal/screentest procs/pty", "it knows no runs, agents or database", ""},
	{"cmd/internal/notify", "supervisor/text", "it sends what it is given, and knows no runs", ""},
	{"cmd/internal/exitcode", core + " supervisor/doctor supervisor/questions supervisor/view",
		"it knows the errors of what commands call, and does nothing", ""},
	{"cmd/internal/runs", core + " supervisor/text supervisor/view supervisor/service cmd/internal/exitcode " +
		"cmd/internal/asking cmd/internal/terminal", "it shows views; the program gives them", ""},
	{"cmd/internal/news", core + " supervisor/calls supervisor/questions supervisor/view cmd/internal/asking " +
		"cmd/internal/completion cmd/internal/runs cmd/internal/terminal", "what happens, in words; it reads nothing", ""},
	{"cmd/internal/commands", core + " supervisor/doctor supervisor/service supervisor/view cmd/internal/...",
		"commands use a service; which one, the program says", ""},
	{"cmd/internal/request", core + " examples supervisor/doctor supervisor/nested supervisor/pack supervisor/questions " +
		"supervisor/rules supervisor/telemetry supervisor/view cmd/internal/...", "it reads a command line, and starts nothing", ""},
	{"cmd/internal/manual", "cmd/internal/... e2e/machinetest", "the tests of both programs read man pages by it", ""},
	{"cmd/internal/mcp", "supervisor/filedrop supervisor/text", "a host of MCP asks by it; it knows no runs", ""},
	{"cmd/internal/install", core + " supervisor/client supervisor/doctor supervisor/filedrop supervisor/permission supervisor/sessions supervisor/text supervisor/view " +
		"cmd/internal/...",
		"it puts files into their places", ""},
	{"cmd/internal/board", core + " supervisor/service supervisor/view supervisor/questions supervisor/text " +
		"cmd/internal/terminal/...",
		"the program that shows it gives the rest", ""},
	{"cmd/internal/asking", core + " supervisor/precedents supervisor/client supervisor/questions supervisor/service " +
		"supervisor/text " +
		"supervisor/view cmd/internal/exitcode cmd/internal/terminal cmd/internal/web",
		"it asks on a terminal; the program gives the questions and keeps the answers", ""},
	{"cmd/internal/serving", "supervisor/client supervisor/service cmd/internal/config cmd/internal/exitcode " +
		"cmd/internal/terminal cmd/internal/web",
		"it serves a page; the program says what is on it", ""},
	{"cmd/internal/markup/...", "", "how pages are written, whatever is on them", ""},
	{"cmd/claude-supervise-fleet/internal/worker", "supervisor/... cmd/... checkpoints/files",
		"it drives claude-supervise on one machine, and sees to the snapshots", ""},
	{"cmd/claude-supervise-fleet/internal/flow", "checkpoints supervisor/text supervisor/view " + core + " " +
		"cmd/claude-supervise-fleet/internal/seal", "a workflow is replayed: it decides, and does nothing itself",
		"os/... net/... math/rand/... crypto/rand"},

	{"examples/...", "examples/... procs/stream procs/pty", "scenarios know nothing of ours but the shapes of the stream's lines", ""},
	{"e2e/...", "...", "the whole program is looked at from outside", ""},
	{"cmd/claude-supervise-fleet/e2e", "...", "the same, of a fleet", ""},
}

// owned says who alone may import a package of others'; "": nobody.
var owned = []room{
	{"go.temporal.io/...", "cmd/claude-supervise-fleet/...", "only the fleet knows its engine", ""},
	{"go.temporal.io/server/...", "cmd/claude-supervise-fleet/internal/dev/...", "it takes minutes to compile", ""},
	{"claude-supervise/cmd/claude-supervise-fleet/internal/dev", "cmd/claude-supervise-fleet/claude-supervise-fleet-dev",
		"it has the server in it", ""},
	{"github.com/creack/pty", "procs/pty", "what it hands to the kernel may have moved", ""},
	{"gocloud.dev/...", "cmd/claude-supervise-fleet/...", "only the fleet knows blob stores", ""},
	{"html/template", "", "pages are drawn with gomponents and package markup", ""},
	{"text/template", "", "the linker keeps every exported method for it, 3 MB of them", ""},
	{"maragu.dev/gomponents/...", "", "of gomponents itself and its package html alone it is known how they escape", ""},
	{"maragu.dev/gomponents", "...", "it escapes", ""},
	{"maragu.dev/gomponents/html", "...", "it escapes", ""},
}

const ours = "claude-supervise/"

func TestEveryRoomImportsOnlyWhatItMay(t *testing.T) {
	used := map[string]bool{}
	eachFile(t, func(f file) {
		at := longest(rooms, path.Dir(f.path))
		if at == nil {
			t.Errorf("%s: %s has no row in rooms", f.path, path.Dir(f.path))
			return
		}
		used[at.name] = true
		for _, spec := range f.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if why := refused(f, *at, name); why != "" {
				t.Errorf("%s: %s must not import %s: %s", f.at(spec.Pos()), path.Dir(f.path), name, why)
			}
		}
	})
	for _, r := range rooms {
		if !used[r.name] {
			t.Errorf("no package is in the room %s", r.name)
		}
	}
}

// refused returns why a file must not import a package; "": it may.
func refused(f file, at room, name string) string {
	if o := longest(owned, name); o != nil && !matches(o.may, path.Dir(f.path)) {
		return o.because
	}
	of, isOurs := strings.CutPrefix(name, ours)
	switch {
	case !isOurs:
		if !f.isTest && matches(at.never, name) {
			return at.because
		}
	case matches(at.name, of), matches(at.may, of):
	case f.isTest && freeInTests(f.path, of):
	default:
		return at.because
	}
	return ""
}

// freeInTests reports whether only the code of a room is bound: the tests of what is in supervisor play scenarios on
// the whole of it, and helpers of tests are for all.
func freeInTests(file, of string) bool {
	return strings.HasPrefix(file, "supervisor/") || strings.HasSuffix(of, "test") ||
		file == "cmd/claude-supervise/completing_test.go" || // fills a database, as only a supervisor does
		file == "cmd/internal/board/golden_test.go" // shows questions as the program that shows the board does
}

// longest finds the row that fits a package best.
func longest(rows []room, name string) (best *room) {
	for i, r := range rows {
		base := strings.TrimSuffix(r.name, "/...")
		if matches(r.name, name) && (best == nil || matches(best.name, base) && best.name != base) {
			best = &rows[i]
		}
	}
	return best
}

// matches reports whether one of the patterns fits a package.
func matches(patterns, name string) bool {
	for pattern := range strings.FieldsSeq(patterns) {
		tree, isTree := strings.CutSuffix(pattern, "...")
		if pattern == name || isTree && strings.HasPrefix(name+"/", tree) {
			return true
		}
	}
	return false
}

func TestATableOfRoomsRefusesWhatItDoesNotName(t *testing.T) {
	for _, c := range []struct {
		file, imports string
		may           bool
	}{
		{"cmd/claude-supervise/x.go", ours + "procs", false},
		{"cmd/claude-supervise/x.go", ours + "supervisor/engine", true},
		{"cmd/internal/markup/x.go", ours + "supervisor", false},
		{"supervisor/x.go", "os/exec", false},
		{"supervisor/x.go", "net/netip", true},
		{"supervisor/x.go", ours + "supervisor/view", false},
		{"supervisor/x_test.go", ours + "supervisor/view", true},
		{"supervisor/engine/x.go", ours + "supervisor/host", false},
		{"procs/claude/x.go", ours + "procs", true},
		{"procs/stream/x.go", ours + "procs", false},
		{"cmd/internal/web/x.go", "maragu.dev/gomponents/html", true},
		{"cmd/internal/web/x.go", "maragu.dev/gomponents/components", false},
		{"supervisor/pack/x.go", "gocloud.dev/blob", false},
		{"cmd/claude-supervise-fleet/internal/worker/x.go", "go.temporal.io/sdk/client", true},
		{"cmd/claude-supervise-fleet/internal/worker/x.go", "go.temporal.io/server/temporal", false},
	} {
		f := file{path: c.file, isTest: strings.HasSuffix(c.file, "_test.go"), set: token.NewFileSet()}
		if why := refused(f, *longest(rooms, path.Dir(c.file)), c.imports); (why == "") != c.may {
			t.Errorf("%s imports %s: %q", c.file, c.imports, why)
		}
	}
}
