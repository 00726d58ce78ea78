package notify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestTheEventIsOneLineOfJSONOnItsStdin(t *testing.T) {
	heard := filepath.Join(t.TempDir(), "heard")
	err := Send(t.Context(), []string{"/bin/sh", "-c", `cat > "$0"`, heard},
		map[string]string{"run": "r-1", "text": "a\n$(id)"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(heard); err != nil || string(got) != `{"run":"r-1","text":"a\n$(id)"}`+"\n" {
		t.Errorf("it hears %q (%v)", got, err)
	}
}

func TestACommandThatDoesNotReadOrLeavesSomethingRunningHasBeenTold(t *testing.T) {
	big := strings.Repeat("x", 1<<20)
	for _, script := range []string{"exit 0", "sleep 100 & exit 0"} {
		if err := Send(t.Context(), []string{"/bin/sh", "-c", script}, big); err != nil {
			t.Errorf("%s: %v", script, err)
		}
	}
}

func TestACommandThatFailsSaysHow(t *testing.T) {
	err := Send(t.Context(), []string{"/bin/sh", "-c", "echo no such topic >&2; exit 3"}, 1)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no such topic") {
		t.Errorf("the error is %v", err)
	}
	if err := Send(t.Context(), []string{"/no/such/program"}, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}

func TestACommandThatHangsIsKilledWithAllItHasStarted(t *testing.T) {
	tooLong := errors.New("it took too long")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, tooLong)
	defer cancel()
	err := Send(ctx, []string{"/bin/sh", "-c", "sleep 1000 | sleep 1000"}, 1) // Send waits for their output to close
	if !errors.Is(err, tooLong) {
		t.Errorf("the error is %v", err)
	}
}
