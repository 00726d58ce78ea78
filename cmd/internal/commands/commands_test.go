package commands

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/board"
	"claude-supervise/cmd/internal/exitcode"
	"claude-supervise/cmd/internal/serving"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/service"
)

// The flags that the two have not in common are those of what a service elsewhere cannot do.
func TestAServiceElsewhereHasNoFlagsOfWhatItCannotDo(t *testing.T) {
	for name, c := range map[string]struct {
		of    func(Program, *cobra.Command) *cobra.Command
		lacks []string
	}{
		"ps":   {Program.Ps, []string{"cwd", "watch"}},
		"show": {Program.Show, nil}, "wait": {Program.Wait, nil},
		"logs": {Program.Logs, []string{"raw", "since"}}, "stop": {Program.Stop, []string{"only"}},
	} {
		here, there := flagsOf(c.of(programOf(onDisk{}), new(cobra.Command))), flagsOf(c.of(programOf(elsewhere{}), new(cobra.Command)))
		lacks := slices.DeleteFunc(here, func(flag string) bool { return slices.Contains(there, flag) })
		if !slices.Equal(lacks, c.lacks) {
			t.Errorf("%s lacks %v, want %v", name, lacks, c.lacks)
		}
	}
}

func flagsOf(cmd *cobra.Command) (names []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

func TestPsPrintsProgramsTheFormOfTheService(t *testing.T) {
	s := elsewhere{runs: []service.Left{left("r-aaaaaaaa", "parked", 75), left("r-bbbbbbbb", "running", 0)}}
	for args, want := range map[string]string{
		"--json": "[\n  {\n    \"own\": \"r-aaaaaaaa\"\n  },\n  {\n    \"own\": \"r-bbbbbbbb\"\n  }\n]\n",
		"-q":     "r-aaaaaaaa\nr-bbbbbbbb\n",
	} {
		if printed, code := typed(t, programOf(s).Ps(new(cobra.Command)), args); compact(printed) != compact(want) || code != 0 {
			t.Errorf("%s prints %s", args, printed)
		}
	}
	if printed, _ := typed(t, programOf(s).Ps(new(cobra.Command))); !strings.Contains(printed, "WORKER") {
		t.Errorf("it lists no workers:\n%s", printed)
	}
	if printed, _ := typed(t, programOf(elsewhere{}).Ps(new(cobra.Command)), "--json"); strings.TrimSpace(printed) != "[]" {
		t.Errorf("of no runs it prints %s", printed)
	}
}

func compact(text string) string { return strings.Join(strings.Fields(text), "") }

func TestPsInsideAnAgentListsItsOwnRunAlone(t *testing.T) {
	inside(t)
	s := onDisk{elsewhere{runs: []service.Left{left("r-aaaaaaaa", "running", 0), left("r-bbbbbbbb", "running", 0)}}}
	if printed, _ := typed(t, programOf(s).Ps(new(cobra.Command)), "-q"); printed != "r-aaaaaaaa\n" {
		t.Errorf("it lists %s", printed)
	}
	if printed, code := typed(t, programOf(s).Ps(new(cobra.Command)), "-q", "--tree"); code != exit.Usage {
		t.Errorf("it exits with %d: %s", code, printed)
	}
}

func inside(t *testing.T) {
	t.Setenv("CLAUDE_SUPERVISE_RUN", "r-aaaaaaaa")
	t.Setenv("CLAUDE_SUPERVISE_AGENT", "a-7Qm2xK9fWb4T")
	t.Setenv("CLAUDE_SUPERVISE_LAUNCH", "1")
}

func TestWaitExitsWithTheWorstCodeAndSaysWhatToType(t *testing.T) {
	parked := left("r-parked00", "parked", exit.Parked, "q-7kq2mx")
	byItself := parked
	byItself.ByItself = true
	goesOn, asks := left("r-running0", "running", 0), left("r-asking00", "running", 0, "q-7kq2mx")
	for name, c := range map[string]struct {
		runs []service.Left
		args string
		want []string
		code int
	}{
		"the worst":   {[]service.Left{left("r-a", "succeeded", 0), left("r-b", "failed", 1), parked}, "r-a r-b r-parked00", []string{"r-b failed"}, 1},
		"first":       {[]service.Left{left("r-a", "succeeded", 0), left("r-b", "failed", 1)}, "--any r-a r-b", []string{"r-a succeeded"}, 0},
		"parked":      {[]service.Left{parked}, "r-parked00", []string{"Then run:\n  supervise resume r-parked00"}, 75},
		"by itself":   {[]service.Left{byItself}, "r-parked00", []string{"continues by itself once it is answered:\n  supervise answer q-7kq2mx"}, 75},
		"a question":  {[]service.Left{asks}, "--question r-asking00", []string{"r-asking00 asks q-7kq2mx", "supervise answer q-7kq2mx VALUE"}, 0},
		"too long":    {[]service.Left{goesOn}, "--timeout 1ms r-running0", []string{"Still active: r-running0. See: supervise ps"}, 124},
		"JSON":        {[]service.Left{parked}, "--json r-parked00", []string{`"own":"r-parked00"`}, 75},
		"no id":       {nil, "", []string{"the ids of runs; `"}, 2},
		"no duration": {nil, "--timeout -1s r-a", []string{"--timeout takes a duration"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			printed, code := typed(t, programOf(elsewhere{runs: c.runs}).Wait(&cobra.Command{Use: "wait"}), strings.Fields(c.args)...)
			for _, want := range c.want {
				if !strings.Contains(strings.ReplaceAll(printed, "\": ", "\":"), want) {
					t.Errorf("it prints no %q:\n%s", want, printed)
				}
			}
			if code != c.code {
				t.Errorf("it exits with %d, want %d:\n%s", code, c.code, printed)
			}
		})
	}
}

// An agent that waited for its own run would wait for itself. It may look, and wait for others.
func TestAnAgentDoesNotWaitForItself(t *testing.T) {
	inside(t)
	all := elsewhere{runs: []service.Left{left("r-aaaaaaaa", "succeeded", 0), left("r-bbbbbbbb", "succeeded", 0)}}
	for _, s := range []service.Runs{all, onDisk{all}} {
		const refused = "inside agent a-7Qm2xK9fWb4T for its own run r-aaaaaaaa: neither would end"
		printed, code := typed(t, programOf(s).Wait(&cobra.Command{Use: "wait"}), "r-bbbbbbbb", "r-aaaaaaaa")
		if code != exit.Failed || !strings.Contains(printed, refused) {
			t.Errorf("it exits with %d: %s", code, printed)
		}
		for _, args := range [][]string{{"--timeout", "0", "r-aaaaaaaa"}, {"r-bbbbbbbb"}} {
			if printed, code := typed(t, programOf(s).Wait(&cobra.Command{Use: "wait"}), args...); code != 0 {
				t.Errorf("%v exits with %d: %s", args, code, printed)
			}
		}
	}
}

func TestThatOneRunCannotBeStoppedKeepsNoneOfTheOthers(t *testing.T) {
	s := onDisk{elsewhere{runs: []service.Left{left("r-refused", "running", 0), left("r-bbbbbbbb", "running", 0)}, stopped: map[string]bool{}}}
	printed, code := typed(t, programOf(s).Stop(&cobra.Command{Use: "stop"}), "--all")
	if code != exit.Failed || !strings.Contains(printed, "r-bbbbbbbb is being stopped.\nr-refused cannot") {
		t.Errorf("it exits with %d: %s", code, printed)
	}
	if _, code = typed(t, programOf(s).Stop(&cobra.Command{Use: "stop"}), "--only", "a-1"); code != 0 ||
		!maps.Equal(s.stopped, map[string]bool{"r-bbbbbbbb": false, "a-1": true}) {
		t.Errorf("it has stopped %v", s.stopped)
	}
	if printed, _ = typed(t, programOf(s).Stop(&cobra.Command{Use: "stop"}), "--json", "r-1"); printed != `{"id":"r-1","status":"stopping"}`+"\n" {
		t.Errorf("JSON: %s", printed)
	}
	for args, want := range map[string]string{
		"": "stop takes the ids of runs or agents, or --all", "--all r-1": "it takes no ids and no --only",
	} {
		if printed, code := typed(t, programOf(s).Stop(&cobra.Command{Use: "stop"}),
			strings.Fields(args)...); code != exit.Usage ||
			!strings.Contains(printed, want) {
			t.Errorf("%q exits with %d: %s", args, code, printed)
		}
	}
}

func TestQuestionsInsideAnAgentAreThoseOfItsOwnRun(t *testing.T) {
	s := elsewhere{runs: []service.Left{left("r-aaaaaaaa", "parked", 75, "q-aaaaaa"), left("r-bbbbbbbb", "parked", 75, "q-bbbbbb")}}
	listed := func(s service.Runs) []string {
		printed, code := typed(t, programOf(s).Questions(&cobra.Command{Use: "questions"}), "--json")
		if code != 0 || !strings.HasPrefix(printed, "! x.json cannot be read\n") {
			t.Errorf("it exits with %d: %s", code, printed)
		}
		return slices.DeleteFunc([]string{"q-aaaaaa", "q-bbbbbb"}, func(q string) bool { return !strings.Contains(printed, `"`+q+`"`) })
	}
	if got := listed(onDisk{s}); len(got) != 2 {
		t.Errorf("a person is listed %q", got)
	}
	inside(t)
	if got := listed(onDisk{s}); !slices.Equal(got, []string{"q-aaaaaa"}) {
		t.Errorf("an agent is listed %q", got)
	}
	if got := listed(s); len(got) != 2 {
		t.Errorf("elsewhere is listed %q", got)
	}
}

// Neither is opened where it could not be shown, or may not be.
func TestTheBoardAndThePageAreRefusedBeforeAnythingIsOpened(t *testing.T) {
	refuses := programOf(elsewhere{})
	refuses.NotInside = func(*cobra.Command) error { return errors.New("refused inside") }
	noBoard := func(context.Context) (board.Config, func(), error) { panic("opened") }
	noPage := func(*cobra.Command, *serving.Flags) (Page, error) { panic("opened") }
	for want, cmd := range map[string]*cobra.Command{
		"refused inside\n":                          refuses.Board(new(cobra.Command), noBoard),
		"elsewhere: `supervise ps`, `supervise que": programOf(elsewhere{}).Board(new(cobra.Command), noBoard),
		"elsewhere: `supervise ps --tree`, `superv": programOf(onDisk{}).Board(new(cobra.Command), noBoard),
		"refused inside":                            refuses.Serve(new(cobra.Command), "127.0.0.1:0", noPage),
	} {
		if printed, code := typed(t, cmd); code == 0 || !strings.Contains(printed, want) {
			t.Errorf("it exits with %d: %s", code, printed)
		}
	}
}

func TestLogsSayWhatComesNextOrThatNothingWasPrinted(t *testing.T) {
	var read service.LogReading
	s := onDisk{elsewhere{read: &read}}
	for args, c := range map[string]struct {
		want string
		code int
		tail int
	}{
		"r-aaaaaaaa":                 {"(r-aaaaaaaa has printed nothing yet; logs -f waits for it)", 0, -1},
		"-n 3 r-aaaaaaaa":            {"nothing yet", 0, 3},
		"-f -n 0 r-aaaaaaaa":         {"It continues by itself once it is answered:\n  supervise answer q-7kq2mx VALUE", 0, 0},
		"-n 0 r-aaaaaaaa":            {"--tail 0 prints nothing without --follow", 2, 0},
		"-n -1 r-aaaaaaaa":           {"--tail takes a number of lines, not -1", 2, 0},
		"--raw --json r-aaaaaaaa":    {"give one of them", 2, 0},
		"--since never r-aaaaaaaa":   {"--since takes a duration like 10m or 7d", 2, 0},
		"--since 2026-11-21 -f r-aa": {"said", 0, -1},
	} {
		read = service.LogReading{}
		printed, code := typed(t, programOf(s).Logs(&cobra.Command{Use: "logs"}), strings.Fields(args)...)
		if code != c.code || !strings.Contains(printed, c.want) || read.Tail != c.tail {
			t.Errorf("%s exits with %d, reads %+v, and prints:\n%s", args, code, read, printed)
		}
	}
}

func TestSinceWhenReadsDurationsAndTimesOfTheClock(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.Local)
	for text, want := range map[string]time.Time{
		"": {}, "10m": now.Add(-10 * time.Minute), "7d": now.AddDate(0, 0, -7),
		"09:30": time.Date(2026, 11, 27, 9, 30, 0, 0, time.Local), "2026-11-21": time.Date(2026, 11, 21, 0, 0, 0, 0, time.Local),
		"2026-11-21T14:05:00Z": time.Date(2026, 11, 21, 14, 5, 0, 0, time.UTC),
	} {
		if got, err := SinceWhen(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-5m", "d", "25:00", "yesterday"} {
		if got, err := SinceWhen(text, now); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

// Without a terminal what acts takes no run that was not named, and lists those that could be meant; what reads takes the
// one that is open, else the latest.
func TestWithoutATerminalNothingThatActsGuessesARun(t *testing.T) {
	ended := func(l service.Left) service.Left {
		at := time.Now()
		l.View.EndedAt = &at
		return l
	}
	one := []service.Left{ended(left("r-aaaaaaaa", "succeeded", 0)), left("r-bbbbbbbb", "running", 0), ended(left("r-cccccccc", "failed", 1))}
	two := append(slices.Clip(one), left("r-dddddddd", "parked", 75), left("r-eeeeeeee", "running", 0))
	for name, c := range map[string]struct {
		runs []service.Left
		of   Choice
		want string
	}{
		"read, one is open":     {one, Choice{Fits: AnyRun, Reads: true}, "r-bbbbbbbb"},
		"read, several are":     {two, Choice{Fits: AnyRun, Reads: true}, "r-eeeeeeee"},
		"read, none is":         {one[:1], Choice{Fits: AnyRun, Reads: true}, "r-aaaaaaaa"},
		"wait, one is active":   {one, Choice{Fits: IsLive, Waits: true}, "r-bbbbbbbb"},
		"wait, several are":     {two, Choice{Fits: IsLive, Waits: true}, "! x takes ids; name one of:\n  r-eeeeeeee\n  r-bbbbbbbb"},
		"stop, one is open":     {one, Choice{Fits: IsOpen, Sure: "Stop %s?"}, "! x takes ids; name one of:\n  r-bbbbbbbb"},
		"resume, one is parked": {two, Choice{Fits: IsLeft}, "! x takes ids; name one of:\n  r-dddddddd"},
		"nothing fits":          {one, Choice{Fits: IsLeft, None: "no run is left"}, "! no run is left; `supervise ps -a` lists all runs"},
	} {
		c.of.Takes = "ids"
		cmd := &cobra.Command{Use: "x"}
		cmd.SetContext(t.Context())
		got, err := programOf(onDisk{elsewhere{runs: c.runs}}).Chosen(cmd, nil, c.of)
		if err != nil {
			got = "! " + err.Error()
		}
		if got != c.want || err != nil && exitcode.Of(err) != exit.Usage {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	inside(t)
	cmd := &cobra.Command{Use: "x"}
	cmd.SetContext(t.Context())
	if got, err := programOf(onDisk{elsewhere{runs: one}}).Chosen(cmd, nil, Choice{Takes: "ids", Fits: AnyRun, Reads: true}); err == nil {
		t.Errorf("inside an agent it takes %s", got)
	}
}
