package view

import (
	"strings"
	"testing"
)

func TestOfMuchThatAnAssumptionAffectsTheFirstIsNamed(t *testing.T) {
	said := AssumedInWords(QuestionView{Assumption: "JWT", Affects: []string{"a", "b", "c", "d", "e"}})
	if !strings.HasSuffix(said, "assumes: JWT\nIts work under this is in a, b, c, and 2 more.") {
		t.Errorf("it says %q", said)
	}
}
