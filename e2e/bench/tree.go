package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claude-supervise/e2e/usage"
	"claude-supervise/examples"
)

// How many agents are alive at once in the runs that are measured.
var crowds = []int{1, 10, 100, 1000}

// crowdAgent waits, without using anything, until the crowd goes home. The last of them speaks before, when it is told
// to: each signal, and the question at the end, says when it was printed.
const crowdAgent = `case "$1" in *"as number $SPEAKER."*)
	read x < go
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
		printf '[PROGRESS]\nagent_id: %s\nstep: at %s\n[/PROGRESS]\n' "$CLAUDE_SUPERVISE_AGENT" "$(date +%s%N)"
		sleep 0.05
	done
	printf '[CLARIFICATION_NEEDED]\nagent_id: %s\ntimestamp: 2026-01-11T08:45:00Z\nquestions:\n  - question_id: Q1\n' \
		"$CLAUDE_SUPERVISE_AGENT"
	printf '    text: How late is it?\n    context: at %s\n[/CLARIFICATION_NEEDED]\n' "$(date +%s%N)"
esac
read x < over
`

const spoken = 30

// crowdRounds is how often a crowd of n agents is measured.
func crowdRounds(n int) int {
	if n >= 1000 {
		return 1
	}
	return 9
}

// crowd measures what an agent costs its supervisor, and how soon a signal is told, beside how many others that are
// alive.
func (b *bench) crowd(ctx context.Context) error {
	for _, n := range crowds {
		all := make([]crowdTimes, len(b.programs))
		for i := range crowdRounds(n) {
			for _, which := range b.turn(i) {
				if err := b.crowdOf(ctx, b.programs[which], n, &all[which]); err != nil {
					return fmt.Errorf("%s, %d agents: %w", b.programs[which].name, n, err)
				}
			}
		}
		b.addCrowd(n, all)
	}
	return nil
}

// addCrowd adds the figures of crowds of n, one for each program.
func (b *bench) addCrowd(n int, all []crowdTimes) {
	cpu, memory, told, asked := make([]samples, len(all)), make([]samples, len(all)), make([]samples, len(all)),
		make([]samples, len(all))
	for i, c := range all {
		cpu[i], memory[i], told[i], asked[i] = c.cpu, c.memory, c.told, c.asked
	}
	name := fmt.Sprintf("%d agents: ", n)
	b.table.add(figure{name: name + "CPU an agent", unit: "ms", values: cpu})
	b.table.add(figure{name: name + "RSS an agent", unit: "MiB", values: memory})
	b.table.add(figure{name: name + "a signal is told", unit: "ms", values: told})
	b.table.add(figure{name: name + "a question is told", unit: "ms", values: asked})
}

// crowdTimes are what was measured of crowds of one size: a sample a crowd, or for each signal.
type crowdTimes struct{ cpu, memory, told, asked, started, ended samples }

func (b *bench) crowdOf(ctx context.Context, p program, n int, times *crowdTimes) error {
	h, err := b.home(fmt.Sprintf("crowd %d %d", n, len(times.cpu)), p)
	if err != nil {
		return err
	}
	if err := h.gates(); err != nil {
		return err
	}
	h.Env = append(h.Env, "SPEAKER="+strconv.Itoa(n))
	began := clock()
	s, err := supervise(h.command(ctx, p.path, "run", "--json", "--quiet", "--check", "off",
		"--exec", "sh agent {}", "--max-parallel", strconv.Itoa(n), "--max-agents", strconv.Itoa(n+1),
		"--each", "seq "+strconv.Itoa(n), "Wait as number {item}."))
	if err != nil {
		return err
	}
	for range n {
		if _, err := s.until("agent_started"); err != nil {
			return err
		}
	}
	started := clock()
	cpu, err := usage.CPU(s.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	memory, err := usage.Memory(s.Cmd.Process.Pid)
	if err != nil {
		return err
	}
	begin, err := h.open("go", 1)
	if err != nil {
		return err
	}
	defer func() { _ = begin.Close() }()
	told, asked, err := s.latencies()
	if err != nil {
		return err
	}
	times.cpu = append(times.cpu, cpu.Seconds()*1000/float64(n))
	times.memory = append(times.memory, float64(memory)/float64(n)/(1<<20))
	times.told, times.asked = append(times.told, told...), append(times.asked, asked...)
	times.started = append(times.started, since(began, started).Seconds()*1000/float64(n))
	ending := clock()
	end, err := h.open("over", n)
	if err != nil {
		return err
	}
	defer func() { _ = end.Close() }()
	err = ignoreExit(s.Drain()) // they end without a report, which is no failure of the measurement
	times.ended = append(times.ended, since(ending, clock()).Seconds()*1000/float64(n))
	return err
}

// open lets as many go on as wait at one of the gates, those that come there later included, until it is closed.
func (h home) open(gate string, many int) (io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(h.Cwd, gate), os.O_RDWR, 0) // which waits for nobody
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(strings.Repeat("\n", many)); err != nil { // a line each
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// latencies returns how long after it was printed each signal, and then the question, was read as an event.
func (s *supervised) latencies() (told, asked samples, err error) {
	for len(asked) == 0 {
		e, err := s.Next()
		read := time.Now()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		text := e.Text
		if e.Question != nil {
			text += e.Question.Context
		}
		_, at, is := strings.Cut(text, "at ")
		ns, err := strconv.ParseInt(strings.TrimSpace(at), 10, 64)
		if !is || err != nil {
			continue
		}
		switch e.Type {
		case "progress":
			told.add(read.Sub(time.Unix(0, ns)))
		case "question":
			asked.add(read.Sub(time.Unix(0, ns)))
		}
	}
	if len(told) != spoken || len(asked) == 0 {
		return nil, nil, fmt.Errorf("%d of %d signals and %d questions were told: %s", len(told), spoken, len(asked),
			&s.Stderr)
	}
	return told, asked, nil
}

// endTimes is how often the end of a child is measured.
const endTimes = 20

// family is the value of envAgent with which the program plays an agent that delegates, and the one that it delegates
// to.
const family = "family"

// ends measures the time from the moment in which a child prints its report, to that in which its parent reads of its
// end: the child's process ends in between.
func (b *bench) ends(ctx context.Context) error {
	homes, err := b.homes("ends")
	if err != nil {
		return err
	}
	f := figure{name: "child's report -> parent's prompt", unit: "ms", values: make([]samples, len(homes))}
	for i := range endTimes {
		for _, which := range b.turn(i) {
			took, err := homes[which].end(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", homes[which].program.name, err)
			}
			f.values[which].add(took)
		}
	}
	b.table.add(f)
	return nil
}

func (h home) end(ctx context.Context) (time.Duration, error) {
	h.Env = append(h.Env, envAgent+"="+family)
	s, err := supervise(h.command(ctx, h.program.path, "run", "--json", "--quiet", "--delegate", "auto",
		"--claude", h.self, task))
	if err != nil {
		return 0, err
	}
	stamped := map[string]int64{}
	for {
		if _, err = s.Next(); err != nil {
			break
		}
		for _, mark := range []string{"printed ", "received "} {
			if _, at, is := strings.Cut(s.Line(), mark); is && len(at) > len(printedMark) {
				if ns, err := strconv.ParseInt(at[:len(printedMark)], 10, 64); err == nil && stamped[mark] == 0 {
					stamped[mark] = ns
				}
			}
		}
	}
	if errors.Is(err, io.EOF) {
		err = s.Cmd.Wait()
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, &s.Stderr)
	}
	if len(stamped) < 2 {
		return 0, fmt.Errorf("the parent received nothing: %v", stamped)
	}
	return since(stamped["printed "], stamped["received "]), nil
}

// delegating is an agent that waits for another, and that other one.
func delegating() examples.Scenario {
	report := func(summary string) string {
		return "[COMPLETION_REPORT]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T12:00:00Z\nstatus: success\nsummary: " +
			summary + "\n[/COMPLETION_REPORT]"
	}
	return examples.Scenario{
		Name: "bench", Prompt: task,
		Turns: []examples.Turn{
			{When: "## YOUR TASK",
				Replies: []examples.Reply{{Text: "[DELEGATE_WORK]\nagent_id: {{agent}}\ntimestamp: 2026-01-11T10:00:00Z\n" +
					"delegation_reason: it is measured\nnew_task_description: Report at once.\nindependence: " +
					"blocks_current_work\npriority: P0\n[/DELEGATE_WORK]"}}},
			{When: "## DELEGATED WORK ENDED",
				Replies: []examples.Reply{{Text: "received " + receivedMark + " " + printedMark + "\n\n" + report("all is told")}}},
		},
		Children: []examples.Child{{Task: "Report at once.", Turns: []examples.Turn{
			{When: "## YOUR TASK", Replies: []examples.Reply{{Text: "printed " + printedMark + "\n\n" + report("done")}}},
		}}},
	}
}
