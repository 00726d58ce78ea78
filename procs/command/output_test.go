package command

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/procs"
)

var update = flag.Bool("update", false, "write the golden files anew")

func written(m procs.Message) string {
	data, err := json.Marshal(m)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s %s\n", reflect.TypeOf(m).Name(), data)
}

func TestWhatACommandPrintsIsHandedOver(t *testing.T) {
	paths, err := filepath.Glob("testdata/outputs/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no outputs: %v", err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			abs, err := filepath.Abs(path)
			noError(t, err)
			s := player(t, "", "print", abs)
			log := new(strings.Builder)
			s.Log = log
			var got strings.Builder
			text, others := raw(start(t, s).rest())
			if text != "" {
				got.WriteString(written(procs.Raw{Text: text}))
			}
			for _, m := range others {
				got.WriteString(written(m))
			}
			golden := strings.TrimSuffix(path, ".txt") + ".golden"
			if *update {
				noError(t, os.WriteFile(golden, []byte(got.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			noError(t, err)
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if logged := rawLog(t, log.String()); logged != text {
				t.Errorf("in the log: %q", logged)
			}
		})
	}
}

// rawLog joins the raw texts of a log.
func rawLog(t *testing.T, log string) (text string) {
	t.Helper()
	for line := range strings.Lines(log) {
		var e struct {
			Launch int
			Time   time.Time
			Line   json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Launch != 1 || e.Time.IsZero() {
			t.Errorf("%s (%v)", line, err)
		}
		var printed struct{ Type, Text string }
		if json.Unmarshal(e.Line, &printed) == nil && printed.Type == "raw" {
			text += printed.Text
		}
	}
	return text
}

func TestAQuestionWithoutANewlineIsHandedOverWhileTheCommandWaits(t *testing.T) {
	r := start(t, script("printf 'first\nGo on? '; sleep 86400"))
	var got string
	for !strings.HasSuffix(got, "? ") {
		got += next[procs.Raw](r).Text
	}
	if got != "first\nGo on? " {
		t.Errorf("got %q", got)
	}
}

func TestAFloodIsHandedOverWholeAndInPieces(t *testing.T) {
	lines, longest, line := 0, 0, ""
	ended := make(chan procs.Exit, 1)
	p, err := procs.Start(Agent{}, player(t, "", "flood"), func(m procs.Message) {
		switch m := m.(type) {
		case procs.Raw:
			longest = max(longest, len(m.Text))
			for part := range strings.Lines(m.Text) {
				if line += part; !strings.HasSuffix(line, "\n") {
					continue // its end was late
				}
				if !strings.HasPrefix(line, fmt.Sprintf("%09d x", lines)) || len(line) != floodLine {
					t.Errorf("line %d: %.20q of %d", lines, line, len(line))
				}
				lines, line = lines+1, ""
			}
		case procs.Exit:
			ended <- m
		}
	})
	noError(t, err)
	defer p.End(context.Background(), procs.Kill)
	select {
	case e := <-ended:
		if last := fmt.Sprintf("\n%09d x", floodLines-1); e.Code != 0 || len(e.Output) != procs.MaxTail ||
			!strings.Contains(e.Output, last) {
			t.Errorf("exit %d, %d bytes of output", e.Code, len(e.Output))
		}
		if lines != floodLines || line != "" || longest > maxRaw {
			t.Errorf("%d lines in pieces of up to %d, and %q", lines, longest, line)
		}
	case <-time.After(10 * hangs):
		t.Error("it did not end")
	}
}

func TestWhatACommandPrintsToStderrIsActivity(t *testing.T) {
	r := start(t, script(`{ printf 'one\n\n  two\r\n\377\n'; head -c 100000 /dev/zero | tr '\0' x; } >&2`))
	_, others := raw(r.rest())
	want := []procs.Message{
		procs.Activity{Text: "one"}, procs.Activity{Text: "two"}, procs.Activity{Text: "\uFFFD"},
		procs.Activity{Text: strings.Repeat("x", procs.MaxShown)},
		procs.Result{Subtype: "success"}, procs.Exit{Command: true, Stderr: strings.Repeat("x", procs.MaxTail-1) + "\n"},
	}
	if diff := cmp.Diff(want, others); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestACommandInTheStreamProtocolIsOneTurnThatNobodyTalksTo(t *testing.T) {
	told := new([]procs.Message)
	c := conversation{tell: func(m procs.Message) { *told = append(*told, m) }, result: procs.Result{Subtype: "success"}}
	for _, m := range []procs.Message{
		procs.Init{SessionID: "s"}, procs.Text{Text: "one"}, procs.Background{Tasks: []procs.Task{{Name: "shell: x"}}},
		procs.StopHook{Request: "r"},
		procs.Result{Subtype: "success", Text: "one", NumTurns: 1, InputTokens: 2, OutputTokens: 3, CostUSD: 0.5},
		procs.Init{SessionID: "s"}, procs.Ask{Request: "r", Name: "Bash"}, procs.AskCancelled{Request: "r"},
		procs.Receipt{UUID: "u"},
		procs.Result{Subtype: "error_max_turns", IsError: true, Text: "too many", NumTurns: 1, InputTokens: 2,
			OutputTokens: 3, CostUSD: 0.25},
	} {
		c.take(m)
	}
	want := []procs.Message{
		procs.Text{Text: "one"},
		procs.Activity{Text: "Bash is asked about, and nobody can answer: the command takes no messages"},
	}
	if diff := cmp.Diff(want, *told); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(procs.Result{
		Subtype: "success", Text: "too many", NumTurns: 2, InputTokens: 4, OutputTokens: 6, CostUSD: 0.75,
	}, c.result); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
