package git

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/internal/gittest"
)

const takesForEver = "CLAUDE_SUPERVISE_TEST_TAKES"

// TestMain takes moments of a folder in the place of tests, for a test that kills it: each that it names is kept. In
// each the files hold their number.
func TestMain(m *testing.M) {
	if how := os.Getenv(carriesUntil); how != "" {
		carriesAndDies(how)
	}
	folder, store, is := strings.Cut(os.Getenv(takesForEver), "\n")
	if !is {
		os.Exit(m.Run())
	}
	s := &Store{Folder: store, Limit: roomy}
	for i := 0; ; i++ {
		id := ""
		for name := range 20 {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(name)), fmt.Append(nil, i), 0o600); err != nil {
				panic(err)
			}
		}
		id, err := s.Take(context.Background(), folder)
		if err != nil {
			panic(err)
		}
		fmt.Println(i, id)
		if i%3 == 2 {
			if err := s.Prune(context.Background(), func(string) bool { return true }); err != nil {
				panic(err)
			}
		}
	}
}

func TestAMomentThatWasTakenOutlivesAKillAnywhere(t *testing.T) {
	for _, git := range []bool{false, true} {
		t.Run(fmt.Sprintf("git=%v", git), func(t *testing.T) {
			folder, s := t.TempDir(), newStore(t)
			if git {
				gittest.InRepository(t, folder)
				gittest.Put(t, filepath.Join(folder, "0"), "committed")
				gittest.Committed(t, folder, "begin")
			}
			random := rand.New(rand.NewPCG(7, 7))
			kept := map[string]string{} // moment, and what its files hold
			for range 12 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), takesForEver+"="+folder+"\n"+s.Folder)
				out, err := cmd.StdoutPipe()
				if err == nil {
					err = cmd.Start()
				}
				if err != nil {
					t.Fatal(err)
				}
				at := random.IntN(4)
				timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // should it stand still
				for lines := bufio.NewScanner(out); lines.Scan(); at-- {
					i, id, _ := strings.Cut(lines.Text(), " ")
					kept[id] = i
					if at <= 0 {
						time.AfterFunc(time.Duration(random.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
					}
				}
				timer.Stop()
				if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
					t.Fatalf("it ended by itself: %v", err)
				}
			}
			if len(kept) == 0 {
				t.Fatal("nothing was kept")
			}
			wantMoment(t, s, taken(t, s, folder), filesIn(t, folder, false))
			if err := s.Prune(t.Context(), func(id string) bool { return kept[id] != "" }); err != nil {
				t.Error(err)
			}
			for id, i := range kept {
				want := map[string]string{}
				for name := range 20 {
					want[fmt.Sprint(name)] = fmt.Sprintf("false %q", i)
				}
				wantMoment(t, s, id, want)
			}
			if out, err := s.in(t.Context(), folder, "none", "fsck", "--full", "--no-dangling"); err != nil || out != "" {
				t.Errorf("%s, %v", out, err)
			}
			if left, err := filepath.Glob(filepath.Join(s.dir(), treesName, "*")); err != nil || len(left) != 1 {
				t.Errorf("of the killed there is %v, %v", left, err)
			}
		})
	}
}
