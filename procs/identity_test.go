package procs

import (
	"os/exec"
	"testing"
	"time"
)

// loaded is about when this process came to its own code.
var loaded = time.Now()

func TestAProcessBeganBeforeItCameToItsOwnCode(t *testing.T) {
	if began := Began(); began.After(loaded.Add(10*time.Millisecond)) || loaded.Sub(began) > time.Hour {
		t.Errorf("it came to its code at %v, and began at %v", loaded, began)
	}
	before := time.Now()
	child := exec.Command("sleep", "60")
	noError(t, child.Start())
	after := time.Now()
	p, err := read(child.Process.Pid)
	if err != nil {
		t.Error(err)
	}
	const tick = 10 * time.Millisecond // of the system's table
	if began := began(p.start); began.Before(before) || began.After(after.Add(tick)) {
		t.Errorf("it was started between %v and %v, and is said to have begun at %v", before, after, began)
	}
	_ = child.Process.Kill()
	_ = child.Wait()
}
