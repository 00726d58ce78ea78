package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"claude-supervise/e2e/sample"
)

// quick is a scenario whose agent writes a file and reports; asks: it asks before that.
func quick(asks bool) []byte {
	const report = `
      - tools:
          - {name: Bash, input: {command: "echo done > done.txt", description: write it}}
      - text: |-
          [COMPLETION_REPORT]
          agent_id: {{agent}}
          timestamp: 2026-01-11T12:00:00Z
          status: success
          deliverables:
            - done.txt
          summary: it is written
          [/COMPLETION_REPORT]`
	turns := `
  - when: "## YOUR TASK"
    replies:` + report
	if asks {
		turns = `
  - when: "## YOUR TASK"
    replies:
      - text: |-
          [CLARIFICATION_NEEDED]
          agent_id: {{agent}}
          timestamp: 2026-01-11T08:45:00Z
          blocked_at: the file
          reason: only a person knows
          questions:
            - question_id: Q1
              text: What stands in the file?
              context: a person knows
          can_resume_with: the answer
          [/CLARIFICATION_NEEDED]
  - when: "What stands in the file?"
    replies:` + report
	}
	return []byte(`name: quick
about: a file
prompt: |-
  Write a file.
  Goal: a file done.txt.
claude_flags: [--allowedTools, "Bash"]
turns:` + turns + `
expect:
  status: succeeded
`)
}

// What a run costs more on a fleet than on one machine: the same scripted agent, once without the fleet and once with
// it, in turn, $CLAUDE_SUPERVISE_TEST_PAIRS times; with a question each is answered as soon as it is listed. The times
// are printed (make fleet-costs); what is tested is that both come to the same end.
func TestARunOnAFleetComesToTheEndOfALocalOne(t *testing.T) {
	t.Parallel()
	pairs := sample.Number(t, "CLAUDE_SUPERVISE_TEST_PAIRS", 1)
	s := newSite(t)
	s.worker("one")
	figures := &strings.Builder{}
	table := tabwriter.NewWriter(figures, 0, 0, 2, ' ', 0)
	tell(table, "middle of", pairs, "local", "fleet", "more")
	for _, c := range []struct {
		what string
		asks bool
	}{{"no question", false}, {"a question", true}} {
		demo := s.file("quick.yaml", quick(c.asks))
		var local, fleet, more []time.Duration
		for range pairs {
			a, b := s.takes(demo, c.asks), s.takes(demo, c.asks, "fleet")
			local, fleet, more = append(local, a), append(fleet, b), append(more, b-a)
		}
		tell(table, "", c.what, ms(middle(local)), ms(middle(fleet)), ms(middle(more)))
	}
	_ = table.Flush() // a strings.Builder takes all
	t.Logf("what a run takes\n%s", figures)
}

func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// takes plays a demo to its end, and gives how long that takes.
func (s *site) takes(demo string, asks bool, fleet ...string) time.Duration {
	s.t.Helper()
	began := time.Now()
	args := append(slices.Clone(fleet), "run", "--demo", demo, "--hold", "forever")
	var ended func() int
	if len(fleet) > 0 {
		run := s.main(args...)
		ended = func() int { code, _, _ := s.says("wait", run); return code }
	} else {
		cmd := s.command(append(args, "--cwd", s.t.TempDir())...)
		if err := cmd.Start(); err != nil {
			s.t.Fatal(err)
		}
		ended = func() int { _ = cmd.Wait(); return cmd.ProcessState.ExitCode() }
	}
	for asked := !asks; !asked; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patience {
			s.t.Fatal("it never asks")
		}
		var open []struct{ ID string }
		out, err := s.command(append(slices.Clone(fleet), "questions", "--json")...).Output()
		if err != nil || json.Unmarshal(out, &open) != nil {
			continue // the server is busy
		}
		if asked = len(open) > 0; asked {
			s.main(append(slices.Clone(fleet), "answer", open[0].ID, "JWT")...)
		}
	}
	if code := ended(); code != 0 {
		s.t.Fatalf("%v ends with %d", args, code)
	}
	return time.Since(began)
}

// command returns a call of claude-supervise by the person.
func (s *site) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.programs, "claude-supervise"), args...)
	cmd.Env, cmd.Dir = s.env(s.home), s.home
	return cmd
}

// main runs claude-supervise, and gives what it prints.
func (s *site) main(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).Output()
	if err != nil {
		s.t.Fatalf("%v: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

// How many runs a minute one, two and four workers bring to their end, each with room for one, of
// $CLAUDE_SUPERVISE_TEST_RUNS. They share this machine's processors, so four are not four times as fast.
func TestMoreWorkersTakeMoreRuns(t *testing.T) {
	t.Parallel()
	runs := sample.Number(t, "CLAUDE_SUPERVISE_TEST_RUNS", 4)
	s := newSite(t)
	demo := s.file("quick.yaml", quick(false))
	for workers := 1; workers <= 4; workers *= 2 {
		var ids []string
		for range runs {
			ids = append(ids, s.must("run", "--demo", demo))
		}
		began := time.Now()
		var all []*process
		for i := range workers {
			all = append(all, s.worker(fmt.Sprintf("%d-of-%d", i+1, workers), "--capacity", "1"))
		}
		s.must(append([]string{"wait"}, ids...)...)
		took := time.Since(began)
		t.Logf("%d workers on %d processors: %d runs in %s, %.0f a minute", workers, runtime.NumCPU(), runs, ms(took),
			float64(runs)/took.Minutes())
		for _, w := range all {
			w.leaves(t)
			if kept, err := os.ReadDir(w.runsOf()); err != nil || len(kept) > 0 {
				t.Errorf("it keeps runs: %v: %v", err, kept)
			}
		}
	}
}
