package claude

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"claude-supervise/procs"
)

// lay puts files into a folder; what begins with -> is a link to the rest of it.
func lay(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		err := error(nil)
		if to, ok := strings.CutPrefix(content, "->"); ok {
			err = os.Symlink(to, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o700)
		}
		noError(t, err)
	}
}

func TestAReleaseIsKnownByWhereItLies(t *testing.T) {
	const (
		wrapper  = `{"name": "@anthropic-ai/claude-code", "version": "2.1.7", "bin": {"claude": "cli.js"}}`
		platform = `{"name": "@anthropic-ai/claude-code-linux-x64", "version": "2.1.329"}`
	)
	for name, c := range map[string]struct {
		files map[string]string
		path  string
		want  string
	}{
		"npm's link to the package's script": {
			map[string]string{
				"lib/node_modules/@anthropic-ai/claude-code/cli.js":       "",
				"lib/node_modules/@anthropic-ai/claude-code/package.json": wrapper,
				"bin/claude": "->../lib/node_modules/@anthropic-ai/claude-code/cli.js",
			}, "bin/claude", "2.1.7",
		},
		"the program in the package's bin": {
			map[string]string{"claude-code/bin/claude.exe": "", "claude-code/package.json": wrapper,
				"claude": "->claude-code/bin/claude.exe"},
			"claude", "2.1.7",
		},
		"the platform's own package": {
			map[string]string{"claude-code-linux-x64/claude": "", "claude-code-linux-x64/package.json": platform},
			"claude-code-linux-x64/claude", "2.1.329",
		},
		"the native installer's": {
			map[string]string{"share/claude/versions/2.1.329": "", "bin/claude": "->../share/claude/versions/2.1.329"},
			"bin/claude", "2.1.329",
		},
		"a link to a link": {map[string]string{"versions/2.1.200": "", "one": "->versions/2.1.200",
			"two": "->one"}, "two", "2.1.200"},
		"a script around it": {map[string]string{"claude": "#!/bin/sh\nexec versions/2.1.7 \"$@\"\n",
			"versions/2.1.7": ""}, "claude", ""},
		"another's package": {map[string]string{"claude": "",
			"package.json": `{"name": "mine", "version": "2.1.7"}`}, "claude", ""},
		"a name that only begins so": {map[string]string{"claude": "",
			"package.json": `{"name": "@anthropic-ai/claude-codex", "version": "2.1.7"}`}, "claude", ""},
		"a version that is none": {map[string]string{"claude": "",
			"package.json": `{"name": "@anthropic-ai/claude-code", "version": "latest"}`}, "claude", ""},
		"a manifest that is not JSON": {map[string]string{"claude": "", "package.json": "{"}, "claude", ""},
		"one that is too long": {map[string]string{"claude": "",
			"package.json": strings.Repeat(" ", maxManifest) + wrapper}, "claude", ""},
		"a folder of other versions":  {map[string]string{"versions/node": ""}, "versions/node", ""},
		"a program that is not there": {nil, "claude", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, c.files)
			if got := InstalledRelease(filepath.Join(dir, c.path)); got != c.want {
				t.Errorf("it is taken for %q, want %q", got, c.want)
			}
		})
	}
}

// Whoever can write beside the program must not be able to hold every launch.
func TestAPipeInPlaceOfThePackagesManifestHoldsNobody(t *testing.T) {
	dir := t.TempDir()
	lay(t, dir, map[string]string{"claude": ""})
	noError(t, syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600))
	if got := InstalledRelease(filepath.Join(dir, "claude")); got != "" {
		t.Errorf("it is taken for %q", got)
	}
}

// A release that kills what lives on at the end of its input is not let begin any; one of which nothing is known is
// left alone.
func TestALaunchIsAsItsReleaseNeedsIt(t *testing.T) {
	for version, want := range map[string]struct{ foreground, subagentText bool }{
		"2.1.7":    {true, false},
		"2.1.50":   {true, true}, // not looked at: it may take the flag
		"2.1.100":  {false, false},
		"2.1.200":  {false, false},
		"2.1.329":  {false, true},
		"2.1.1000": {false, true},
		"unknown":  {false, true},
	} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			lay(t, dir, map[string]string{"versions/" + version: ""})
			s := procs.Spec{Path: filepath.Join(dir, "versions", version), Env: []string{}}
			if got := slices.Contains(launch(s).environ(), "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1"); got != want.foreground {
				t.Errorf("its work is kept in the foreground: %v", got)
			}
			if got := slices.Contains(launch(s).args(), "--forward-subagent-text"); got != want.subagentText {
				t.Errorf("it is asked for what subagents say: %v", got)
			}
		})
	}
}
