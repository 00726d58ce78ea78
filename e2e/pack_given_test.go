package e2e

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claude-supervise/e2e/sample"
)

// unpackedParked is another machine, on which a run waits that was parked on the permission of make test and came in a
// pack file.
func unpackedParked(t *testing.T, flags ...string) (there *world, run string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "pack", "given.yaml"))
	noError(t, err)
	s := load(t, path)
	here := newWorld(t).real(s, nil)
	here.put("Makefile", "test:\n\techo ran >> tested\n")
	run, _ = here.parked(s)
	file := filepath.Join(t.TempDir(), "run.tar.gz")
	here.must("pack", run, "-o", file)
	there = here.elsewhere()
	there.must(append([]string{"unpack", file}, flags...)...)
	return there, run
}

// What the person gives with resume answers what waits for it, holds afterwards, and stands in the run's record.
func TestWhatIsGivenToResumeHolds(t *testing.T) {
	t.Parallel()
	resumesWith(t, `claude-supervise resume r-6mmto5w0 --allow "Bash(make test)" --max-cost-usd 5`)
}

func resumesWith(t *testing.T, command string) {
	t.Helper()
	there, run := unpackedParked(t)
	seen := there.session(strings.ReplaceAll(command, "r-6mmto5w0", run), false, nil)
	if !strings.Contains(seen, "succeeded") || there.got("tested") != "ran\nran\n" {
		t.Fatalf("the tests were run: %q; it shows:\n%s", there.got("tested"), seen)
	}
	lacksNone(t, "the rules", there.must("permissions", run), "Bash(make test)")
}

func TestWhatIsGivenToUnpackHoldsWithAPlainResume(t *testing.T) {
	t.Parallel()
	there, run := unpackedParked(t, "--allow", "Bash(make:*)", "--", "--model", "opus")
	there.must("resume", run, "--on-question", "park")
	if ran := there.got("tested"); ran != "ran\nran\n" {
		t.Errorf("the tests were run: %q", ran)
	}
	lacksNone(t, "the rules", there.must("permissions", run), "Bash(make:*)", "--model opus")
}

func TestWhatIsNotGivenIsAskedStill(t *testing.T) {
	t.Parallel()
	given := map[string][]string{
		"nothing":      nil,
		"another rule": {"--allow", "Bash(make)"},
		"only a limit": {"--max-turns", "50", "--max-agents", "2"},
	}
	for _, name := range sample.Pick(t.Name(), slices.Sorted(maps.Keys(given))) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there, run := unpackedParked(t)
			code, _, stderr := there.run(append([]string{"resume", run, "--on-question", "park"}, given[name]...)...)
			if code != 75 || there.questions()[0].Question != "Allow Bash: make test?" {
				t.Errorf("it exits %d and asks %v:\n%s", code, there.questions(), stderr)
			}
		})
	}
}

func TestGivenFlagsAreRefusedWhereTheyMeanNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct{ want, args string }{
		{"--allow task is for run", "resume r-12345678 --allow task"},
		{"--allow", "resume r-12345678 --allow Bash(("},
		{"--permissions takes ask, ask-refused or deny", "unpack x --permissions allow"},
		{"--delegate takes ask, auto or deny", "resume r-12345678 --delegate maybe"},
		{"--max-agents takes 0 or more", "unpack x --max-agents -1"},
		{"claude's --resume cannot be passed on", "resume r-12345678 -- --resume x"},
		{"not with --all", "resume --all --allow Read"},
	} {
		code, _, stderr := w.run(strings.Fields(c.args)...)
		if code != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s exits %d: %s", c.args, code, stderr)
		}
	}
}
