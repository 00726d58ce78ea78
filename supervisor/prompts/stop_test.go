package prompts

import "testing"

func TestTheNextStepIsTheOneThatTheAgentHasWrittenDown(t *testing.T) {
	for plan, want := range map[string]string{
		"Run: npm install\nThen resume with: \"Dependencies installed, continue\"": "Dependencies installed, continue",
		"- Resume with: run the scan": "run the scan",
		"New agent: Set up tests\nResume: When new agent completes, resume with \"Infrastructure ready, continue testing\"": "Infrastructure ready, continue testing",
		"Resume: after the \"big\" merge, rebase": "after the \"big\" merge, rebase",
		"then we resume work":                     "",
		"":                                        "",
	} {
		if got := stepAfter(plan); got != want {
			t.Errorf("%q: the next step is %q, want %q", plan, got, want)
		}
	}
}
