package pack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claude-supervise/supervisor/internal/gittest"
)

// What a snapshot costs the run (held-ms: how long nothing is said to agents), and how large it is, where one file of
// 100 MB of uncommitted work changes in a turn, in the run's own folder or in the worktree of a child. Beside it, in the
// same run, the machine's floor: floor-ms is a look at all files (git status in a work tree) and a plain copy of the one
// that has changed.
func BenchmarkSnapshotOf100MB(b *testing.B) {
	for _, work := range []string{"folder", "git", "worktree"} {
		for _, change := range []int{1 << 10, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKiB", work, change>>10), func(b *testing.B) { benchSnapshot(b, work, change) })
		}
	}
}

func benchSnapshot(b *testing.B, work string, change int) {
	inGit := work != "folder"
	folder := filepath.Join(b.TempDir(), "top")
	if err := os.Mkdir(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	random := rand.NewChaCha8([32]byte{})
	put := func(name string, size int) {
		content := make([]byte, size)
		_, _ = random.Read(content) // it never fails
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if inGit {
		gittest.InRepository(b, folder)
	}
	for i := range 1000 {
		put(fmt.Sprint("file", i), 100<<10)
	}
	s := newSnapped(b, folder, 10)
	if work == "worktree" { // in which the child works, beside what is committed in the run's own folder
		gittest.Committed(b, folder, "begin")
		folder, s.seq = s.withChild(folder), 2
	}
	time.Sleep(2 * racyWithin) // nothing is so new any more that it is read twice
	s.taker.Prime(b.Context(), packedRun, s.folder)
	s.mustTake()
	floor := func() time.Duration {
		begun := time.Now()
		if inGit {
			gittest.GitIn(b, folder, "status", "--porcelain")
		} else if entries, err := os.ReadDir(folder); err != nil {
			b.Fatal(err)
		} else {
			for _, e := range entries {
				if _, err := e.Info(); err != nil {
					b.Fatal(err)
				}
			}
		}
		content, err := os.ReadFile(filepath.Join(folder, "changed"))
		if err == nil {
			err = os.WriteFile(filepath.Join(b.TempDir(), "copy"), content, 0o600)
		}
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(begun)
	}
	var held, worst, least time.Duration
	var bytes int64
	for b.Loop() {
		b.StopTimer()
		put("changed", change)
		s.turn(`{"type":"assistant","text":"` + strings.Repeat("x", 1000) + `"}`)
		state := s.state()
		least += floor()
		b.StartTimer()
		begun := time.Now()
		got := s.taker.Take(b.Context(), state, s.seq, func() {
			took := time.Since(begun)
			held, worst = held+took, max(worst, took)
		})
		if got.Problem != "" {
			b.Fatal(got.Problem)
		}
		bytes += got.Bytes
	}
	b.ReportMetric(held.Seconds()*1000/float64(b.N), "held-ms")
	b.ReportMetric(least.Seconds()*1000/float64(b.N), "floor-ms")
	b.ReportMetric(worst.Seconds()*1000, "worst-ms")
	b.ReportMetric(float64(bytes)/float64(b.N), "file-B")
}
