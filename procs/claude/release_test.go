package claude

import (
	"strings"
	"testing"
)

func TestAReleaseIsTakenForTheNewestMeasuredThatIsNotNewer(t *testing.T) {
	for _, c := range []struct {
		version, like   string
		measured, newer bool
	}{
		{"2.1.7", "2.1.7", true, false},
		{"2.1.200", "2.1.200", true, false},
		{"2.1.329", "2.1.329", true, false},
		{"2.1.330", "2.1.330", true, false},
		{"2.1.331", "2.1.331", true, false},
		{"2.1.332", "2.1.332", true, false},
		{"2.1.8", "2.1.7", false, false},
		{"2.1.99", "2.1.7", false, false},
		{"2.1.201", "2.1.200", false, false},
		{"2.1.1000", "2.1.332", false, true},
		{"2.2.0", "2.1.332", false, true},
		{"10.0.0", "2.1.332", false, true},
		{"2.0.300", "2.1.7", false, false},
		{"1.0.0", "2.1.7", false, false},
		{"", "2.1.7", false, false},
		{"nonsense", "2.1.7", false, false},
	} {
		want := ReleaseOf(c.like)
		want.Version, want.Measured = c.version, c.measured
		if got := ReleaseOf(c.version); got != want || got.NewerThanMeasured() != c.newer {
			t.Errorf("%q: %+v, newer %v", c.version, got, got.NewerThanMeasured())
		}
	}
}

func TestAReleaseSaysHowFarItIsFromTheNewestThatWasMeasured(t *testing.T) {
	newest := NewestMeasured()
	for v, want := range map[string]string{
		newest: newest, "2.1.7": "325 before 2.1.332", "2.1.329": "3 before 2.1.332", "2.1.340": "8 after 2.1.332",
		"2.2.0": "after 2.1.332", "2.0.90": "before 2.1.332", "": "before 2.1.332", "3": "after 2.1.332",
	} {
		if got := ReleaseOf(v).FromNewest(); got != want {
			t.Errorf("%q is %q from the newest, not %q", v, got, want)
		}
	}
}

func TestEachChannelSaysInALineWhatItMeans(t *testing.T) {
	oldest, newest := measured[0].Channels(), measured[len(measured)-1].Channels()
	for i, c := range newest {
		if !c.Has || c.Name != oldest[i].Name {
			t.Errorf("%+v, %+v", c, oldest[i])
		}
		for _, how := range []string{c.How, oldest[i].How} {
			if how == "" || len(how) > 56 || strings.ContainsAny(how, "\n\t") { // beside the name, on 80 columns
				t.Errorf("%s: %q", c.Name, how)
			}
		}
		if (c.How == oldest[i].How) != oldest[i].Has {
			t.Errorf("%s says the same whether or not it is there", c.Name)
		}
	}
}
