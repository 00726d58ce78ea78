package questions

import (
	"testing"
)

// What lets something happen is never answered by what was written down before, nor by a file that anybody may leave.
func TestNoKindThatLetsSomethingHappenIsAnsweredInAdvance(t *testing.T) {
	for name, k := range kinds {
		if k.Lets && (k.Writable || k.Posted || k.Tells) {
			t.Errorf("%s lets something happen, and is answered in advance or by a file", name)
		}
		if k.Lets && (k.grants == nil || k.advance == nil) {
			t.Errorf("%s lets something happen, and a pack file and a preset let it too", name)
		}
		if (k.Decides || k.Plans) != (k.check != nil) {
			t.Errorf("%s takes our words, which nothing checks", name)
		}
	}
	if k := kinds[AskElicitation]; k.Writable || k.Posted || k.Sharable {
		t.Error("a server is answered by something else than a person")
	}
}
