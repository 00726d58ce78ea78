package procs

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestACommandsEndIsTheEndOfItsTurn(t *testing.T) {
	for _, c := range []struct {
		name, text string
		said       string
		exit       Exit
		failure    Failure
	}{
		{"nothing said", "exit 0", "", Exit{}, Failure{}},
		{"done", "echo done", "done\n", Exit{Output: "done\n"}, Failure{}},
		{"failed", "echo at work; echo trouble >&2; exit 3", "at work\n",
			Exit{Code: 3, Output: "at work\n", Stderr: "trouble\n"},
			Failure{Kind: Exited, Reason: "exit 3: trouble"}},
		{"failed without a word", "exit 1", "", Exit{Code: 1}, Failure{Kind: Exited, Reason: "exit 1"}},
		{"killed", "echo a; kill -KILL $$", "a\n", Exit{Code: -1, Signal: "SIGKILL", Output: "a\n"},
			Failure{Kind: Exited, Reason: "it was ended by SIGKILL: a"}},
		{"output closed before the end", "echo a; exec >&-; echo b >&2; exit 4",
			"a\n", Exit{Code: 4, Output: "a\n", Stderr: "b\n"},
			Failure{Kind: Exited, Reason: "exit 4: b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, others := raw(start(t, script(c.text)).rest())
			var want []Message
			for line := range strings.Lines(c.exit.Stderr) {
				want = append(want, Activity{Text: strings.TrimSpace(line)})
			}
			c.exit.Command = true
			want = append(want, Result{Subtype: "success"}, c.exit)
			if diff := cmp.Diff(want, others); diff != "" || said != c.said {
				t.Errorf("said %q; -want +got:\n%s", said, diff)
			}
			if got := Classify(Result{Subtype: "success"}, &c.exit); got != c.failure {
				t.Errorf("as a failure: %+v", got)
			}
		})
	}
}

func TestTheLadderOfACommand(t *testing.T) {
	const waits = `sh -c 'echo begun; exec sleep 86400'`
	for _, c := range []struct {
		name, text string
		how        Ending
		want       Exit
	}{
		{"finish waits for its end", `echo begun; exit 0`, Finish, Exit{}},
		{"finish climbs to a signal", waits, Finish, Exit{Code: -1, Signal: "SIGTERM"}},
		{"park is a SIGTERM to all of it", `trap 'exit 5' TERM; ` + waits + "; exit 6", Park, Exit{Code: 5}},
		{"stop has no turn to interrupt", `trap 'exit 5' TERM; ` + waits + "; exit 6", Stop, Exit{Code: 5}},
		{"park climbs to a kill", `trap '' TERM; ` + waits, Park, Exit{Code: -1, Signal: "SIGKILL"}},
		{"kill asks nobody", `trap 'exit 5' TERM; ` + waits, Kill, Exit{Code: -1, Signal: "SIGKILL"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, script(c.text))
			short := r.patience.term
			r.patience = patience{hangs, hangs, hangs}
			switch c.want.Signal {
			case "SIGTERM":
				r.patience.finish = short
			case "SIGKILL":
				r.patience.term = short
			}
			next[Raw](r) // its signal handlers are set
			r.End(context.Background(), c.how)
			got := next[Exit](r)
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
	if err != nil {
		t.Fatal(err)
	}
	left, err := read(pid)
	if err != nil || !left.alive() {
		t.Fatalf("what it left is gone: %v", err)
	}
	survivors := r.End(context.Background(), Finish)
	if len(survivors) != 1 || survivors[0].PID != pid || survivors[0].Alive || left.alive() {
		t.Errorf("survivors: %v, alive: %v", survivors, left.alive())
	}
}

func TestAProcessThatHoldsACommandsStreamsIsNotWaitedFor(t *testing.T) {
	r := start(t, player(t, "", "holder"))
	all := r.rest()
	if e := all[len(all)-1].(Exit); e.Code != 0 {
		t.Errorf("%+v", e)
	}
	if _, ok := all[len(all)-2].(Result); !ok {
		t.Errorf("before the exit: %+v", all[len(all)-2])
	}
}

func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		p, err := Start(command("", "true"), func(Message) {})
		if err != nil {
			b.Fatal(err)
		}
		p.End(context.Background(), Finish)
	}
}
