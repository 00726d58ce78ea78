package request

import (
	"testing"

	"claude-supervise/supervisor/task"
)

func TestTheHintNamesWhatTheTaskLacks(t *testing.T) {
	of := func(name, prompt string) lack {
		return lack{of: name, gaps: task.CheckTask(prompt, task.Brief{})}
	}
	for _, c := range []struct {
		lacks []lack
		want  string
	}{
		{[]lack{of("", "Write a poem")}, "The task gives no context or success criteria (--check off hides this)."},
		{[]lack{of("", "Fix it")}, "The task does not say what to work on (--check off hides this)."},
		{[]lack{of("", "tests")}, "The task gives no context, goals or success criteria (--check off hides this)."},
		{[]lack{of("", "Fix the tests in ./parser")}, "The task gives no success criteria (--check off hides this)."},
		{[]lack{of("docs", "Write a poem")},
			"The task of docs gives no context or success criteria (--check off hides this)."},
		{[]lack{of("docs", "Write a poem"), of("api", "Write a poem")},
			"2 of the tasks give no context or success criteria (--check off hides this)."},
	} {
		if got := reminder(c.lacks); got != c.want {
			t.Errorf("it says %q, want %q", got, c.want)
		}
	}
}
