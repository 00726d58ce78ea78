package supervisor

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
)

const childID = "a-child0000000"

// withChildren tells the story of a run that is nothing but children, up to the moment at which they may start.
func withChildren(t *testing.T, cfg Config, work ...Work) *story {
	t.Helper()
	s := &story{t: t, at: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg.Hold, cfg.Relaunch = DefaultHold, Resume
	var children []Child
	for i, w := range work {
		children = append(children, Child{Agent: childID[:len(childID)-1] + string(rune('0'+i)), Work: w})
	}
	s.do(Created{Run: runID, Cwd: "/work", Agent: root, Task: "all of it", Config: cfg, Group: true, Children: children})
	s.do(Opened{PID: 1, Bell: "/tmp/bell", Policy: Ask})
	t.Cleanup(s.folds)
	return s
}

func wanted() *checkpoints.Worktree {
	return &checkpoints.Worktree{
		State: checkpoints.WorktreeMade, Branch: "claude-supervise/" + runID + "/" + childID, From: "/work",
		Path: "/.work-worktrees/" + childID, Repo: "/work", Base: "c0ffee",
	}
}

// stopped plays a person's stop of the child, up to the end of its process.
func (s *story) stopped(launch int) {
	s.t.Helper()
	s.do(Started{Agent: childID, Launch: launch, PID: 7, StartTicks: 7})
	s.do(TurnBegun{Agent: childID, Launch: launch})
	s.notes(Note{Kind: noteStop, Agent: childID})
	s.do(Ended{Agent: childID, Launch: launch, Outcome: "exit 143"})
	for _, e := range Plan(s.state) {
		switch e.Do {
		case DoConfirm:
			s.do(Confirmed{UUID: e.Delivery})
		case DoSurvey:
			s.do(Surveyed{Agent: childID, Launch: launch})
		}
	}
}

func (s *story) child() *Agent { return s.state.Agents[childID] }

func TestAChildWithoutNeedOfAFolderStartsAtOnce(t *testing.T) {
	s := withChildren(t, Config{}, Work{Task: "Collect", Said: checkpoints.Delegated{Context: "the figures and/or Node.js"}})
	s.plansNot("place")
	s.plans("launch " + childID)
	if s.child().Worktree != nil {
		t.Errorf("it has a worktree %+v", s.child().Worktree)
	}
}

func TestFilesThatAChildIsToKnowAreLookedForBeforeItStarts(t *testing.T) {
	s := withChildren(t, Config{}, Work{Task: "Collect", Said: checkpoints.Delegated{Context: "see AUTH.md and docs/PLAN.md"}})
	s.plans("place " + childID)
	s.plansNot("launch")
	before := s.state
	b := Placed{Agent: childID, Gone: []string{"AUTH.md"}}
	s.do(b)
	s.plans("launch " + childID)
	if told := placedNotices(before, b); len(told) != 1 || !strings.Contains(told[0], "AUTH.md") {
		t.Errorf("the person is told %q", told)
	}
	if prompt := s.state.opening(s.child()); !strings.Contains(prompt, "## YOUR FOLDER\n\nYour context names a file that is NOT there: AUTH.md\n") {
		t.Errorf("it reads:\n%s", prompt)
	}
	if s.try(b) {
		t.Error("its folder is made ready twice")
	}
}

func TestAChildInAWorktreeOfItsOwnEndsOnceThatIsLookedThrough(t *testing.T) {
	s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"})
	s.plans("place " + childID)
	w := wanted()
	w.Lacks = []string{"2 changes that are not committed in /work"}
	s.do(Placed{Agent: childID, Cwd: w.Path, Worktree: w, Beyond: []string{"/work/PLAN.md"}})
	if got := s.state.folder(childID); got != w.Path {
		t.Errorf("it works in %s", got)
	}
	prompt := s.state.opening(s.child())
	for _, want := range []string{w.Path, w.Branch, "Not in it: 2 changes", "not in your worktree, but here: /work/PLAN.md"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is missing in\n%s", want, prompt)
		}
	}
	s.plans("launch " + childID + " 1")
	s.stopped(1)
	s.plans("tidy " + childID)
	if s.child().Status.Ended() || s.state.Agents[root].Status.Ended() {
		t.Fatalf("it is %s before its worktree is looked through", s.child().Status)
	}
	s.notes(Note{Kind: noteMessage, Agent: childID, Value: "go on", By: "a test"})
	s.plansNot("launch")
	kept := *w
	kept.State, kept.Tip, kept.Commits, kept.Loose, kept.Lacks = checkpoints.WorktreeKept, w.Branch, 2, 1, nil
	s.do(Tidied{Agent: childID, Worktree: kept})
	if s.child().Status != checkpoints.Stopped {
		t.Fatalf("it is %s (%s)", s.child().Status, s.child().Reason)
	}
	end := s.state.childEnded(s.child())
	for _, want := range []string{"2 commits, 1 change not committed", "git merge " + w.Branch, "git -C /work worktree remove --force " + w.Path} {
		if !strings.Contains(end, want) {
			t.Errorf("%q is missing in\n%s", want, end)
		}
	}
}

func TestAWorktreeThatIsGoneIsMadeAgainForAnAgentThatGoesOn(t *testing.T) {
	for _, state := range []checkpoints.WorktreeState{checkpoints.WorktreeKept, checkpoints.WorktreeRemoved} {
		t.Run(string(state), func(t *testing.T) {
			s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"})
			s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
			s.stopped(1)
			w := *wanted()
			w.State = state
			s.do(Tidied{Agent: childID, Worktree: w})
			s.do(Opened{PID: 2, Policy: Ask, Revive: true})
			s.plans("place " + childID)
			s.plansNot("launch")
			s.do(Placed{Agent: childID, Cwd: w.Path, Worktree: wanted()})
			s.plans("launch " + childID + " 2")
		})
	}
}

func TestWhoContinuesAnAgentGoesOnInItsWorktree(t *testing.T) {
	s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"}, Work{Task: "Wait"})
	s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	s.stopped(1)
	kept := *wanted()
	kept.State, kept.Commits = checkpoints.WorktreeKept, 1
	s.do(Tidied{Agent: childID, Worktree: kept})
	const heir = "a-heir00000000"
	d := newDraft(s.state)
	d.spawn(Child{Agent: heir, Parent: root, Work: Work{Task: "Collect more", Resume: childID}}, s.at)
	if !d.places(d.agent(heir), s.at) {
		t.Fatal("its folder is not made ready")
	}
	if diff := cmp.Diff(kept, *d.Agents[heir].Worktree); diff != "" {
		t.Errorf("what is made ready is %s", diff)
	}
	if err := d.placed(Placed{Agent: heir, Cwd: wanted().Path, Worktree: wanted()}); err != nil {
		t.Fatal(err)
	}
	if got := d.Agents[childID].Worktree.State; got != checkpoints.WorktreeHanded {
		t.Errorf("the worktree of the first is %s", got)
	}
	if merge, drop := d.Agents[childID].Worktree.Commands(""); merge != nil || drop != nil {
		t.Errorf("the commands of the first are %q, %q", merge, drop)
	}
}

func TestATroubleOfAllWorktreesIsToldOnce(t *testing.T) {
	s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"}, Work{Task: "Sort"})
	none := func(i int) Placed {
		return Placed{Agent: childID[:len(childID)-1] + string(rune('0'+i)), Worktree: &checkpoints.Worktree{State: checkpoints.WorktreeNone, Problem: "/work is in no git work tree"}}
	}
	if told := placedNotices(s.state, none(0)); len(told) != 1 || !strings.Contains(told[0], "works in its parent's folder: /work is in no git work tree") {
		t.Errorf("told %q", told)
	}
	s.do(none(0))
	if told := placedNotices(s.state, none(1)); told != nil {
		t.Errorf("told again %q", told)
	}
	if got := s.state.folder(childID); got != "/work" {
		t.Errorf("it works in %s", got)
	}
	s.plans("launch " + childID)
}

func TestAFolderThatIsMadeReadyHoldsASlot(t *testing.T) {
	s := withChildren(t, Config{Worktree: true, MaxParallel: 1}, Work{Task: "Collect"}, Work{Task: "Sort"})
	if got := s.keys(); !cmp.Equal(got, []string{"place " + childID}) {
		t.Fatalf("the plan is %q", got)
	}
	s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	if got := s.keys(); !slices.Equal(got, []string{"launch " + childID + " 1"}) {
		t.Fatalf("the plan is %q", got)
	}
}

func TestTheFindingsOfSeveralAgentsAreMergedBeforeTheirSupervisorLeaves(t *testing.T) {
	s := withChildren(t, Config{}, Work{Task: "Collect"})
	s.stopped(1)
	s.plans("merge 1")
	s.plansNot("leave")
	s.do(Merged{Problem: "no space left on device", Again: true})
	if told, trouble := mergedNotices(&Run{}, s.state.Run); len(told) != 1 || !trouble || !strings.Contains(told[0], "it is tried again") {
		t.Errorf("told %q", told)
	}
	for range maxMerges - 2 {
		s.plans("merge")
		before := s.state.Run
		s.do(Merged{Problem: "no space left on device", Again: true})
		if told, _ := mergedNotices(before, s.state.Run); told != nil {
			t.Errorf("told again %q", told)
		}
	}
	s.plans("merge 5")
	before := s.state.Run
	s.do(Merged{
		Problem: "no space left on device", Again: true,
		Files: []checkpoints.MergedFile{{Name: "f.jsonl", Merged: "/shared/f.merged.json", Lines: 1, Broken: 2, Aside: "/shared/f.broken"}},
	})
	told, _ := mergedNotices(before, s.state.Run)
	if want := []string{
		"shared findings are not merged: no space left on device. Nothing is lost: they stay in their .jsonl files",
		"f.jsonl: 1 finding merged into /shared/f.merged.json; 2 broken lines kept aside in /shared/f.broken",
	}; !cmp.Equal(want, told) {
		t.Errorf("told %q", told)
	}
	s.plans("leave")
	if s.try(Merged{}) {
		t.Error("merged again")
	}
}

func TestTheFilesOfAContextAreThoseThatAreNoWords(t *testing.T) {
	for text, want := range map[string][]string{
		"- Current analysis (see AUTH_ANALYSIS.md)\n- Do NOT modify files in src/auth/ (this agent goes on)": {"AUTH_ANALYSIS.md", "src/auth/"},
		"`src/db.go:42`, package.json; ../up/x.yaml .github/workflows/ci.yml":                                {"src/db.go", "package.json", "../up/x.yaml", ".github/workflows/ci.yml"},
		"Use Node.js and/or OAuth2/JWT, e.g. example.com/docs/a.html or https://go.dev/x.md, 3/4 of v1.2":    nil,
		"": nil,
	} {
		if diff := cmp.Diff(want, contextFiles(text), cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// A pack file may come from anywhere: it names no folder in which an agent works here, or which is removed.
func TestAPackFileBringsNoFoldersOfItsAgents(t *testing.T) {
	for name, b := range map[string]Unpacked{
		"on another machine": {From: "/work", Cwd: "/there", Work: true},
		"on the same":        {From: "/work", Cwd: "/work", Same: true, Work: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"}, Work{Task: "Sort", Cwd: "/work/sub"})
			s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
			s.do(Started{Agent: childID, Launch: 1, PID: 7, StartTicks: 7})
			s.do(TurnBegun{Agent: childID, Launch: 1})
			b.Config = s.state.Config
			s.do(b)
			if a := s.child(); a.Placed || a.Worktree != nil || s.state.folder(childID) != b.Cwd {
				t.Errorf("it is to work in %s, worktree %+v", s.state.folder(childID), a.Worktree)
			}
			if got, want := s.state.folder(childID[:len(childID)-1]+"1"), b.Cwd+"/sub"; got != want {
				t.Errorf("what was in the run's folder is in %s, not %s", got, want)
			}
			if last := s.child().Sayings; len(last) == 0 || !strings.Contains(last[len(last)-1].Text, "Old folder: "+wanted().Path+", which was yours alone") {
				t.Errorf("it is told %v", last)
			}
		})
	}
	s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"})
	s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	s.do(Unpacked{From: "/work", Cwd: "/work", Same: true, Work: true, Config: s.state.Config, Back: true})
	if got := s.state.folder(childID); got != wanted().Path {
		t.Errorf("taken back it is to work in %s", got)
	}
}

// A rule about a file means the one in the folder of the agent that asked for it.
func TestARuleOfOneWorktreeIsNoneOfAnother(t *testing.T) {
	s := withChildren(t, Config{Worktree: true}, Work{Task: "Collect"}, Work{Task: "Sort"})
	s.do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	at := s.at
	s.state.Questions["q-rule"] = &Question{
		ID: "q-rule", Agent: childID, Kind: checkpoints.AskPermission, State: checkpoints.QuestionDelivered,
		Answer: "allow-run Edit(/src/**)", Rule: "Edit(/src/a.go)", AnsweredAt: &at,
	}
	state := s.state
	state.index = nil
	for agent, want := range map[string]string{childID: "Edit(/src/**)", root: ""} {
		if got := state.permitted("Edit(/src/b.go)", agent); got != want {
			t.Errorf("for %s it is permitted by %q, not %q", agent, got, want)
		}
	}
	if got := state.permitted("Edit(/"+wanted().Path+"/src/b.go)", root); got != "Edit(/src/**)" {
		t.Errorf("by its whole path it is permitted by %q", got)
	}
	delete(s.state.Questions, "q-rule")
}

// A person takes over what was left, and removes the worktree: show has no commands any more that would fail.
func TestAWorktreeThatAPersonHasRemovedIsShownAsGone(t *testing.T) {
	kept := checkpoints.Worktree{State: checkpoints.WorktreeKept, Branch: "b", Tip: "b", Path: t.TempDir(), Repo: "/project", Loose: 2, Commits: 1}
	view := func() WorktreeView {
		agents := []Agent{{ID: root}, {ID: childID, Parent: root, Worktree: &kept}}
		return worktreeViews(Run{Cwd: "/project"}, agents)[childID]
	}
	if v := view(); v.Path != kept.Path || len(v.Merge) != 3 || len(v.Drop) != 2 {
		t.Errorf("while it is there it is shown as %+v", v)
	}
	if err := os.Remove(kept.Path); err != nil {
		t.Fatal(err)
	}
	want := WorktreeView{
		State: checkpoints.WorktreeKept, Branch: "b", Left: "1 commit, its folder has been removed since",
		Merge: []string{"git -C /project merge b"}, Drop: []string{"git -C /project branch -D b"},
	}
	if diff := cmp.Diff(want, view()); diff != "" {
		t.Error(diff)
	}
}
