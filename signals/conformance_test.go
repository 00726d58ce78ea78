package signals

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A conforming row of CONFORMANCE.md says which test proves that something in a source document holds.
type conforming struct {
	document, section, what string
	tests                   []string // "package TestName" or "package TestName/subtest"
}

// mustConform are the checklists, criteria and error cases of the source documents, word for word: each has a row.
var mustConform = map[string][]string{
	"000 Error Handling": {
		"Answer file contains invalid option",
		"Answer file is corrupted/unreadable",
		"Question file missing/corrupted",
		"Checkpoint file missing/corrupted",
		"Checkpoint missing user_answer",
		"Ensure directories exist and are writable",
	},
	"001 Verification Checklist": {
		"Subagent saves comprehensive state before pausing (all files, progress, pending decision)",
		"Question includes clear context explaining why input is needed",
		"Options are specific with descriptions of implications",
		"Pause signal is clear and detectable by main conversation",
		"Main conversation can retrieve question and present to user",
		"User's answer is stored alongside saved state",
		"Agent can resume and retrieve both saved state and answer",
		"No work is redone when resuming (uses saved state)",
		"Pattern works across session restarts (state is persistent)",
	},
	"002 Protocol Testing Checklist": {
		"Test 1: Clarification Protocol",
		"Test 2: Stop/Resume Protocol",
		"Test 3: Delegation Protocol",
		"Test 4: Completion Report",
	},
	"002 Signal Format Validation": {
		"All required fields present",
		"YAML syntax is valid",
		"Timestamps are ISO-8601",
		"Delimiters are properly matched",
	},
	"002 Parent Detection Validation": {
		"Signals detected in TaskOutput",
		"Signal extraction works correctly",
		"Field parsing is accurate",
		"Parent response is appropriate",
	},
	"002 State Preservation Validation": {
		"Checkpoints capture full state",
		"Resume operations restore state",
		"No work is lost during stop/resume",
	},
}

// mustBegin are how the rows begin that tell of what a person already tries.
var mustBegin = []string{
	"`ps` takes the width", "a name is a handle", "several choices", "a digit typed first", "a demo works in a folder",
	"what is typed while a run works", "one hang-up is one interrupt", "no dead ends", "`run - < file`", "JSON: the same keys",
	"times to a person", "`logs --tail`", "`wait --any`", "the hint about a thin task", "facts are folded",
	"who asks the same again",
}

func TestTheConformanceTableIsWhole(t *testing.T) {
	rows := conformanceTable(t)
	has := func(stands func(conforming) bool) bool { return slices.ContainsFunc(rows, stands) }
	for section, items := range mustConform {
		for _, item := range items {
			if !has(func(r conforming) bool { return r.document+" "+r.section == section && r.what == item }) {
				t.Errorf("no row for %s: %s", section, item)
			}
		}
	}
	for _, start := range mustBegin {
		if !has(func(r conforming) bool {
			return r.section == "Ways a person already tries" && strings.HasPrefix(r.what, start)
		}) {
			t.Errorf("no row of what a person tries begins %q", start)
		}
	}
	var named []string
	for _, d := range []Dialect{Block, JSON, Awaiting, Paused, Escalated, Marker, TaskMetadata, Tool} {
		named = append(named, "dialect `"+string(d)+"`")
	}
	for _, k := range []Kind{Clarification, Stop, Delegate, Completion, Progress, Message, WorkflowComplete} {
		named = append(named, "kind `"+string(k)+"`")
	}
	for _, code := range problemCodes {
		named = append(named, "problem `"+code+"`")
	}
	for _, name := range named {
		if !has(func(r conforming) bool { return strings.Contains(r.what, name) }) {
			t.Errorf("no row for the %s", name)
		}
	}
}

func TestTheConformanceTableNamesTestsThatExist(t *testing.T) {
	for _, r := range conformanceTable(t) {
		for _, name := range r.tests {
			if why := missingTest(t, name); why != "" {
				t.Errorf("%s, %s, %q: %s: %s", r.document, r.section, r.what, name, why)
			}
		}
	}
}

func TestATestThatIsNotThereIsMissed(t *testing.T) {
	for name, there := range map[string]bool{
		"signals TestATestThatIsNotThereIsMissed":                             true,
		"signals TestATestThatIsNotThere":                                     false,
		"signals TestWhoseIDDecides/bg-task-1":                                true,
		"signals TestWhoseIDDecides/no such case":                             false,
		"signals TestExamplesOfTheDocument/stop_work-def456.txt":              true,
		"e2e TestScripts/lint_hook":                                           true,
		"e2e TestScripts/no_such_script":                                      false,
		"e2e TestATestThatIsNotThereIsMissed":                                 false,
		"no/such/package TestATestThatIsNotThereIsMissed":                     false,
		"TestATestThatIsNotThereIsMissed":                                     false,
		"e2e TestEveryScenarioComesOutTheSameOnTheStandInAndOnTheRealCLI/ask": true,
	} {
		if why := missingTest(t, name); (why == "") != there {
			t.Errorf("%s: %q", name, why)
		}
	}
}

// conformanceTable reads the rows of CONFORMANCE.md.
func conformanceTable(t *testing.T) []conforming {
	t.Helper()
	text, err := os.ReadFile("CONFORMANCE.md")
	noError(t, err)
	var rows []conforming
	for i, line := range strings.Split(string(text), "\n") {
		line, ok := strings.CutPrefix(line, "| ")
		if !ok || strings.HasPrefix(line, "Document |") || strings.HasPrefix(line, "---") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, " |"), " | ")
		if len(cells) != 4 {
			t.Fatalf("CONFORMANCE.md, line %d has %d cells, not 4", i+1, len(cells))
		}
		row := conforming{document: cells[0], section: cells[1], what: cells[2]}
		for name := range strings.SplitSeq(cells[3], "<br>") {
			row.tests = append(row.tests, strings.Trim(name, "`"))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		t.Fatal("CONFORMANCE.md has no table")
	}
	return rows
}

var testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)

// missingTest says why a test of the repository is not there, by its source: its function is not declared, or the
// subtest is neither a case that its package names nor made of files that the test reads.
func missingTest(t *testing.T, name string) string {
	t.Helper()
	folder, name, ok := strings.Cut(name, " ")
	if !ok {
		return "it names no package"
	}
	name, sub, hasSub := strings.Cut(name, "/")
	if !testName.MatchString(name) {
		return "it is no test's name"
	}
	folder = filepath.Join("..", filepath.FromSlash(folder))
	sources, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	noError(t, err)
	declared, cased := false, false
	for _, path := range sources {
		source, err := os.ReadFile(path)
		noError(t, err)
		declared = declared || bytes.Contains(source, []byte("\nfunc "+name+"("))
		cased = cased || hasSub && (bytes.Contains(source, []byte(`"`+sub+`"`)) ||
			bytes.Contains(source, []byte("`"+sub+"`")))
	}
	if !declared {
		return "no such function"
	}
	for _, file := range strings.Fields(sub) {
		if !cased && !isTestFile(t, filepath.Join(folder, "testdata"), file) &&
			!isTestFile(t, filepath.Join("..", "examples", "scenarios"), file) {
			return "no such case, and no such file"
		}
	}
	return ""
}

// isTestFile looks for a file of that name, with or without its extension.
func isTestFile(t *testing.T, folder, name string) bool {
	t.Helper()
	found := false
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if os.IsNotExist(err) {
			return nil
		}
		base := filepath.Base(path)
		found = found || err == nil && !entry.IsDir() &&
			(base == name || strings.TrimSuffix(base, filepath.Ext(base)) == name)
		return err
	})
	noError(t, err)
	return found
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
