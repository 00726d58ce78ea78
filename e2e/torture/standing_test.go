package torture

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The checks are only as good as what the ledger concludes.
func TestTheLedgerKnowsWhichAnswersCanStand(t *testing.T) {
	try := func(token string, change bool, began, ended int, is outcome) attempt {
		return attempt{
			token: token, change: change, began: time.Unix(int64(began), 0), ended: time.Unix(int64(ended), 0), outcome: is,
		}
	}
	for _, c := range []struct {
		name    string
		tries   []attempt
		want    []string
		certain bool
	}{
		{"nobody answered", nil, nil, false},
		{"the only one that was acknowledged",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", false, 0, 3, refusedIt)}, []string{"a"}, true},
		{"each that was killed, if none was acknowledged",
			[]attempt{try("a", false, 0, 2, unknown), try("b", false, 1, 3, unknown)}, []string{"a", "b"}, false},
		{"none that was killed, if another was acknowledged",
			[]attempt{try("a", false, 0, 2, unknown), try("b", false, 1, 3, acknowledged)}, []string{"b"}, true},
		{"the change, not what it changed",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 4, acknowledged)}, []string{"b"}, true},
		{"the later of two changes",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 4, acknowledged),
				try("c", true, 5, 6, acknowledged)}, []string{"c"}, true},
		{"either of two changes at once",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 5, acknowledged),
				try("c", true, 4, 6, acknowledged)}, []string{"b", "c"}, true},
		{"a change that was killed may have been kept",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 4, unknown)}, []string{"a", "b"}, true},
		{"a change that was refused was not", []attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 4, refusedIt)},
			[]string{"a"}, true},
		{"a killed change before an acknowledged one does not stand",
			[]attempt{try("a", false, 0, 2, acknowledged), try("b", true, 3, 4, unknown), try("c", true, 5, 6, acknowledged)},
			[]string{"c"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, certain := standing(c.tries)
			if diff := cmp.Diff(c.want, got); diff != "" || certain != c.certain {
				t.Errorf("certain: %v (-want +got)\n%s", certain, diff)
			}
		})
	}
}
