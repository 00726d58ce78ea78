package supervisor

import (
	"fmt"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/label"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

func TestLikeChildrenAreNamedByWhereTheirTasksDiffer(t *testing.T) {
	for name, test := range map[string]struct{ tasks, want []string }{
		"one alone": {
			[]string{"Review the module auth of the service"},
			[]string{"a-0000 Review the module auth o…"}},
		"like ones": {
			[]string{"Review the tests of module auth of this service", "Review the tests of module billing of it", "Test"},
			[]string{"a-0000 Review …auth of this service", "a-0001 Review …billing of it", "a-0002 Test"}},
		"by what is seen of them anyway": {
			[]string{"Review the module auth of it all", "Review the module billing of it"},
			[]string{"a-0000 Review the module auth o…", "a-0001 Review the module billin…"}},
		"one ends where the other goes on": {
			[]string{"Review the module auth of it", "Review the module auth of it all"},
			[]string{"a-0000 Review the module auth o…", "a-0001 Review …all"}},
		"the same": {
			[]string{"Review the module auth of the service", "Review the module auth of the service"},
			[]string{"a-0000 Review the module auth o…", "a-0001 Review the module auth o…"}},
		"in a later line": {
			[]string{"Look for what this would break:\n- auth", "Look for what this would break:\n- billing"},
			[]string{"a-0000 Look …auth", "a-0001 Look …billing"}},
		"in the first line of several": {
			[]string{"Review the security of src/auth.\nGoal: a report", "Review the security of src/web.\nGoal: a report"},
			[]string{"a-0000 Review …src/auth.", "a-0001 Review …src/web."}},
		"by half a word": {
			[]string{"Translate the page on pelicans", "Translate the page on penguins"},
			[]string{"a-0000 Translate …pelicans", "a-0001 Translate …penguins"}},
		"no word in common": {
			[]string{"/srv/www/a/long/path/to/one.html", "/srv/www/a/long/path/to/two.html"},
			[]string{"a-0000 /srv/www/a/long/path/to/…", "a-0001 /srv/www/a/long/path/to/…"}},
		"a short task of lines": {[]string{"Add it\nGoal: it is there"}, []string{"a-0000 Add it"}},
	} {
		s := State{Records: records.Records{Agents: table.Of(map[string]*Agent{"a-root": {ID: "a-root"},
			"a-named": {ID: "a-named", Task: test.tasks[0],
				Delegated: &checkpoints.Delegated{Name: "docs"}}})}}
		all := []Agent{*s.Agents.Get("a-root"), *s.Agents.Get("a-named")}
		for i, task := range test.tasks {
			a := Agent{ID: fmt.Sprintf("a-%04d", i), Task: task, Delegated: &checkpoints.Delegated{}}
			s.Agents.Put(a.ID, &a)
			all = append(all, a)
		}
		labels := label.Of(all)
		for i, want := range append([]string{"root", "docs"}, test.want...) {
			a := &all[i]
			if by, alone, state := labels.Who(a), s.Who(a.ID), s.Labels().Who(a); by != want || alone != want || state != want {
				t.Errorf("%s: it is %q, %q in a state and %q by its labels, want %q", name, by, alone, state, want)
			}
		}
	}
	if got := (State{Records: records.Records{Agents: table.Of(map[string]*Agent{"a-root": {ID: "a-root"}})}}).Who("a-root"); got != "" {
		t.Errorf("the only agent is called %q", got)
	}
}
