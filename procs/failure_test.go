package procs

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestAResultIsClassified(t *testing.T) {
	for _, c := range []struct {
		capture string
		want    []Failure // of each result in it
	}{
		{"2.1.329_ask_perm.ndjson", []Failure{{}}},
		{"2.1.7_interrupt_mcp.ndjson", []Failure{{Kind: CutShort, Passing: true, Reason: "the turn was interrupted"}, {}}},
		{"2.1.329_interrupt_mcp.ndjson", []Failure{{Kind: CutShort, Passing: true, Reason: "the turn was interrupted"}, {}}},
		{"2.1.329_budget.ndjson", []Failure{{Kind: OverBudget, Reason: "Reached maximum budget ($0.0001)"}}},
		{"2.1.329_max_turns.ndjson", []Failure{{Kind: OverBudget, Reason: "Reached maximum number of turns (1)"}}},
		{"2.1.329_session_gone.ndjson", []Failure{{Kind: SessionGone, Reason: "the conversation to resume is gone"}}},
		{"api-auth.jsonl", []Failure{{Kind: Login, Reason: "Invalid API key · Fix external API key"}}},
		{"api-overloaded.jsonl", []Failure{{Kind: API, Passing: true, Reason: "API Error: 529 Overloaded. This is a " +
			"server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway " +
			"(127.0.0.1:8111)."}}},
		{"api-rate-limit.jsonl", []Failure{{Kind: Limit, Reset: "3am",
			Reason: "API Error: Request rejected (429) · You've hit your limit · resets 3am"}}},
	} {
		t.Run(c.capture, func(t *testing.T) {
			var got []Failure
			var d decoder
			for _, line := range captures(t)[filepath.Join("testdata/captures", c.capture)] {
				messages, _ := d.decode([]byte(line))
				for _, m := range messages {
					if r, ok := m.(Result); ok {
						got = append(got, Classify(r, nil))
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestARequestThatFailedIsClassified(t *testing.T) {
	for _, c := range []struct {
		text   string // as 2.1.329 says it
		status int
		reason string // terminal reason
		resets time.Time
		want   Failure
	}{
		{text: "Not logged in · Please run /login", want: Failure{Kind: Login}},
		{text: "Credit balance is too low", status: 400, want: Failure{Kind: Limit}},
		{text: "API Error: Request rejected (429) · slow down", status: 429, want: Failure{Kind: API, Passing: true}},
		{text: "rejected", status: 429, resets: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC),
			want: Failure{Kind: Limit, Reset: "2026-11-21T03:00:00Z"}},
		{text: "API Error: Unable to connect to API (ECONNREFUSED)", want: Failure{Kind: API, Passing: true}},
		{text: "API Error: 500 Internal", status: 500, want: Failure{Kind: API, Passing: true}},
		{text: "There's an issue with the selected model", status: 404, want: Failure{Kind: API}},
		{text: "API Error: 403 no", status: 403, want: Failure{Kind: API}},
		{text: "Prompt is too long", reason: "prompt_too_long", want: Failure{Kind: API}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := Classify(Result{Subtype: "success", IsError: true, Text: c.text, APIStatus: c.status,
				TerminalReason: c.reason, Resets: c.resets}, nil)
			c.want.Reason = c.text
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAnExitIsClassified(t *testing.T) {
	good := Result{Subtype: "success", Text: "done"}
	for _, c := range []struct {
		name string
		last Result
		exit Exit
		want Failure
	}{
		{"done", good, Exit{Spoke: true}, Failure{}},
		{"a result, then a crash", good, Exit{Code: 1, Spoke: true, Stderr: "a\nTypeError: x\n"},
			Failure{Kind: Crashed, Passing: true, Reason: "exit 1: TypeError: x"}},
		{"an agent that talks of options has not met one", Result{Subtype: "success", Text: "error: unknown option '--x'"},
			Exit{Code: 1, Spoke: true}, Failure{Kind: Crashed, Passing: true, Reason: "exit 1"}},
		{"no result", Result{}, Exit{Spoke: true},
			Failure{Kind: CutShort, Passing: true, Reason: "it ended before the end of its turn"}},
		{"killed", good, Exit{Code: -1, Signal: "SIGKILL"},
			Failure{Kind: Crashed, Passing: true, Reason: "it was ended by SIGKILL"}},
		{"asked to end", Result{}, Exit{Code: 143, Spoke: true},
			Failure{Kind: CutShort, Passing: true, Reason: "it was ended by SIGTERM (exit 143)"}},
		{"a failed request", Result{Subtype: "success", IsError: true, APIStatus: 401, Text: "Invalid API key"},
			Exit{Code: 1, Spoke: true}, Failure{Kind: Login, Reason: "Invalid API key"}},
		{"our flag", Result{}, Exit{Code: 1, Stderr: "error: unknown option '--forward-subagent-text'\n"},
			Failure{Kind: RefusedFlag, Passing: true, Flag: "--forward-subagent-text",
				Reason: "this release of claude does not know --forward-subagent-text"}},
		{"the person's flag", Result{}, Exit{Code: 1, Stderr: "error: unknown option '--bogus-flag=3'\n"},
			Failure{Kind: RefusedFlag, Flag: "--bogus-flag", Reason: "this release of claude does not know --bogus-flag"}},
		{"gone, in 2.1.7", Result{}, Exit{Code: 1, Stderr: "No conversation found with session ID: 0\n"},
			Failure{Kind: SessionGone, Reason: "the conversation to resume is gone"}},
		{"taken", Result{}, Exit{Code: 1, Stderr: "Error: Session ID 0-1 is already in use.\n"},
			Failure{Kind: SessionTaken, Reason: "Session ID 0-1 is already in use"}},
		{"something else", Result{}, Exit{Code: 2, Stderr: "usage: cat"},
			Failure{Kind: NotClaude, Reason: "it printed nothing that Claude Code prints (exit 2): usage: cat"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Classify(c.last, &c.exit); got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

func TestTheEndOfACommandIsClassifiedByItsExitCodeAndItsLastWords(t *testing.T) {
	for _, c := range []struct {
		name string
		exit Exit
		want string // the reason, "" for no failure
	}{
		{"done, whatever it printed", Exit{Stderr: "error: unknown option '--verbose'\n", Output: "failed"}, ""},
		{"stderr before the output", Exit{Code: 3, Stderr: "a\nb\n\n", Output: "c\n"}, "exit 3: b"},
		{"as claude does in text mode", Exit{Code: 1, Output: "Invalid API key · Fix external API key\n\x1b[?25h"},
			"exit 1: Invalid API key · Fix external API key"},
		{"colours, a tab and a bell", Exit{Code: 1, Stderr: "\x1b[31merror:\x1b[0m\tno\a\r\n\x1b[?25h"}, "exit 1: error: no"},
		{"a progress bar", Exit{Code: 1, Stderr: "10%\r20%\r"}, "exit 1: 20%"},
		{"a sequence without end before it", Exit{Code: 1, Stderr: "\x1b]0;title\nwhy\n"}, "exit 1: why"},
		{"by a signal of its own making", Exit{Code: 143}, "exit 143"},
		{"by a signal", Exit{Code: -1, Signal: "SIGSEGV"}, "it was ended by SIGSEGV"},
		{"what claude alone means by it", Exit{Code: 1, Stderr: "No conversation found with session ID: 0\n"},
			"exit 1: No conversation found with session ID: 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.exit.Command = true
			want := Failure{Reason: c.want}
			if c.want != "" {
				want.Kind = Exited
			}
			if got := Classify(Result{Subtype: "success"}, &c.exit); got != want {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestAReasonIsBounded(t *testing.T) {
	got := Classify(Result{}, &Exit{Code: 2, Stderr: strings.Repeat("ä", maxTail)})
	if len(got.Reason) > 2*maxReason {
		t.Errorf("%d bytes", len(got.Reason))
	}
}
