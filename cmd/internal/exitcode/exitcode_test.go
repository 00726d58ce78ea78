package exitcode

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"claude-supervise/supervisor/doctor"
)

type knowsItself struct{ error }

func (knowsItself) ExitsWith() int { return 42 }

func TestAnErrorBecomesItsExitCode(t *testing.T) {
	ended := exec.Command("sh", "-c", "exit 9").Run()
	if ended == nil {
		t.Fatal("sh did not exit with 9")
	}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{fmt.Errorf("it: %w", Usage("--each: %w", ended)), 2}, // not the code of a command that it has started
		{ended, 1},
		{fmt.Errorf("it: %w", Error(75)), 75},
		{fmt.Errorf("it: %w", knowsItself{errors.New("ended")}), 42},
		{fmt.Errorf("it: %w", doctor.ErrNoAgent), 69},
	} {
		if got := Of(c.err); got != c.want {
			t.Errorf("%v exits with %d, want %d", c.err, got, c.want)
		}
	}
}
