package skill

import (
	"cmp"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

const hookCommand = "claude-supervise lint --hook"

// settings are what a person may have in settings.json.
var settings = []string{
	`{}`, "{}\n", "{ }", "{\n}\n",
	`{"model":"opus"}`,
	"{\n  \"model\": \"opus\",\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\", \"a<b\"]}\n}\n",
	"{\n\t\"hooks\": {\n\t\t\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": " +
		"\"check\"}]}]\n\t}\n}\n",
	"{\n    \"hooks\": {\n        \"Stop\": [\n            {\"hooks\": [{\"type\": \"command\", \"command\": \"say " +
		"done\"}]}\n        ]\n    },\n    \"x\": 1\n}\n",
	`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","timeout":5}]},{"hooks":[]}]},"n":1e400,"u":"\u202e , ` +
		`}"}`,
	"{\r\n  \"model\": \"opus\"\r\n}\r\n",
}

func TestTakenOutAgainTheHookLeavesTheSettingsAsTheyWere(t *testing.T) {
	for _, text := range settings {
		with, standing := put(t, Hook, text)
		if standing != Absent || stops(t, with) != stops(t, text)+1 || !json.Valid([]byte(with)) {
			t.Errorf("put into %s (%d) gives %s", text, standing, with)
		}
		if again, standing := put(t, Hook, with); again != with || standing != Current {
			t.Errorf("put a second time into %s it changes", text)
		}
		left, standing := take(t, Hook, with)
		if want := squeezed(text); standing != Current || squeezed(left) != want && (left != "" || want != "{}") {
			t.Errorf("of %s is left %s (%d)", text, left, standing)
		}
	}
}

// squeezed is a text without the white space that an empty object, or the end of a file, may have or not. An object
// with nothing in it may go with its file.
func squeezed(text string) string {
	return regexp.MustCompile(`^\{\s*\}$`).ReplaceAllString(strings.TrimSpace(text), "{}")
}

// stops counts the Stop hooks that a program finds.
func stops(t *testing.T, text string) int {
	t.Helper()
	var s struct {
		Hooks struct{ Stop []hookGroup }
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil && !strings.Contains(text, "1e400") {
		t.Fatalf("%s: %v", text, err)
	}
	return len(s.Hooks.Stop)
}

func TestAFileThatHoldsNothingButTheHookGoesWithIt(t *testing.T) {
	for _, text := range []string{"", " \n"} {
		with, _ := put(t, Hook, text)
		if stops(t, with) != 1 || !strings.HasSuffix(with, "}\n") {
			t.Errorf("put into %q gives %s", text, with)
		}
		if left, standing := take(t, Hook, with); left != "" || standing != Current {
			t.Errorf("%q is left (%d)", left, standing)
		}
	}
}

func TestOtherCommandsBesideTheHookStay(t *testing.T) {
	mine := `{"type": "command", "command": "` + hookCommand + `"}`
	for text, want := range map[string]string{
		`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, ` +
			mine + `]}]}}`: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}]}]}}`,
		`{"hooks": {"Stop": [{"matcher": "", "hooks": [` +
			mine +
			`, {"type": "command", "command": "a"}]}]}}`: `{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", ` +
			`"command": "a"}]}]}}`,
		`{"hooks": {"Stop": [{"hooks": [` + mine + `]}, {"hooks": [` +
			mine + `]}], "Other": []}}`: `{"hooks": {"Other": []}}`,
		`{"hooks": {"Stop": [3, {"hooks": [` + mine +
			`]}]}, "a": 1}`: `{"hooks": {"Stop": [3]}, "a": 1}`,
		`{"hooks": {"SubagentStop": [{"hooks": [` +
			mine + `]}]}}`: `{"hooks": {"SubagentStop": [{"hooks": [` + mine + `]}]}}`,
		`{"hooks": {"Stop": []}, "a": "` + hookCommand +
			`"}`: `{"hooks": {"Stop": []}, "a": "` + hookCommand + `"}`,
	} {
		if left, _ := take(t, Hook, text); left != want {
			t.Errorf("of %s\nis left %s", text, left)
		}
	}
}

func TestOfTwoMembersOfOneNameTheLastCounts(t *testing.T) {
	with, _ := put(t, Hook, `{"hooks": {"Stop": []}, "hooks": {"Other": []}}`)
	if !strings.HasPrefix(with, `{"hooks": {"Stop": []}, "hooks": {"Other": [],`) || stops(t, with) != 1 {
		t.Errorf("it becomes %s", with)
	}
}

func TestSettingsOfAnotherFormAreNotTouched(t *testing.T) {
	for _, text := range []string{
		"nonsense", "[]", `"x"`, "3", "null", "{", `{"hooks": 3}`, `{"hooks": []}`, `{"hooks": {"Stop": {}}}`,
		`{"hooks": {"Stop": "` + hookCommand + `"}}`,
		"// a comment\n{}", `{"hooks": null}`, "{}{}", `{"a": 1,}`, strings.Repeat(`{"hooks":`, 20000),
	} {
		if with, _, err := Hook.Put(text); err == nil {
			t.Errorf("put into %.60s gives %.60s", text, with)
		}
	}
}

func FuzzHook(f *testing.F) {
	for _, text := range settings {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		with, standing, err := Hook.Put(text)
		if err != nil || standing == Current {
			return
		}
		if !json.Valid([]byte(with)) {
			t.Fatalf("%s is not JSON", with)
		}
		left, _, err := Hook.Take(with)
		if err != nil {
			t.Fatal(err)
		}
		if text = squeezed(text); text == "" || text == "{}" && left == "" {
			if left != "" {
				t.Fatalf("%q is left", left)
			}
			return
		}
		var before, after map[string]any
		if json.Unmarshal([]byte(text), &before) != nil {
			return // a number that no program can keep
		}
		if err := json.Unmarshal([]byte(left), &after); err != nil {
			t.Fatalf("%s is left: %v", left, err)
		}
		if hooks, ok := before["hooks"].(map[string]any); ok { // what is empty goes with what was put into it
			if stop, ok := hooks["Stop"].([]any); ok && len(stop) == 0 {
				delete(hooks, "Stop")
			}
			if len(hooks) == 0 {
				delete(before, "hooks")
			}
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%s\nbecame %s", text, left)
		}
	})
}

func TestTheHooksOfSessionsLeaveTheSettingsAsTheyWere(t *testing.T) {
	for _, text := range append(settings, `{"hooks":{"PermissionRequest":[{"matcher":"Bash","hooks":[{"type":"command",`+
		`"command":"mine","timeout":3}]}]}}`, "") {
		with, standing := put(t, Sessions(true), text)
		if standing != Absent || !json.Valid([]byte(with)) || strings.Count(with, `"claude-supervise hook"`) != 3 ||
			strings.Count(with, "86400") != 2 || stops(t, with) != stops(t, cmp.Or(text, "{}")) {
			t.Errorf("put into %s (%d) gives %s", text, standing, with)
		}
		if again, standing := put(t, Sessions(true), with); again != with || standing != Current {
			t.Errorf("put a second time into %s it changes", text)
		}
		if old, _ := put(t, Sessions(false), text); strings.Contains(old, "Elicitation") {
			t.Errorf("a release that does not know it would take nothing of %s", old)
		}
		if old, standing := put(t, Sessions(false), with); strings.Contains(old, "Elicitation") || standing != Absent ||
			strings.Count(old, `"claude-supervise hook"`) != 2 {
			t.Errorf("for an older release becomes of %s (%d) %s", with, standing, old)
		}
		both, _ := put(t, Hook, with)
		if one, _ := take(t, Sessions(true), both); stops(t, one) != stops(t, cmp.Or(text, "{}"))+1 {
			t.Errorf("with the sessions' goes the Stop hook of %s", both)
		}
		left, standing := take(t, Sessions(true), with)
		if want := squeezed(text); standing != Current || squeezed(left) != want && (left != "" || want != "{}") {
			t.Errorf("of %s is left %s (%d)", text, left, standing)
		}
	}
}
