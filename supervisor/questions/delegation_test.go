package questions

import (
	"strings"
	"testing"

	"claude-supervise/checkpoints"
)

func TestADelegationIsApprovedOrDeniedForAReason(t *testing.T) {
	for answer, refused := range map[string]string{
		"approve":                               "",
		"approve Port only the parser":          "",
		"deny too early":                        "",
		"deny too early instead: list it":       "",
		"deny":                                  "say why",
		"deny instead: list it":                 "say why",
		"approved":                              `type "approve"`,
		"yes":                                   `type "approve"`,
		"denying it would be a shame":           `type "approve"`,
		"":                                      `type "approve"`,
		"Approve":                               `type "approve"`,
		"deny because of two\nlines, and more ": "",
	} {
		err := Check(&Question{Kind: AskDelegation}, answer, "/work")
		if (err == nil) != (refused == "") || err != nil && !strings.HasPrefix(err.Error(), refused) {
			t.Errorf("%q is refused: %v, want %q", answer, err, refused)
		}
	}
}

func FuzzADenialSaysWhyAndWhatElse(f *testing.F) {
	f.Add("too early", "list it")
	f.Add("", "")
	f.Add("two\nlines", " with space ")
	f.Add("deny deny", "")
	f.Fuzz(func(t *testing.T, why, alternative string) {
		if strings.Contains(why+alternative, Instead) || strings.HasSuffix(strings.TrimSpace(why), "instead") {
			return // no such reason can be told apart
		}
		q := &Question{Kind: AskDelegation,
			Response: checkpoints.Response{Answer: Denial(why, alternative)}}
		gotWhy, gotAlternative := Denied(q)
		if want := strings.TrimSpace(why); gotWhy != want && !strings.HasPrefix(want, Deny) {
			t.Errorf("why is %q, want %q", gotWhy, want)
		}
		if want := strings.TrimSpace(alternative); gotAlternative != want {
			t.Errorf("instead is %q, want %q", gotAlternative, want)
		}
		if _, ok := Approved(q); ok {
			t.Error("a denial approves")
		}
	})
}
