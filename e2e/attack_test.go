package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/claude"
	"claude-supervise/e2e/messagesapi"
	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	cli "claude-supervise/procs/claude"
)

// An attack lays files that are to grant or run something that nobody was asked about, in one of the places from which
// Claude Code takes settings. It has come off when the file PROOF is there.
//
// Each is played twice on the real CLI: to bare claude -p, where it must come off on the releases in fires (or the
// attack shows nothing), and to claude-supervise, where it must not on any. The lists of fires are what was measured,
// release by release.
type attack struct {
	lay    func(s *site)
	calls  []examples.ToolCall  // what the model does
	part   []examples.ToolCall  // what its subagent does
	prompt string               // "": one that names nothing
	during func(s *site, n int) // while the model is asked for the nth time
	fires  string               // the releases on which it comes off in bare claude
	ours   bool                 // it comes off in a run, too: the person's own will
}

// The measured releases: all of them, and those from one on.
const (
	everywhere = "2.1.7 2.1.100 2.1.200 2.1.329 2.1.330 2.1.331 2.1.332"
	from100    = "2.1.100 2.1.200 2.1.329 2.1.330 2.1.331 2.1.332"
	from200    = "2.1.200 2.1.329 2.1.330 2.1.331 2.1.332"
	from329    = "2.1.329 2.1.330 2.1.331 2.1.332"
)

// A site is a world where an attack is laid.
type site struct {
	*world
	main, proof string
	flags       []string // for claude, by the person
}

func newSite(t *testing.T) *site {
	root := t.TempDir()
	s := &site{world: newWorldWith(t, plainProgram), main: filepath.Join(root, "main"), proof: filepath.Join(root, "PROOF")}
	noError(t, os.Mkdir(s.main, 0o700))
	return s
}

// named puts the home of the site into a text, and its name beside the folder to work in.
func (s *site) named(text string) string {
	return strings.NewReplacer("HOME", s.Home, "BESIDE", filepath.Base(s.Home)).Replace(text)
}

// put writes a file, by a path from the folder to work in; PROOF in it stands for the file that shows that an attack
// came off.
func (s *site) put(path, text string) {
	s.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Cwd, path)
	}
	text = strings.ReplaceAll(text, "PROOF", s.proof)
	noError(s.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o700)))
}

// below goes on in a folder below.
func (s *site) below(dir string) {
	s.Cwd = filepath.Join(s.Cwd, dir)
	noError(s.t, os.MkdirAll(s.Cwd, 0o700))
}

func (s *site) git(dir string, args ...string) {
	s.t.Helper()
	cmd := exec.Command("git",
		append([]string{"-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "protocol.file.allow=always", "-C", dir},
			args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.Home}
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

func (s *site) repository(dir string) {
	s.git(dir, "init", "-q")
	s.put(filepath.Join(dir, "f"), "x")
	s.git(dir, "add", "f")
	s.git(dir, "commit", "-qm", "x")
}

// worktree goes on in a worktree of a repository in main.
func (s *site) worktree() {
	s.repository(s.main)
	s.git(s.main, "worktree", "add", "-q", filepath.Join(s.Cwd, "wt"))
	s.below("wt")
}

// trust is what a person does who has once worked in the folder.
func (s *site) trust(dirs ...string) {
	projects := map[string]any{}
	for _, dir := range dirs {
		projects[dir] = map[string]any{"hasTrustDialogAccepted": true}
	}
	doc, err := json.Marshal(map[string]any{"projects": projects})
	noError(s.t, err)
	s.put(filepath.Join(s.Home, ".claude.json"), string(doc))
}

// personAllows is what the person's own settings allow.
func (s *site) personAllows(rule string) {
	s.put(filepath.Join(s.Home, ".claude", "settings.json"), `{"permissions":{"allow":["`+rule+`"]}}`)
}

// filled puts the site's paths into calls.
func (s *site) filled(calls []examples.ToolCall) (replies []examples.Reply) {
	put := strings.NewReplacer("PROOF", s.proof, "CWD", s.Cwd)
	for _, c := range calls {
		input := map[string]any{}
		for name, value := range c.Input {
			if text, ok := value.(string); ok {
				value = put.Replace(text)
			}
			input[name] = value
		}
		replies = append(replies, examples.Reply{Tools: []examples.ToolCall{{Name: c.Name, Input: input}}})
	}
	return append(replies, examples.Reply{Text: "That is all."})
}

// model makes the model of an attack.
func (a attack) model(s *site, answered func()) *messagesapi.API {
	n := 0
	return messagesapi.Serve(examples.Scenario{Name: "attack", Turns: []examples.Turn{
		{When: "## ATTACK", Replies: s.filled(a.calls)},
		{When: "## PART", Replies: s.filled(a.part)},
		{When: "EXPANDED", Replies: s.filled(nil)},
	}}, func(messagesapi.Request) {
		n++ // the CLI asks once at a time
		if a.during != nil {
			a.during(s, n)
		}
		answered()
	})
}

func (a attack) says() string {
	if a.prompt != "" {
		return a.prompt
	}
	return "## ATTACK"
}

// cameOff reports whether PROOF is there.
func (s *site) cameOff() bool {
	_, err := os.Stat(s.proof)
	return err == nil
}

// bare plays an attack to claude -p itself.
func (a attack) bare(t *testing.T, program string) bool { return a.bareSite(t, program).cameOff() }

// bareSite is bare; it returns where the attack was laid.
func (a attack) bareSite(t *testing.T, program string) *site {
	s := newSite(t)
	a.lay(s)
	api := a.model(s, func() {})
	defer api.Close()
	s.API = api
	cmd := exec.Command(program, append([]string{"-p", s.named(a.says()), "--output-format", "stream-json", "--verbose"}, s.flags...)...)
	cmd.Dir, cmd.Env = s.Cwd, claude.Environment(s.Home, api.URL)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Logf("bare claude: %v\n%s", err, out.String())
	}
	return s
}

// supervised plays it to a run.
func (a attack) supervised(t *testing.T, program string, allow ...string) bool {
	s := newSite(t)
	a.lay(s)
	asked := 0
	api := a.model(s, func() { asked++ })
	defer api.Close()
	s.Reaches(api.URL)
	s.Env = append(s.Env, "CLAUDE_SUPERVISE_CLAUDE="+program)
	args := append([]string{"run", "--permissions", "deny", "--retries", "0", "--check", "off"}, allow...)
	args = append(append(args, a.says(), "--"), s.flags...)
	code, stdout, stderr := s.run(args...)
	if asked <= len(a.calls) || code != 6 { // no report is ever made
		t.Errorf("the attack was not played to its end: the model was asked %d times, exit %d\n%s%s",
			asked, code, stdout, stderr)
	}
	return s.cameOff()
}

// everyAttack is set to play every attack to a run in a short run, too.
var everyAttack = os.Getenv("CLAUDE_SUPERVISE_TEST_EVERY_ATTACK") != ""

// playedAttacks returns those of a test's attacks that are played: in a short run that does not play every one, one.
func playedAttacks[Attack any](t *testing.T, all map[string]Attack) map[string]Attack {
	if everyAttack || !testing.Short() {
		return all
	}
	name := sample.Pick(t.Name(), slices.Sorted(maps.Keys(all)))[0]
	return map[string]Attack{name: all[name]}
}

// Nothing that comes with a folder grants or runs anything, wherever it lies and whenever it is written.
func TestNoSourceOfSettingsGrantsOrRunsAnything(t *testing.T) {
	t.Parallel()
	program, release := claude.Program(t), releaseOf(t)
	version, like := release.Version, measuredLike(t, release)
	for name, a := range attacks() {
		if !everyAttack && !sample.Has(name, 16) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if bareToo := sample.Has("bare "+name, 8) && like == version; bareToo { // what a pinned release does stays
				if fires, want := a.bare(t, program), a.firesOn(like); fires != want {
					t.Errorf("in bare claude %s it comes off: %v, and was seen to: %v", version, fires, want)
				}
			}
			// Of what the person grants, a run takes what the release takes.
			if got := a.supervised(t, program); got != a.ours && (got || a.firesOn(like)) {
				t.Errorf("in a run on claude %s it comes off: %v", version, got)
			}
		})
	}
}

// measuredLike returns the release whose sources of settings were measured and are taken for those of another: its own,
// or the newest for a newer one.
func measuredLike(t *testing.T, release cli.Release) string {
	t.Helper()
	known, like := strings.Fields(everywhere), release.Version
	if release.NewerThanMeasured() {
		like = known[len(known)-1]
	}
	if !slices.Contains(known, like) {
		t.Fatalf("nobody has measured what release %s takes from where", release.Version)
	}
	return like
}

// firesOn reports whether the attack comes off in a bare claude of a release.
func (a attack) firesOn(release string) bool {
	return slices.Contains(strings.Fields(a.fires), release)
}

// What --allow project is for: all of it is as in bare claude.
func TestAllowProjectGivesAllOfItBack(t *testing.T) {
	t.Parallel()
	program, like := claude.Program(t), measuredLike(t, releaseOf(t))
	all := attacks()
	for _, name := range []string{"a hook of the folder's settings", "a hook of the main checkout, in a worktree",
		"a server of .mcp.json"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if fires := all[name].supervised(t, program, "--allow", "project"); fires != all[name].firesOn(like) {
				t.Errorf("it is in force: %v, which is not so in bare claude", fires)
			}
		})
	}
}
