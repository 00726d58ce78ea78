package main

import (
	"strings"
	"testing"

	"claude-supervise/supervisor/doctor"
	"claude-supervise/supervisor/view"
)

func TestDoctorEndsWithHowToBeginOrTheOneThingToDo(t *testing.T) {
	good := doctor.Finding{Name: "claude", OK: true, Text: "2.1.332"}
	lacks := doctor.Finding{Name: "login", OK: true, Lacks: true, Text: "none was found"}
	bad := doctor.Finding{Name: "state", Text: "its disk is full"}
	for want, found := range map[string][]doctor.Finding{
		`Ready: claude-supervise run "TASK"`:                          {good},
		"To do first: " + lacks.Title() + ": none was found":          {good, lacks},
		"To do first: " + bad.Title() + ": its disk is full":          {good, lacks, bad},
		"To do first: " + bad.Title() + ": its disk is full" + "\x00": {bad, lacks},
	} {
		if got := toDo(found); got != strings.TrimRight(want, "\x00") {
			t.Errorf("it ends with %q, want %q", got, want)
		}
	}
}

func TestAMessageOnTheBoardIsFollowedByKeysAndNotByCommands(t *testing.T) {
	parked, asks := view.RunView{ID: "r-one"}, view.RunView{ID: "r-one", OpenQuestions: []string{"q-1"}}
	for want, r := range map[string]view.RunView{"r resumes the run.": parked, "a answers what it asks; r resumes the run then.": asks} {
		if got := keyed.goOn(r); got != want {
			t.Errorf("of %+v it says %q, want %q", r, got, want)
		}
	}
	if got := keyed.follow("a-one"); got != "n starts a run for follow-up work" {
		t.Errorf("of an agent that has ended it says %q", got)
	}
	if got, want := typed.follow("a-one"), "for follow-up work in its conversation:\n  claude-supervise run --continue a-one \"TASK\""; got != want {
		t.Errorf("on a terminal it says %q, want %q", got, want)
	}
}

func TestAFolderThatNoDesktopShowsIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nothing opens it
	folder := t.TempDir()
	if err := (here{}).Open(t.Context(), folder); err == nil || !strings.Contains(err.Error(), folder+" cannot be shown here") {
		t.Errorf("%v", err)
	}
}
