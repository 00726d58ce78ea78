package questions

import "testing"

func TestAnOwnAnswerNearAnOptionSaysSo(t *testing.T) {
	terms := Terms{Options: []Option{{Label: "jwt"}, {Label: "Session cookie"}, {Label: "go"}}}
	const first = `taken as your own words; option 1 is "jwt"`
	const second = `taken as your own words; option 2 is "Session cookie"`
	for said, want := range map[string]string{
		"jwtt": first, "JXT": first, "jw t": first, "sesion cookies": second,
		"jwt": "", "JW": "", "1": "", "jxxt": "", "jwt with a cookie": "", "goo": "", "none of them": "", "": "",
	} {
		if got := terms.Beside(said); got != want {
			t.Errorf("of %q it is said: %q, want %q", said, got, want)
		}
	}
	answer, err := terms.Choose("jwtt", Place{})
	if err != nil || answer != "jwtt" {
		t.Errorf("it is taken for %q, %v", answer, err)
	}
	terms.Kind, terms.Options = "stop", []Option{{Label: "Use the vendored parser"}}
	if got := terms.Beside("Use the vendored parser: x"); got != "" {
		t.Errorf("of an option with words beside it, it is said: %s", got)
	}
}
