package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a program reads has the same keys whether there is a value or not: in a run that has just parked and in one
// that has reported, of a root and of a child, of an open question and of an answered one.
func TestEveryJSONOutputHasTheSameKeysWhetherThereIsAValueOrNot(t *testing.T) {
	t.Parallel()
	w := demoWorld(t)
	keys := map[string]map[string]string{} // by command and place: key sets, each with an output that has it
	note := func(command, output string) {
		for line := range strings.Lines(output) {
			var v any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Errorf("%s prints %q: %v", command, line, err)
				continue
			}
			if o, is := v.(map[string]any); is && o["type"] != nil {
				noteKeys(keys, fmt.Sprint(command, " ", o["type"]), v, line)
			} else {
				noteKeys(keys, command, v, line)
			}
		}
	}
	for _, command := range []string{"ps", "questions", "prune --older-than 0s"} {
		args := append(strings.Fields(command), "--json")
		if got := w.must(args...); got != "[]\n" {
			t.Errorf("%s prints %q where there is nothing", command, got)
		}
	}
	for _, flags := range [][]string{
		{"--demo", "ask", "--answer", "login=1", "--name", "named"}, {"--demo", "ask", "--on-question", "park", "--hold", "0"},
		{"--demo", "delegate-tree", "--delegate", "auto"}, {"--demo", "failed-report"},
	} {
		_, out, _ := w.run(append([]string{"run", "--json"}, flags...)...)
		note("run --json", out)
	}
	page := w.serve("--listen", "127.0.0.1:0")
	asked := func(method, path, body string) string { // the page's API has the same keys
		t.Helper()
		status, text := page.send(method, path, body)
		if status != 200 {
			t.Errorf("%s %s gets %d %s", method, path, status, text)
		}
		return text
	}
	note("questions", w.must("questions", "--json"))
	note("questions", asked("GET", "/api/questions", ""))
	note("ps", asked("GET", "/api/runs", ""))
	note("ps", asked("GET", "/api/runs?ended=1", ""))
	for _, q := range parse[[]map[string]any](t, w.must("questions", "--json")) {
		got := parse[map[string]any](t, asked("GET", fmt.Sprint("/api/questions/", q["id"]), ""))
		if got["run_name"] != q["run_name"] || got["cwd"] != q["cwd"] || q["cwd"] == "" {
			t.Errorf("the API has %v of run %v in %v, not %v in %v", q["id"], got["run_name"], got["cwd"], q["run_name"], q["cwd"])
		}
	}
	for _, v := range parse[[]runView](t, w.must("ps", "-a", "--json")) {
		note("ps", w.must("ps", "-a", "--json"))
		note("show", w.must("show", v.ID, "--json"))
		note("logs", w.must("logs", v.ID, "--json"))
		note("permissions", w.must("permissions", v.ID, "--json"))
		_, out, _ := w.run("wait", "--timeout", "0", v.ID, "--json")
		note("wait", out)
		for _, q := range v.OpenQuestions {
			note("show question", w.must("show", q, "--json"))
			note("show question", asked("GET", "/api/questions/"+q, ""))
			printed := w.must("answer", q, "1", "--json")
			note("answer", printed)
			hasKeysOf(t, asked("POST", "/api/questions/"+q+"/answer", `{"value": "1", "change": true}`), printed)
			note("show question", w.must("show", q, "--json"))
			note("show question", asked("GET", "/api/questions/"+q, ""))
		}
		for _, a := range v.Agents {
			note("show", w.must("show", a.ID, "--json"))
		}
		_, out, _ = w.run("stop", v.ID, "--json")
		note("stop", out)
		hasKeysOf(t, asked("POST", "/api/runs/"+v.ID+"/stop", ""), out)
	}
	_, out, _ := w.run("prune", "--older-than", "0s", "--json")
	note("prune", out)
	for _, place := range slices.Sorted(maps.Keys(keys)) {
		if len(keys[place]) > 1 {
			t.Errorf("%s has different keys:", place)
			for set, output := range keys[place] {
				t.Errorf("  %s\n    as in %.300s", set, output)
			}
		}
	}
	if len(keys) < 30 {
		t.Errorf("only %d places were seen", len(keys))
	}
}

// hasKeysOf checks that one JSON object has all keys of another.
func hasKeysOf(t *testing.T, object, other string) {
	t.Helper()
	has := parse[map[string]any](t, object)
	for key := range parse[map[string]any](t, other) {
		if _, is := has[key]; !is {
			t.Errorf("%s lacks %q of %s", object, key, other)
		}
	}
}

var isAgent = regexp.MustCompile(`^a-\w{12}$`)

// noteKeys takes note of the keys of each object in a value. What is by agent has agents' ids for keys; a tool's input,
// and counts by status, have whatever they have.
func noteKeys(keys map[string]map[string]string, place string, v any, output string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			noteKeys(keys, place+"[]", one, output)
		}
	case map[string]any:
		var names []string
		for name, inner := range v {
			if isAgent.MatchString(name) {
				noteKeys(keys, place+".AGENT", inner, output)
				continue
			}
			names = append(names, name)
			if name != "input" && name != "counts" {
				noteKeys(keys, place+"."+name, inner, output)
			}
		}
		if len(names) == 0 {
			return
		}
		if keys[place] == nil {
			keys[place] = map[string]string{}
		}
		slices.Sort(names)
		keys[place][strings.Join(names, " ")] = output
	}
}
