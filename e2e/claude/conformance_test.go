package claude

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/e2e/sample"
	"claude-supervise/examples"
	"claude-supervise/examples/standin"
)

// playVariable makes the test binary the stand-in, which plays the scenario that it names.
const playVariable = "CLAUDE_SUPERVISE_TEST_PLAY"

func TestMain(m *testing.M) {
	if source := os.Getenv(playVariable); source != "" {
		scenario, err := examples.Load(source)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(70)
		}
		os.Exit(standin.Main(context.Background(), scenario, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

var update = flag.Bool("update", false, "write testdata anew from what the real CLI does")

var signal = regexp.MustCompile(
	`COMPLETION_REPORT|CLARIFICATION_NEEDED|STOP_WORK|DELEGATE_WORK|AWAITING_USER_INPUT|PAUSED_FOR_INPUT|` +
		`QUESTION_ESCALATED|TaskUpdate|WORKFLOW_COMPLETE`)

// onBoth plays a case with the stand-in and the real CLI, and holds both to what was written down; in a short run the
// real CLI to one case of ten.
func onBoth(t *testing.T, name, scenario string, play func(*testing.T, *session)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		file := filepath.Join("testdata", name+".txt")
		for _, a := range []agent{realCLI, standIn} {
			if a == realCLI && !sample.Has(name, 10) {
				continue
			}
			t.Run(string(a), func(t *testing.T) {
				if a == realCLI {
					Program(t)
				}
				s := newSession(t, a, scenario)
				play(t, s)
				s.kept()
				got := s.logs.String()
				if *update && a == realCLI {
					noError(t, os.WriteFile(file, []byte(got), 0o644))
				}
				want, err := os.ReadFile(file)
				noError(t, err)
				if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
					t.Errorf("%s (-written down +%s):\n%s", file, a, diff)
				}
			})
		}
	})
}

func TestEveryScenarioIsPlayedAlike(t *testing.T) {
	t.Parallel()
	for _, name := range alone(t) {
		onBoth(t, "scenario-"+name, name, func(t *testing.T, s *session) {
			s.play()
			s.meetsExpectations(t)
		})
	}
}
