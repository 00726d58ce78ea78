package main

import (
	"strings"
	"testing"

	"claude-supervise/supervisor/doctor"
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

func TestAFolderThatNoDesktopShowsIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nothing opens it
	folder := t.TempDir()
	if err := (here{}).Open(t.Context(), folder); err == nil || !strings.Contains(err.Error(), folder+" cannot be shown here") {
		t.Errorf("%v", err)
	}
}
