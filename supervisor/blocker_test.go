package supervisor

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/ask"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/prompts"
	"claude-supervise/supervisor/questions"
)

// blocked is a stop of the kinds that the protocols document prints.
func blocked(fields ...string) signals.Signal {
	s := signals.Signal{Kind: signals.Stop, Dialect: signals.Block, AgentID: Root}
	for i := 0; i < len(fields); i += 2 {
		s.Fields = append(s.Fields, signals.Field{Name: fields[i], Value: fields[i+1]})
	}
	return s
}

var dependency = blocked("stop_reason", "blocker", "blocker_type", "external_dependency",
	"details", "Security analysis requires running npm audit, but node_modules is missing",
	"completed_work", "✓ Scanned for hardcoded secrets (0 found)",
	"blocked_work", "✗ Dependency vulnerability scan (requires npm audit)",
	"state_snapshot",
	"Files analyzed: 47/120\nReports generated: AUTH_ANALYSIS.md, SQL_REVIEW.md\nCurrent directory: /work/src",
	"resume_requirements",
	"Run: npm install (in parent session)\nThen resume with: \"Dependencies installed, continue with npm audit scan\"")

var analysisError = blocked("stop_reason", "error", "blocker_type", "error",
	"details", "Unexpected error during analysis:\nTypeError: Cannot read property 'length' of undefined",
	"error_recovery",
	"Potential fixes:\n1. Skip problematic file and continue\n2. Fix error in analysis script\n3. Restart analysis from "+
		"checkpoint")

var tooMuch = blocked("stop_reason", "blocker", "blocker_type", "resource_limit", "details",
	"Analysis of 10,000+ files will exceed reasonable task duration",
	"resume_requirements",
	"Option 1: Reduce scope (specify file patterns to exclude)\nOption 2: Delegate to multiple agents (see "+
		"DELEGATE_WORK protocol)")

var noKey = blocked("stop_reason", "blocker", "blocker_type", "missing_info", "details", "The API key is not known")

func labels(s signals.Signal) []string {
	var all []string
	for _, o := range ask.Stop(s).Options {
		all = append(all, o.Label)
	}
	return all
}

func TestAStopOffersTheAgentsOwnOptionsBeforeTheStandingOnes(t *testing.T) {
	standing := []string{"resolved", "skip", "retry", "delegate", "reduce", "give up"}
	for name, c := range map[string]struct {
		stop signals.Signal
		own  []string
	}{
		"a command that it needs": {dependency, []string{"run: npm install"}},
		"numbered fixes": {analysisError,
			[]string{"Skip problematic file and continue", "Fix error in analysis script", "Restart analysis from checkpoint"}},
		"options that it sees": {tooMuch,
			[]string{"Reduce scope (specify file patterns to exclude)",
				"Delegate to multiple agents (see DELEGATE_WORK protocol)"}},
		"none": {noKey, nil},
		"options that it lists": {blocked("details", "x", "options", "- Wait for it\n- \"Vendor: copy\\n  it\"\n- Retry\n",
			"error_recovery", "1. wait for it"), []string{"Wait for it", "Vendor: copy it"}},
		"a standing one again": {blocked("details", "x", "error_recovery", "1. retry\n2. Skip\n3. Ask Bob"),
			[]string{"Ask Bob"}},
		"one twice":           {blocked("details", "x", "error_recovery", "1. Ask Bob\n2. ask bob"), []string{"Ask Bob"}},
		"one that is a novel": {blocked("details", "x", "error_recovery", "1. "+strings.Repeat("very ", 40)+"long"), nil},
		"requirements":        {blocked("details", "x", "resume_requirements", "1. the key\n2. the password"), nil},
		"a quoted command": {blocked("details", "x", "resume_requirements", "- Run `make deps` and wait"),
			[]string{"run: make deps"}},
		"a hidden command": {blocked("details", "x", "resume_requirements", "Run: make\u202esped"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(slices.Concat(c.own, standing), labels(c.stop)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEachAnswerToAStopHasItsPrompt(t *testing.T) {
	for name, c := range map[string]struct {
		stop         signals.Signal
		answer       string
		gone         []string
		want, absent []string
	}{
		"resolved": {stop: dependency, answer: "resolved: ran npm install", want: []string{
			"## BLOCKER RESOLVED\n\nIssue: Security analysis requires running npm audit, but node_modules is " +
				"missing\nResolution: ran npm install\n",
			"## STATE RESTORATION\nFiles analyzed: 47/120", "Completed:\n✓ Scanned",
			"on disk, and there: AUTH_ANALYSIS.md, SQL_REVIEW.md, /work/src\n",
			"## RESUME INSTRUCTIONS\nContinue with what was blocked:\n✗ Dependency",
		}},
		"resolved, and nothing more": {stop: noKey, answer: "resolved",
			want: []string{"Resolution: The person says that it is resolved."}, absent: []string{"STATE RESTORATION"}},
		"own words": {stop: noKey, answer: "it is in the vault: look there",
			want: []string{"## BLOCKER RESOLVED", "Resolution: it is in the vault: look there"}},
		"what is gone is told": {stop: dependency, answer: "resolved", gone: []string{"SQL_REVIEW.md"},
			want: []string{"NOT there", "- SQL_REVIEW.md", "and there: AUTH_ANALYSIS.md, /work/src\n"}},
		"a snapshot of the diagrams": {stop: blocked("details", "x", "state_snapshot",
			"- Completed tasks: [A, B, C]\n- Generated files: [file1, file2]\n- Working directory: /path/to/work"),
			answer: "resolved", gone: []string{"file2"},
			want: []string{"NOT there, make them again if you need them:\n- file2\n", "and there: /path/to/work, file1\n"}},
		"an error that is fixed": {stop: analysisError, answer: "resolved: undefined check added",
			want: []string{"## ERROR FIXED\n", "Applied fix: undefined check added", "retry what caused the error"}},
		"an error that is skipped": {stop: analysisError, answer: "skip: analysis.js:142",
			want:   []string{"## ERROR RECOVERY\n", "Skip what is blocked", "analysis.js:142", "SKIPPED_FILES.md"},
			absent: []string{"Resolution:"}},
		"a blocker that is skipped": {stop: dependency, answer: "skip",
			want: []string{"## BLOCKER RESOLVED", "SKIPPED_ITEMS.md"}, absent: []string{"Continue with what was blocked"}},
		"tried again": {stop: analysisError, answer: "retry",
			want: []string{"## ERROR RECOVERY", "Retry from the checkpoint."}},
		"delegated": {stop: tooMuch, answer: "delegate",
			want: []string{"## PARTIAL RESUME", "agent a-child0000001 does it", "Continue with the rest"}},
		"reduced": {stop: tooMuch, answer: "reduce: only src/",
			want: []string{"Reduce the scope: only src/", "what was left out"}},
		"an option of its own": {stop: tooMuch, answer: "Reduce scope (specify file patterns to exclude): vendor/",
			want: []string{"Continue as you proposed yourself: Reduce scope (specify file patterns to exclude): vendor/\n",
				"what was left out"}},
		"an option of its own that delegates": {
			stop:   blocked("details", "4h vs 1h", "resume_requirements", "Option 1: Delegate remaining work to new agent"),
			answer: "Delegate remaining work to new agent",
			want:   []string{"## PARTIAL RESUME", "proposed yourself: Delegate remaining", "agent a-child0000001 does it."}},
		"an option of its own that delegates to several": {stop: tooMuch,
			answer: "Delegate to multiple agents (see DELEGATE_WORK protocol)",
			want: []string{"## BLOCKER RESOLVED", "proposed yourself: Delegate to multiple agents (see DELEGATE_WORK protocol).\n",
				"one delegate_work (or DELEGATE_WORK block) a part"},
			absent: []string{"a-child0000001", "Skip what is blocked"}},
		"an option of its own that skips": {stop: analysisError, answer: "Skip problematic file and continue: only analysis.js",
			want:   []string{"proposed yourself: Skip problematic file and continue: only analysis.js\nLog what", "SKIPPED_FILES.md"},
			absent: []string{"Continue with what was blocked"}},
		"an option of its own that is none of ours": {stop: analysisError, answer: "Fix error in analysis script",
			want: []string{"## ERROR RECOVERY", "proposed yourself: Fix error in analysis script.\n"}},
		"the next step that it has written down": {stop: dependency, answer: "resolved",
			want: []string{"Next step: Dependencies installed, continue with npm audit scan\nDo not repeat"}},
		"not the next step where nothing is resolved": {stop: dependency, answer: "skip", absent: []string{"Next step"}},
		"a command that was not let": {stop: dependency, answer: "run: npm install",
			want: []string{"The person decided not to run `npm install`."}, absent: []string{"Next step"}},
		"a command that cannot be it": {stop: noKey, answer: "run: \x1b[2J", want: []string{"Resolution: run:"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := ask.Question(questions.AskBlocker, ask.Stop(c.stop))
			q.Answer, q.Gone, q.Child = c.answer, c.gone, "a-child0000001"
			text := prompts.StopAnswered(q, c.stop, nil, ask.SnapshotPaths(c.stop))
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in:\n%s", want, text)
				}
			}
			for _, absent := range c.absent {
				if strings.Contains(text, absent) {
					t.Errorf("%q in:\n%s", absent, text)
				}
			}
		})
	}
}

func TestWhatIsSaidAtOnceIsNotAskedFor(t *testing.T) {
	for answer, asks := range map[string]bool{
		"reduce": true, "reduce: only src/": false, "Narrow the scope": true, "Narrow the scope to src/": false,
		"Exclude files (please specify which)": true, "Wait (30 s)": false, "skip": false,
		"delegate": false, "run: make": true,
	} {
		q := &Question{Kind: questions.AskBlocker, Response: checkpoints.Response{Answer: answer}}
		for _, label := range []string{"Narrow the scope", "Narrow the scope to src/",
			"Exclude files (please specify which)", "Wait (30 s)"} {
			q.Options = append(q.Options, checkpoints.Option{Label: label})
		}
		if got := questions.Resolve(q).Asks(); got != asks {
			t.Errorf("%q leads to another question: %v", answer, got)
		}
	}
}

func TestWhereQuestionsAreRefusedAProposalIsNotAskedAbout(t *testing.T) {
	s := Begin(t, func(c *conf.Config) { c.OnQuestion = conf.Fail })
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Signal: tooMuch,
		Naming: Naming{IDs: []string{"q-1"}, Presets: []conf.Preset{{Key: "stop", Value: "reduce"}}}}})
	s.turnEnds()
	s.Do(Prepared{Question: "q-1", Naming: Naming{IDs: []string{"q-2"}}})
	if text := s.Delivers(1).Text; !strings.Contains(text, "Reduce the scope.") {
		t.Errorf("the agent reads:\n%s", text)
	}
}

func TestASnapshotsFilesAreFoundAnywhereInItsLines(t *testing.T) {
	got := ask.SnapshotPaths(blocked("state_snapshot",
		"Files analyzed: 47/120 and 3.5%\nReports: AUTH.md, docs/SQL.md (see `out/a.json`).\nDirectory: /work/src"))
	if diff := cmp.Diff([]string{"AUTH.md", "docs/SQL.md", "out/a.json", "/work/src"}, got); diff != "" {
		t.Error(diff)
	}
}

// stops opens the question of a stop, ends the turn, and gives the answer.
func (s *Story) stops(stop signals.Signal, answer string) {
	s.T.Helper()
	s.Do(SignalRead{Agent: Root, Launch: 1, Named: Named{Naming: Naming{IDs: []string{"q-1"}}, Signal: stop}})
	s.turnEnds()
	s.Answers("q-1", answer)
}

// The document's own snapshot of a limit counts files by their kinds.
func TestAKindOfFilesIsNoFileOfASnapshot(t *testing.T) {
	got := ask.SnapshotPaths(blocked("state_snapshot",
		"✓ Identified file types (47% .ts, 23% .md, 30% other)\n"+
			"✓ Created analysis strategy (see ANALYSIS_PLAN.md), .env"))
	if diff := cmp.Diff([]string{"ANALYSIS_PLAN.md", ".env"}, got); diff != "" {
		t.Error(diff)
	}
}
