package command

import (
	"context"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
	"claude-supervise/procs/claude"
)

func TestACommandsEndIsTheEndOfItsTurn(t *testing.T) {
	for _, c := range []struct {
		name, text string
		said       string
		exit       procs.Exit
		failure    procs.Failure
	}{
		{"nothing said", "exit 0", "", procs.Exit{}, procs.Failure{}},
		{"done", "echo done", "done\n", procs.Exit{Output: "done\n"}, procs.Failure{}},
		{"failed", "echo at work; echo trouble >&2; exit 3", "at work\n",
			procs.Exit{Code: 3, Output: "at work\n", Stderr: "trouble\n"},
			procs.Failure{Kind: procs.Exited, Reason: "exit 3: trouble"}},
		{"failed without a word", "exit 1", "", procs.Exit{Code: 1}, procs.Failure{Kind: procs.Exited, Reason: "exit 1"}},
		{"killed", "echo a; kill -KILL $$", "a\n", procs.Exit{Code: -1, Signal: "SIGKILL", Output: "a\n"},
			procs.Failure{Kind: procs.Exited, Reason: "it was ended by SIGKILL: a"}},
		{"output closed before the end", "echo a; exec >&-; echo b >&2; exit 4",
			"a\n", procs.Exit{Code: 4, Output: "a\n", Stderr: "b\n"},
			procs.Failure{Kind: procs.Exited, Reason: "exit 4: b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, others := raw(start(t, script(c.text)).rest())
			var want []procs.Message
			for line := range strings.Lines(c.exit.Stderr) {
				want = append(want, procs.Activity{Text: strings.TrimSpace(line)})
			}
			c.exit.Command = true
			want = append(want, procs.Result{Subtype: "success"}, c.exit)
			if diff := cmp.Diff(want, others); diff != "" || said != c.said {
				t.Errorf("said %q; -want +got:\n%s", said, diff)
			}
			if got := claude.Classify(procs.Result{Subtype: "success"}, &c.exit); got != c.failure {
				t.Errorf("as a failure: %+v", got)
			}
		})
	}
}

func TestTheLadderOfACommand(t *testing.T) {
	const waits = `sh -c 'echo begun; exec sleep 86400'`
	for _, c := range []struct {
		name, text string
		how        procs.Ending
		want       procs.Exit
	}{
		{"finish waits for its end", `echo begun; exit 0`, procs.Finish, procs.Exit{}},
		{"finish climbs to a signal", waits, procs.Finish, procs.Exit{Code: -1, Signal: "SIGTERM"}},
		{"park is a SIGTERM to all of it", `trap 'exit 5' TERM; ` + waits + "; exit 6", procs.Park, procs.Exit{Code: 5}},
		{"stop has no turn to interrupt", `trap 'exit 5' TERM; ` + waits + "; exit 6", procs.Stop, procs.Exit{Code: 5}},
		{"park climbs to a kill", `trap '' TERM; ` + waits, procs.Park, procs.Exit{Code: -1, Signal: "SIGKILL"}},
		{"kill asks nobody", `trap 'exit 5' TERM; ` + waits, procs.Kill, procs.Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, script(c.text))
			short := r.Patience.Term
			r.Patience = procs.Patience{Finish: hangs, Interrupt: hangs, Term: hangs}
			switch c.want.Signal {
			case "SIGTERM":
				r.Patience.Finish = short
			case "SIGKILL":
				r.Patience.Term = short
			}
			next[procs.Raw](r) // its signal handlers are set
			r.End(context.Background(), c.how)
			got := next[procs.Exit](r)
			if got.Code != c.want.Code || got.Signal != c.want.Signal {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestWhatACommandLeavesBehindIsEnded(t *testing.T) {
	// The end of a session's leader is a SIGHUP for those of its own group.
	r := start(t, script(`trap '' HUP; sleep 86400 >/dev/null 2>&1 & echo $!`))
	text, _ := raw(r.rest())
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	noError(t, err)
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("what it left is gone: %v", err)
	}
	survivors := r.End(context.Background(), procs.Finish)
	if len(survivors) != 1 || survivors[0].PID != pid || survivors[0].Alive {
		t.Errorf("survivors: %v", survivors)
	}
}

func TestAProcessThatHoldsACommandsStreamsIsNotWaitedFor(t *testing.T) {
	r := start(t, player(t, "", "holder"))
	all := r.rest()
	if e := all[len(all)-1].(procs.Exit); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	if _, ok := all[len(all)-2].(procs.Result); !ok {
		t.Errorf("before the exit: %+v", all[len(all)-2])
	}
}

func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		p, err := procs.Start(Agent{}, command("", "true"), func(procs.Message) {})
		noError(b, err)
		p.End(context.Background(), procs.Finish)
	}
}
