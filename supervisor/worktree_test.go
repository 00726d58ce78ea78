package supervisor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/task"
)

const childID = "a-child0000000"

// withChildren tells the story of a run that is nothing but children, up to the moment at which they may start.
func withChildren(t *testing.T, cfg conf.Config, work ...task.Work) *Story {
	t.Helper()
	s := &Story{T: t, At: time.Date(2026, 1, 11, 9, 0, 0, 0, time.UTC)}
	cfg.Hold, cfg.Relaunch = conf.DefaultHold, conf.Resume
	var children []task.Child
	for i, w := range work {
		children = append(children, task.Child{Agent: childID[:len(childID)-1] + string(rune('0'+i)), Work: w})
	}
	s.Do(Created{Run: RunID, Cwd: "/work", Agent: Root, Task: "all of it", Config: cfg, Group: true,
		Children: children})
	s.Do(Opened{PID: 1, Waker: "/tmp/wake-up", Policy: conf.Ask})
	t.Cleanup(s.folds)
	return s
}

func wanted() *checkpoints.Worktree {
	return &checkpoints.Worktree{
		State: checkpoints.WorktreeMade, Branch: "claude-supervise/" + RunID + "/" + childID, From: "/work",
		Path: "/.work-worktrees/" + childID, Repo: "/work", Base: "c0ffee",
	}
}

// stopped plays a person's stop of the child, up to the end of its process.
func (s *Story) stopped(launch int) {
	s.T.Helper()
	s.Do(Started{Agent: childID, Launch: launch, PID: 7, StartTicks: 7})
	s.Do(TurnBegun{Agent: childID, Launch: launch})
	s.Notes(InboxEntry{Kind: EntryStop, Agent: childID})
	s.Do(Ended{Agent: childID, Launch: launch, Outcome: "exit 143"})
	for _, e := range Plan(s.State) {
		switch e.Do {
		case effect.Confirm:
			s.Do(Confirmed{UUID: e.Delivery})
		case effect.Survey:
			s.Do(Surveyed{Agent: childID, Launch: launch})
		}
	}
}

func (s *Story) child() *Agent { return s.State.Agents.Get(childID) }

func TestAChildWithoutNeedOfAFolderStartsAtOnce(t *testing.T) {
	s := withChildren(t, conf.Config{},
		task.Work{Task: "Collect", Said: checkpoints.Delegated{Context: "the figures and/or Node.js"}})
	s.plansNot("place")
	s.plans("launch " + childID)
	if s.child().Worktree != nil {
		t.Errorf("it has a worktree %+v", s.child().Worktree)
	}
}

func TestFilesThatAChildIsToKnowAreLookedForBeforeItStarts(t *testing.T) {
	s := withChildren(t, conf.Config{},
		task.Work{Task: "Collect", Said: checkpoints.Delegated{Context: "see AUTH.md and docs/PLAN.md"}})
	s.plans("place " + childID)
	s.plansNot("launch")
	before := s.State
	b := Placed{Agent: childID, Gone: []string{"AUTH.md"}}
	s.Do(b)
	s.plans("launch " + childID)
	if told := placedNotices(before, b); len(told) != 1 || !strings.Contains(told[0], "AUTH.md") {
		t.Errorf("the person is told %q", told)
	}
	if prompt := s.State.opening(s.child()); !strings.Contains(prompt,
		"## YOUR FOLDER\n\nYour context names a file that is NOT there: AUTH.md\n") {
		t.Errorf("it reads:\n%s", prompt)
	}
	if s.try(b) {
		t.Error("its folder is made ready twice")
	}
}

func TestAChildInAWorktreeOfItsOwnEndsOnceThatIsLookedThrough(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"})
	s.plans("place " + childID)
	w := wanted()
	w.Lacks = []string{"2 changes that are not committed in /work"}
	s.Do(Placed{Agent: childID, Cwd: w.Path, Worktree: w, Beyond: []string{"/work/PLAN.md"}})
	if got := s.State.Folder(childID); got != w.Path {
		t.Errorf("it works in %s", got)
	}
	prompt := s.State.opening(s.child())
	for _, want := range []string{w.Path, w.Branch, "Not in it: 2 changes",
		"not in your worktree, but here: /work/PLAN.md"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is missing in\n%s", want, prompt)
		}
	}
	s.plans("launch " + childID + " 1")
	s.stopped(1)
	s.plans("tidy " + childID)
	if s.child().Status.Ended() || s.State.Agents.Get(Root).Status.Ended() {
		t.Fatalf("it is %s before its worktree is looked through", s.child().Status)
	}
	s.Notes(InboxEntry{Kind: EntryMessage, Agent: childID, Value: "go on", By: "a test"})
	s.plansNot("launch")
	kept := *w
	kept.State, kept.Tip, kept.Commits, kept.Loose, kept.Lacks = checkpoints.WorktreeKept, w.Branch, 2, 1, nil
	s.Do(Tidied{Agent: childID, Worktree: kept})
	if s.child().Status != checkpoints.Stopped {
		t.Fatalf("it is %s (%s)", s.child().Status, s.child().Reason)
	}
	end := s.State.childEnded(s.child())
	for _, want := range []string{"2 commits, 1 change not committed", "git merge " + w.Branch,
		"git -C /work worktree remove --force " + w.Path} {
		if !strings.Contains(end, want) {
			t.Errorf("%q is missing in\n%s", want, end)
		}
	}
}

func TestAWorktreeThatIsGoneIsMadeAgainForAnAgentThatGoesOn(t *testing.T) {
	for _, state := range []checkpoints.WorktreeState{checkpoints.WorktreeKept, checkpoints.WorktreeRemoved} {
		t.Run(string(state), func(t *testing.T) {
			s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"})
			s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
			s.stopped(1)
			w := *wanted()
			w.State = state
			s.Do(Tidied{Agent: childID, Worktree: w})
			s.Do(Opened{PID: 2, Policy: conf.Ask, Revive: true})
			s.plans("place " + childID)
			s.plansNot("launch")
			s.Do(Placed{Agent: childID, Cwd: w.Path, Worktree: wanted()})
			s.plans("launch " + childID + " 2")
		})
	}
}

func TestWhoContinuesAnAgentGoesOnInItsWorktree(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"}, task.Work{Task: "Wait"})
	s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	s.stopped(1)
	kept := *wanted()
	kept.State, kept.Commits = checkpoints.WorktreeKept, 1
	s.Do(Tidied{Agent: childID, Worktree: kept})
	const heir = "a-heir00000000"
	d := NewTransition(s.State, s.At)
	d.spawn(task.Child{Agent: heir, Parent: Root, Work: task.Work{Task: "Collect more", Resume: childID}})
	if !d.places(d.agent(heir)) {
		t.Fatal("its folder is not made ready")
	}
	if diff := cmp.Diff(kept, *d.Agents.Get(heir).Worktree); diff != "" {
		t.Errorf("what is made ready is %s", diff)
	}
	if err := (Placed{Agent: heir, Cwd: wanted().Path, Worktree: wanted()}).apply(d); err != nil {
		t.Fatal(err)
	}
	if got := d.Agents.Get(childID).Worktree.State; got != checkpoints.WorktreeHanded {
		t.Errorf("the worktree of the first is %s", got)
	}
	if merge, drop := d.Agents.Get(childID).Worktree.Commands(""); merge != nil || drop != nil {
		t.Errorf("the commands of the first are %q, %q", merge, drop)
	}
}

func TestATroubleOfAllWorktreesIsToldOnce(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"}, task.Work{Task: "Sort"})
	none := func(i int) Placed {
		return Placed{Agent: childID[:len(childID)-1] + string(rune('0'+i)),
			Worktree: &checkpoints.Worktree{State: checkpoints.WorktreeNone, Problem: "/work is in no git work tree"}}
	}
	if told := placedNotices(s.State, none(0)); len(told) != 1 ||
		!strings.Contains(told[0], "works in its parent's folder: /work is in no git work tree") {
		t.Errorf("told %q", told)
	}
	s.Do(none(0))
	if told := placedNotices(s.State, none(1)); told != nil {
		t.Errorf("told again %q", told)
	}
	if got := s.State.Folder(childID); got != "/work" {
		t.Errorf("it works in %s", got)
	}
	s.plans("launch " + childID)
}

func TestAFolderThatIsMadeReadyHoldsASlot(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true, MaxParallel: 1}, task.Work{Task: "Collect"}, task.Work{Task: "Sort"})
	if got := s.keys(); !cmp.Equal(got, []string{"place " + childID}) {
		t.Fatalf("the plan is %q", got)
	}
	s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	if got := s.keys(); !slices.Equal(got, []string{"launch " + childID + " 1"}) {
		t.Fatalf("the plan is %q", got)
	}
}

// A subagent appends to the same files as other agents.
func TestTheFindingsOfOneAgentAreMergedIfItHadSubagents(t *testing.T) {
	for name, with := range map[string]bool{"with a subagent": true, "alone": false} {
		t.Run(name, func(t *testing.T) {
			s := Begin(t, nil)
			if with {
				s.Do(SubagentStarted{Agent: Root, Launch: 1})
			}
			s.reports("success", "")
			s.turnEnds()
			s.Do(Checked{Agent: Root})
			s.Ends()
			s.Rests(true)
			s.is(checkpoints.Succeeded)
			if !with {
				s.plansNot("merge")
				s.plans("leave")
				return
			}
			s.plansNot("leave")
			s.plans("merge 1")
			s.Do(Merged{})
			s.plans("leave")
		})
	}
}

func TestTheFindingsOfSeveralAgentsAreMergedBeforeTheirSupervisorLeaves(t *testing.T) {
	s := withChildren(t, conf.Config{}, task.Work{Task: "Collect"})
	s.stopped(1)
	s.plans("merge 1")
	s.plansNot("leave")
	s.Do(Merged{Problem: "no space left on device", Again: true})
	if told, trouble := mergedNotices(&Run{}, s.State.Run); len(told) != 1 || !trouble ||
		!strings.Contains(told[0], "it is tried again") {
		t.Errorf("told %q", told)
	}
	for range maxMerges - 2 {
		s.plans("merge")
		before := s.State.Run
		s.Do(Merged{Problem: "no space left on device", Again: true})
		if told, _ := mergedNotices(before, s.State.Run); told != nil {
			t.Errorf("told again %q", told)
		}
	}
	s.plans("merge 5")
	before := s.State.Run
	s.Do(Merged{
		Problem: "no space left on device", Again: true,
		Files: []checkpoints.MergedFile{{Name: "f.jsonl", Merged: "/shared/f.merged.json", Lines: 1,
			Broken: 2, Aside: "/shared/f.broken"}},
	})
	told, _ := mergedNotices(before, s.State.Run)
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

func TestFindingsThatAnInterruptLeavesUnmergedAreMergedByTheNextSupervisor(t *testing.T) {
	s := withChildren(t, conf.Config{}, task.Work{Task: "Collect"})
	s.stopped(1)
	s.Do(Merged{Problem: "no space left on device", Again: true})
	s.Do(InterruptAsked{})
	s.Do(Left{Undone: []string{"merge 2"}})
	if r := s.State.Run; r.Left != records.LeavingInterrupted || s.State.ExitCode() != exit.Interrupted || r.EndedAt != nil {
		t.Errorf("it is left as %q, exit %d, ended at %v", r.Left, s.State.ExitCode(), r.EndedAt)
	}
	s.Do(Opened{PID: 2, Policy: conf.Ask})
	s.plans("merge 1")
}

func TestTheFilesOfAContextAreThoseThatAreNoWords(t *testing.T) {
	for text, want := range map[string][]string{
		"- Current analysis (see AUTH_ANALYSIS.md)\n- Do NOT modify files in src/auth/ (this agent goes on)": {"AUTH_ANALYSIS.md", "src/auth/"},
		"`src/db.go:42`, package.json; ../up/x.yaml .github/workflows/ci.yml": {"src/db.go",
			"package.json", "../up/x.yaml", ".github/workflows/ci.yml"},
		"Use Node.js and/or OAuth2/JWT, e.g. example.com/docs/a.html or https://go.dev/x.md, 3/4 of v1.2": nil,
		"": nil,
	} {
		if diff := cmp.Diff(want, task.ContextFiles(text),
			cmp.Transformer("none", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
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
			s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"}, task.Work{Task: "Sort",
				Cwd: "/work/sub"})
			s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
			s.Do(Started{Agent: childID, Launch: 1, PID: 7, StartTicks: 7})
			s.Do(TurnBegun{Agent: childID, Launch: 1})
			b.Config = s.State.Config
			s.Do(b)
			if a := s.child(); a.Placed || a.Worktree != nil || s.State.Folder(childID) != b.Cwd {
				t.Errorf("it is to work in %s, worktree %+v", s.State.Folder(childID), a.Worktree)
			}
			if got, want := s.State.Folder(childID[:len(childID)-1]+"1"), b.Cwd+"/sub"; got != want {
				t.Errorf("what was in the run's folder is in %s, not %s", got, want)
			}
			if last := s.child().Outbox; len(last) == 0 ||
				!strings.Contains(last[len(last)-1].Text, "Old folder: "+wanted().Path+", which was yours alone") {
				t.Errorf("it is told %v", last)
			}
		})
	}
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"})
	s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	s.Do(Unpacked{From: "/work", Cwd: "/work", Same: true, Work: true, Config: s.State.Config, Back: true})
	if got := s.State.Folder(childID); got != wanted().Path {
		t.Errorf("taken back it is to work in %s", got)
	}
	s.stopped(1)
	s.Do(Unpacked{From: "/work", Cwd: "/there", Work: true, Config: s.State.Config})
	if a := s.child(); a.Status != checkpoints.Interrupted {
		t.Errorf("where its worktree did not come along, it is %s (%s)", a.Status, a.Reason)
	}
}

// A rule about a file means the one in the folder of the agent that asked for it.
func TestARuleOfOneWorktreeIsNoneOfAnother(t *testing.T) {
	s := withChildren(t, conf.Config{Worktree: true}, task.Work{Task: "Collect"}, task.Work{Task: "Sort"})
	s.Do(Placed{Agent: childID, Cwd: wanted().Path, Worktree: wanted()})
	at := s.At
	s.State.Questions.Put("q-rule", &Question{
		ID: "q-rule", Agent: childID, Kind: questions.AskPermission, State: checkpoints.QuestionDelivered,
		Response: checkpoints.Response{Answer: "allow-run Edit(/src/**)", AnsweredAt: &at},
		Grant:    checkpoints.Grant{Rule: "Edit(/src/a.go)"},
	})
	state := s.State
	state.Reindex()
	for agent, want := range map[string]string{childID: "Edit(/src/**)", Root: ""} {
		if got := state.permitted("Edit(/src/b.go)", agent, ""); got != want {
			t.Errorf("for %s it is permitted by %q, not %q", agent, got, want)
		}
	}
	if got := state.permitted("Edit(/"+wanted().Path+"/src/b.go)", Root, "/elsewhere"); got != "Edit(/src/**)" {
		t.Errorf("by its whole path it is permitted by %q", got)
	}
	s.State.Questions.Delete("q-rule")
}
