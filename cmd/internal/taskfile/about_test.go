package taskfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/supervisor/conf"
)

// aboutOf returns the file of one task of a pool, written and read again.
func aboutOf(t *testing.T, text, item string, place int) File {
	t.Helper()
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	one, err := f.About(item, place)
	if err != nil {
		t.Fatal(err)
	}
	written, err := one.Write()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(written)
	if err != nil || !cmp.Equal(one, again) {
		t.Fatalf("%s: %v\n%s", written, err, cmp.Diff(one, again))
	}
	return again
}

func TestATaskOfAPoolIsAFileOfItsOwn(t *testing.T) {
	one := aboutOf(t, "each: {lines: repos}\ncontext: All are ours.\nmax_cost_usd: 5\nmax_time: 1h\nhold: 10m\n"+
		"child: {name: \"{index}-{item}\", prompt: \"Upgrade {item}\", context: Be brief., max_cost_usd: 2,\n"+
		"  priority: P0, deliverables: [\"{item}.md\"]}", "a: {index} # b", 7)
	if one.Prompt != "Upgrade a: {index} # b" || one.Name != "7-a: {index} # b" || one.Each != nil || one.Template != nil ||
		one.Brief.Context != "All are ours.\n\nBe brief." || one.Hold != "10m" ||
		!slices.Equal(one.Brief.Deliverables, []string{"a: {index} # b.md"}) {
		t.Errorf("it is %+v", one)
	}
	if want := (conf.Budget{CostUSD: 2, Time: one.Budget.Time}); one.Budget != want || one.Budget.Time.Hours() != 1 {
		t.Errorf("it may use %+v", one.Budget)
	}
	plain := aboutOf(t, "each: {files: \"*.md\"}\nprompt: Read {item}\ngoals: [\"{item} is read\"]", "x\ny", 1)
	if plain.Prompt != "Read x\ny" || plain.Name != "x y" || plain.Brief.Goals[0] != "x\ny is read" {
		t.Errorf("without child it is %+v", plain)
	}
}

func TestWhatNoRunOfItsOwnCanBeIsSaid(t *testing.T) {
	for text, says := range map[string]string{
		"each: {lines: a}\nprompt: Sum up\nchild: {prompt: \"Read {item}\"}": "a prompt beside child",
		"each: {lines: a}\nchild: {prompt: \"{item}\", subagent_type: x}":    "a subagent_type",
	} {
		f, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.About("x", 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
