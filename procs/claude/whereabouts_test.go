package claude

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestNoValueOfAKeyOrATokenIsRemembered(t *testing.T) {
	const secret = "s3cret"
	var env []string
	for _, w := range whereabouts {
		name := strings.Replace(w.name, "*", "X", 1)
		value := "plain"
		switch w.how {
		case byName:
			value = secret
		case byAddress:
			value = "https://me:" + secret + "@proxy:1"
		}
		env = append(env, name+"="+value)
	}
	env = append(env, "ALL_PROXY=http://h/?token="+secret, "all_proxy="+secret+":"+secret+"@h:1", "OTHER="+secret, "HOME=/h")
	w := WhereaboutsIn(env)
	data, err := json.Marshal(w)
	if err != nil || strings.Contains(string(data), secret) {
		t.Fatalf("%v: %s", err, data)
	}
	for _, known := range whereabouts {
		name := strings.Replace(known.name, "*", "X", 1)
		if named := strings.Contains(string(data), `"`+name+`"`); !named {
			t.Errorf("nothing is known of %s", name)
		}
	}
	if w.Values["HOME"] != "/h" || w.Values["CLAUDE_CODE_USE_X"] != "plain" {
		t.Errorf("%v", w.Values)
	}
	if got := WhereaboutsIn([]string{"HTTPS_PROXY=proxy.corp:3128", "ANTHROPIC_BASE_URL=https://gw.corp/v1"}); len(got.Named) > 0 {
		t.Errorf("of plain addresses %v are kept by name alone", got.Named)
	}
}

func TestARunGoesOnWithTheVariablesThatItWasStartedWith(t *testing.T) {
	for _, c := range []struct{ began, now, set, missing string }{
		{"HOME=/h CLAUDE_CONFIG_DIR=/c", "HOME=/h", "[{CLAUDE_CONFIG_DIR /c}]", "[]"},
		{"HOME=/h CLAUDE_CONFIG_DIR=/c", "HOME=/h CLAUDE_CONFIG_DIR=/d", "[{CLAUDE_CONFIG_DIR /c}]", "[]"},
		{"HOME=/h", "HOME=/root CLAUDE_CONFIG_DIR=/d", "[{CLAUDE_CONFIG_DIR } {HOME /h}]", "[]"},
		{"AWS_PROFILE=a AWS_SECRET_ACCESS_KEY=x", "AWS_PROFILE=b", "[]", "[AWS_SECRET_ACCESS_KEY]"},
		{"CLAUDE_CODE_USE_BEDROCK=1 AWS_PROFILE=a", "", "[{AWS_PROFILE a} {CLAUDE_CODE_USE_BEDROCK 1}]", "[]"},
		{"HTTPS_PROXY=http://u:p@h", "HTTPS_PROXY=http://u:q@h", "[]", "[]"},
		{"HTTPS_PROXY=http://u:p@h", "", "[]", "[HTTPS_PROXY]"},
		{"", "ANTHROPIC_API_KEY=x AWS_PROFILE=c", "[]", "[]"},
	} {
		set, missing := WhereaboutsIn(strings.Fields(c.began)).Changes(strings.Fields(c.now))
		if fmt.Sprint(set) != c.set || fmt.Sprint(missing) != c.missing {
			t.Errorf("begun with %q, now %q: set %v, missing %v", c.began, c.now, set, missing)
		}
	}
	var old *Whereabouts
	if set, missing := old.Changes([]string{"CLAUDE_CONFIG_DIR=/d"}); set != nil || missing != nil {
		t.Error("a run of an older release is changed")
	}
	again := WhereaboutsIn([]string{"HOME=/h"}).With(WhereaboutsIn([]string{"ANTHROPIC_API_KEY=x"}))
	if _, missing := again.Changes(nil); fmt.Sprint(missing) != "[ANTHROPIC_API_KEY]" {
		t.Errorf("after a resume without it, %v is missing", missing)
	}
}
