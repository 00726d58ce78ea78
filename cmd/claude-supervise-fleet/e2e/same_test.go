package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"claude-supervise/supervisor/exit"
)

// A side is one machine, or a fleet, on which the same is typed.
type side struct {
	*site
	fleet []string // what comes before a command
}

// types runs a command of the person, and gives its exit code and what it printed.
func (s side) types(args ...string) (code int, out, said string) {
	s.t.Helper()
	cmd := s.command(append(slices.Clone(s.fleet), args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(printed), stderr.String()
}

// parks has a run of a name park with its question, and gives the ids of both.
func (s side) parks(name string) (run, question string) {
	s.t.Helper()
	args := []string{"run", "--demo", "ask", "--hold", "0", "--name", name}
	if len(s.fleet) == 0 {
		args = append(args, "--on-question", "park", "--json", "--cwd", s.t.TempDir())
	}
	_, out, said := s.types(args...)
	apart := func(r rune) bool { return strings.ContainsRune(" \n\",:", r) }
	for _, word := range strings.FieldsFunc(out+" "+said, apart) {
		if run == "" && strings.HasPrefix(word, "r-") && len(word) == 10 {
			run = word
		}
	}
	if code, _, said := s.types("wait", run); code != 75 {
		s.t.Fatalf("%v wait %s exits %d: %s", s.fleet, run, code, said)
	}
	var open []struct{ ID, Run string }
	_, out, _ = s.types("questions", "--json")
	if err := json.Unmarshal([]byte(out), &open); err != nil {
		s.t.Fatal(err)
	}
	for _, q := range open {
		if q.Run == run {
			return run, q.ID
		}
	}
	s.t.Fatalf("%s asks nothing: %s", run, out)
	return "", ""
}

// What is typed for a run of a fleet exits as it does for one of this machine and prints the same lines, and its JSON has
// the same fields of the same types; those of a fleet have more.
func TestTheCommandsOfAFleetExitAsThoseOfOneMachine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.worker("one")
	sides := []side{{s, nil}, {s, []string{"fleet"}}}
	type ids struct{ run, question, twin, third string }
	var of [2]ids
	for i, on := range sides {
		of[i].run, of[i].question = on.parks("same")
		of[i].twin, _ = on.parks("twin")
		of[i].third, _ = on.parks("third")
	}
	// One machine takes the run that is meant where none is named. A fleet has those of others, and wants one named.
	if code, out, _ := sides[0].types("show"); code != 0 || !strings.Contains(out, of[0].third) {
		t.Errorf("show exits %d here: %s", code, out)
	}
	for _, command := range []string{"show", "logs", "wait", "resume", "stop"} {
		code, out, said := sides[1].types(command)
		if code != exit.Usage || out != "" || !strings.Contains(said, command+" takes the id") {
			t.Errorf("%s exits %d on a fleet: %s%s", command, code, out, said)
		}
	}
	for _, line := range []string{
		"ps --json", "ps -a --json", "ps nosuch", "questions --json", "questions nosuch", "show RUN --json",
		"show r-nosuch00", "show nosuch", "wait RUN --json", "wait RUN", "wait r-nosuch00", "wait --nosuch",
		"wait RUN --question", "wait --any RUN TWIN", "wait --any --question RUN TWIN", "wait RUN --timeout 0",
		"wait RUN --timeout -1s", "wait RUN RUN", "ps", "ps -a", "ps -q", "questions", "show RUN", "resume nosuch",
		"resume RUN --nosuch", "stop nosuch", "stop --all RUN", "answer QUESTION 1 2", "ps --nosuch",
		"resume r-nosuch00", "resume --failed RUN", "stop r-nosuch00", "answer q-nosuch x", "answer",
		"answer QUESTION", "answer QUESTION 9", "answer QUESTION --skip", "answer QUESTION JWT --json",
		"answer QUESTION Sessions", "stop TWIN --json", "wait TWIN --json", "stop TWIN", "resume --failed TWIN",
		"answer QUESTION JWT", "stop THIRD", "wait THIRD",
	} {
		var codes [2]int
		var shapes [2]map[string]string
		var words [2]string
		var lines [2]string
		for i, on := range sides {
			args := strings.Fields(strings.NewReplacer("RUN", of[i].run, "QUESTION", of[i].question, "TWIN", of[i].twin,
				"THIRD", of[i].third).
				Replace(line))
			var out, said string
			codes[i], out, said = on.types(args...)
			words[i] = out + said
			shapes[i] = map[string]string{}
			var doc any
			if strings.Contains(line, "--json") && json.Unmarshal([]byte(out), &doc) == nil {
				shape(shapes[i], "", doc)
			} else {
				lines[i] = printed(line, words[i])
			}
		}
		if want := onAFleet(lines[0]); want != lines[1] {
			t.Errorf("%s prints on a fleet\n%s\nand is to print, by what one machine does,\n%s", line, lines[1], want)
		}
		if codes[0] != codes[1] {
			t.Errorf("%s exits %d here, %d on a fleet:\n%s%s", line, codes[0], codes[1], words[0], words[1])
		}
		for _, field := range slices.Sorted(maps.Keys(shapes[0])) {
			here, there := shapes[0][field], shapes[1][field]
			if field == ".logs.ID" { // a file on the worker
				here = ""
			}
			if here != there && !(here == "null" || there == "null") {
				t.Errorf("%s has %s as %q here, %q on a fleet", line, field, here, there)
			}
		}
	}
}

// What is of one run or one moment, and what stands for it.
var ofOneRun = []struct {
	what *regexp.Regexp
	is   string
}{
	{regexp.MustCompile(`claude-supervise fleet`), "claude-supervise"},
	{regexp.MustCompile("`claude-supervise [a-z]+`, process [0-9]+|\\S+@\\S+"), "WHO"},
	{regexp.MustCompile(`·\s+/tmp/[^)]*\)`), "· PATH)"}, // which may be broken at column 80
	{regexp.MustCompile(`/tmp/[^\s)]+`), "PATH"},
	{regexp.MustCompile(`([0-9]{4}-[0-9]{2}-[0-9]{2} )?\b[0-9]{2}(:[0-9]{2}){1,2}\b`), "TIME"},
	{regexp.MustCompile(`[0-9]+s ago|\b(just )?now\b`), "AGO"},
	{regexp.MustCompile(`\b[0-9]+s, `), "LONG, "},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "SESSION"},
	{regexp.MustCompile(`\b(r|q|a)-[0-9A-Za-z]{6,12}\b`), "$1-ID"},
}

// printed returns the lines that a command printed, without what is of one run or one moment.
func printed(command, text string) string {
	var lines []string
	for _, of := range ofOneRun {
		text = of.what.ReplaceAllString(text, of.is)
	}
	if command == "questions" { // where the folder is long, it has a line of its own
		text = strings.Join(strings.Fields(text), " ")
	}
	for line := range strings.Lines(text) {
		cells := strings.Fields(line)
		if command == "ps" || command == "ps -a" {
			if !strings.HasPrefix(line, "RUN ") && !strings.HasPrefix(line, "r-") {
				continue // below a run of a fleet: why
			}
			cells = cells[:5] // RUN, STATUS, SINCE, ASKS, COST
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

// onAFleet returns the lines that a fleet is to print where one machine prints these. What is listed here is what topic
// fleet says of how they differ.
func onAFleet(text string) string {
	text = strings.NewReplacer(
		"the ids of runs or agents", "the ids of runs",
		"the id of a run, an agent or a question", "the id of a run",
		"the id of a run, or --all", "the id of a run",
		"no ids and no --only", "no ids",
		"no run, agent or question \"q-ID\" (`claude-supervise ps -a` lists the runs, `claude-supervise questions` what is "+
			"asked)", "no open question of the fleet is called \"q-ID\"; nothing was kept: claude-supervise questions lists them",
		"no run, agent or question", "no run",
		" lists the runs, `claude-supervise questions` what is asked)", " lists the runs)",
		"Answer with:\nclaude-supervise answer q-ID VALUE\nThen run:\nclaude-supervise resume r-ID",
		"It continues by itself once it is answered:\nclaude-supervise answer q-ID VALUE",
		"\nFolder PATH\nStarted", "\nResult claude-supervise fetch r-ID DIR\nStarted",
		"\nLog PATH\n", "\n",
	).Replace(text)
	return regexp.MustCompile(`question (q-ID was) already answered "JWT" by (WHO at TIME); that answer counts.*`).
		ReplaceAllString(text, "$1 answered before, by $2: JWT")
}

// shape notes the type of each field of a document.
func shape(of map[string]string, path string, doc any) {
	switch v := doc.(type) {
	case map[string]any:
		for name, field := range v {
			if strings.HasPrefix(name, "a-") || strings.HasPrefix(name, "q-") {
				name = "ID"
			}
			shape(of, path+"."+name, field)
		}
	case []any:
		of[path] = "list"
		for _, one := range v {
			shape(of, path+"[]", one)
		}
	case nil:
		if of[path] == "" {
			of[path] = "null"
		}
	default:
		of[path] = fmt.Sprintf("%T", v)
	}
}
