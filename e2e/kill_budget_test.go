package e2e

import "path/filepath"

// budgetScenarios are those of work that has to wait: for the end of a usage limit, which is longer than its estimate,
// so that a person is asked about that, and for the person to raise its budget.
var budgetScenarios = []killScenario{
	{name: "a limit and a budget", scenario: "testdata/kill/budget.yaml", flags: []string{
		"-f", inTestdata("kill/estimate.yaml"), "--max-cost-usd", "0.8", "--max-time", "1h", "--delegate",
		"deny", "--hold", "forever", "--on-question", "ask",
	}},
}

// inTestdata returns the path of a file for commands that run elsewhere.
func inTestdata(name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		panic(err) // there is no working directory
	}
	return path
}
