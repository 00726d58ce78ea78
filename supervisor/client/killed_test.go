package client

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// An answer, a message and a stop of somebody who is killed once they are saved reach the supervisor at once: the kernel
// rings for who has not rung yet.
func TestWhatIsSavedByWhoIsKilledWakesTheSupervisor(t *testing.T) {
	if state := os.Getenv("TEST_KILLED_CLIENT"); state != "" {
		killedClient(t, state, os.Getenv("TEST_LEAVES"))
	}
	folder, err := os.MkdirTemp("/tmp", "killed") // the path of a socket may have some hundred bytes only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	dirs := checkpoints.Dirs{State: filepath.Join(folder, "state"), Runtime: filepath.Join(folder, "runtime")}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	waker, err := dirs.Listen("r-aaaaaaaa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = waker.Close() })
	at := checkpoints.Now()
	if err := store.Commit(t.Context(), checkpoints.Change{
		Run: &supervisor.Run{ID: "r-aaaaaaaa", Root: "a-root", Cwd: folder, Status: checkpoints.Waiting, StartedAt: at,
			Waker: waker.Path()},
		Agents: []*supervisor.Agent{{ID: "a-root", Run: "r-aaaaaaaa", Status: checkpoints.Waiting}},
		Questions: []*supervisor.Question{{ID: "q-asked", Run: "r-aaaaaaaa", Agent: "a-root", State: supervisor.Open,
			Kind: questions.AskClarification, AskedAt: at}},
	}); err != nil {
		t.Fatal(err)
	}
	for i, leaves := range []string{"answer", "message", "stop"} {
		client := exec.Command(os.Args[0], "-test.run=^TestWhatIsSavedByWhoIsKilledWakesTheSupervisor$")
		client.Env = append(os.Environ(), "TEST_KILLED_CLIENT="+folder, "TEST_LEAVES="+leaves)
		if out, err := client.CombinedOutput(); err == nil {
			t.Fatalf("it was not killed: %s", out)
		}
		<-waker.C()
		if left, err := store.Inbox(t.Context(), "r-aaaaaaaa", 0); err != nil || len(left) != i+1 {
			t.Errorf("%s: %d entries lie in the inbox (%v)", leaves, len(left), err)
		}
	}
}

// killedClient leaves something, and is killed before it rings.
func killedClient(t *testing.T, folder, leaves string) {
	dirs := checkpoints.Dirs{State: filepath.Join(folder, "state"), Runtime: filepath.Join(folder, "runtime")}
	store, err := checkpoints.Open(dirs)
	if err != nil {
		t.Fatal(err)
	}
	c := Client{Dirs: dirs, Store: store, At: func(point string) {
		if point == supervisor.AfterNote+leaves {
			_ = unix.Kill(os.Getpid(), unix.SIGKILL)
			select {}
		}
	}}
	switch leaves {
	case "answer":
		err = c.Answer(t.Context(), "q-asked", Answer{Text: "yes", By: "somebody"})
	case "message":
		err = c.Say(t.Context(), "a-root", "continue", "somebody")
	case "stop":
		err = c.Stop(t.Context(), "r-aaaaaaaa", "", false, "somebody")
	}
	t.Fatal("it continues: ", err)
}
