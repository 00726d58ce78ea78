package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What hangs is named with what it last wrote, and a program of ours says where it hangs.
func TestWhatIsPrintedOfATestThatHangs(t *testing.T) {
	home := t.TempDir()
	run := filepath.Join(home, ".local/state/claude-supervise/runs/r-1")
	if err := os.MkdirAll(run, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "a-1.jsonl"), []byte("its last line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Build(home, nil, "cmd/claude-supervise"); err != nil {
		t.Fatal(err)
	}
	hangs := exec.Command(filepath.Join(home, "claude-supervise"), "run", "--demo", "ask", "--hold", "forever")
	hangs.Env = []string{"HOME=" + home, "XDG_RUNTIME_DIR=" + t.TempDir(), "PATH=/usr/bin:/bin"}
	hangs.Dir = t.TempDir()
	said := new(strings.Builder)
	stderr, err := hangs.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hangs.Start(); err != nil {
		t.Fatal(err)
	}
	buffer, asked := make([]byte, 1<<16), false
	for {
		n, err := stderr.Read(buffer)
		if said.Write(buffer[:n]); err != nil {
			break
		}
		if !asked && strings.Contains(said.String(), "From another terminal") {
			asked = true
			shown := Described(home, []int{hangs.Process.Pid})
			for _, want := range []string{"claude-supervise run --demo ask", "its last line", "a-1.jsonl"} {
				if !strings.Contains(shown, want) {
					t.Errorf("no %q in:\n%s", want, shown)
				}
			}
			quit([]int{os.Getpid(), hangs.Process.Pid})
		}
	}
	if _ = hangs.Wait(); !strings.Contains(said.String(), "engine.(*engine).loop") {
		t.Errorf("it does not say where it hangs:\n%s", said)
	}
}
