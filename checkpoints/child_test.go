package checkpoints

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// childRole in the environment makes the test binary run a part instead of the tests: other processes are what this
// package is about.
const childRole = "CHECKPOINTS_TEST_CHILD"

var childRoles = map[string]func(Dirs) error{
	"write":  writeEvents,
	"answer": answerAtOnce,
	"own":    ownUntilEOF,
}

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	d := Dirs{State: os.Getenv("XDG_STATE_HOME"), Runtime: os.Getenv("XDG_RUNTIME_DIR")}
	if err := childRoles[role](d); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child is another process at work in the same folders. It is killed at the end of the test at the latest.
type child struct {
	*exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
}

func startChild(t *testing.T, role string, d Dirs) *child {
	t.Helper()
	self, err := os.Executable()
	noError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childRole+"="+role, "XDG_STATE_HOME="+d.State, "XDG_RUNTIME_DIR="+d.Runtime)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	noError(t, err)
	stdout, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	return &child{cmd, stdin, bufio.NewScanner(stdout)}
}

// line waits for the next line that the child prints.
func (c *child) line(t *testing.T) string {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the child ended: %v", c.lines.Err())
	}
	return c.lines.Text()
}

// writeEvents goes on with the run where it is, and prints the number of each event once it is saved. It never ends.
func writeEvents(d Dirs) error {
	ctx := context.Background()
	s, err := Open(d)
	if err != nil {
		return err
	}
	loaded, err := s.Load(ctx, testRun)
	if err != nil {
		return err
	}
	for n := loaded.LastEvent + 1; ; n++ {
		c := firstChange()
		c.Event.Seq = n
		c.Agents[0].Launches = int(n)
		if err := s.Commit(ctx, c); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// answerAtOnce waits for the start signal, then answers the question from several goroutines, and prints who it was
// that won, as each of them sees it.
func answerAtOnce(d Dirs) error {
	s, err := Open(d)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			me := fmt.Sprintf("process %d goroutine %d", os.Getpid(), i)
			_, err := s.Answer(context.Background(), InboxEntry{Question: testQuestion, Value: me, By: me, At: time.Now()})
			var taken *TakenError
			switch {
			case err == nil:
				fmt.Println("won", me)
			case errors.As(err, &taken):
				fmt.Println("lost to", taken.By)
			default:
				fmt.Println(err)
			}
		})
	}
	wg.Wait()
	return s.Close()
}

func ownUntilEOF(d Dirs) error {
	owner, err := d.Own(context.Background(), testRun)
	if err != nil {
		return err
	}
	fmt.Println("owned")
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	return owner.Release()
}

// noError ends a test that cannot go on.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
