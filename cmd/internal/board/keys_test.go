package board

import (
	"testing"

	"claude-supervise/supervisor/view"
)

// What a person often does takes few keys: more than these are a step back. The letters of a task are not counted. In
// comments, what the same takes as commands, each with its Enter, once what they name is known by heart.
func TestFiveTasksInKeys(t *testing.T) {
	for _, task := range []struct {
		name string
		most int
		do   func(d *testBoard)
	}{
		// claude-supervise run --background "": 37
		{"start a run", 4, func(d *testBoard) {
			d.types("n")
			typed := d.pressed
			d.types(letters("Fix the tests")...)
			d.pressed = typed
			d.types("enter", "enter", "enter")
			d.did("start Fix the tests in /src/r-one as ")
		}},
		// claude-supervise questions; three times claude-supervise answer q-7kq2mx 2: 132
		{"answer three", 7, func(d *testBoard) {
			o := someRuns()
			o.Questions = append(o.Questions, asked("q-3", "r-two"))
			d.Update(o, d.at)
			d.types("a", "2", "enter", "1", "enter", "2", "enter")
			d.did("answer q-1 Green", "answer q-2 Red", "answer q-3 Green")
		}},
		// claude-supervise ps -a; claude-supervise show r-3f9a2c1b: 56
		{"find why one failed", 3, func(d *testBoard) {
			d.Update(busy(), d.at)
			d.shows("failed                     nightly · the tests do not pass") // without a key
			d.types("end", "tab", "d")                                            // and all of it, and what it has changed
			d.shows("[diff] ── r-bad")
		}},
		// claude-supervise show r-3f9a2c1b, and the git commands that it names, typed or copied: 33 and 40
		{"take over a worktree", 6, func(d *testBoard) {
			o := someRuns()
			o.Questions = nil
			d.Update(o, d.at)
			d.types("down", "down", "tab", "tab", "m", "y")
			d.did("merge r-one a-kid")
		}},
		// claude-supervise ps -a; claude-supervise report r-3f9a2c1b: 58
		{"see last night", 3, func(d *testBoard) {
			d.Update(view.Overview{}, d.at)
			d.types("e")
			d.shows("❯ succeeded                  the task of r-old")
			d.types("tab", "d")
			d.shows("[diff] ── r-old")
		}},
	} {
		d := newTestBoard(t)
		d.pressed = 0
		task.do(d)
		if d.pressed > task.most {
			t.Errorf("%s takes %d keys, which was done by %d", task.name, d.pressed, task.most)
		}
	}
}
