package git

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/supervisor/internal/gittest"
)

// What it takes to keep 100 MB of work at a moment, of which one file of 1 KiB has changed, or none. Beside it, in the
// same run, the machine's floor: floor-ms is `git status` in a work tree, a look at all files in a folder without git.
func BenchmarkMomentOf100MB(b *testing.B) {
	for _, git := range []bool{true, false} {
		for _, change := range []bool{true, false} {
			b.Run(fmt.Sprintf("git=%v/changed=%v", git, change), func(b *testing.B) { benchMoment(b, git, change) })
		}
	}
}

func benchMoment(b *testing.B, git, change bool) {
	folder := b.TempDir()
	random := rand.NewChaCha8([32]byte{})
	put := func(name string, size int) {
		content := make([]byte, size)
		_, _ = random.Read(content) // it never fails
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if git {
		gittest.InRepository(b, folder)
	}
	for i := range 1000 {
		put(fmt.Sprint("file", i), 100<<10)
	}
	s := newStore(b)
	taken(b, s, folder)
	time.Sleep(100 * time.Millisecond) // nothing is so new any more that it is read twice
	put("changed", 1)
	taken(b, s, folder)
	var floor time.Duration
	for b.Loop() {
		b.StopTimer()
		if change {
			put("changed", 1<<10)
		}
		begun := time.Now()
		if git {
			gittest.GitIn(b, folder, "status", "--porcelain")
		} else if _, err := listFolder(b.Context(), folder, func(folderList) bool { return false }); err != nil {
			b.Fatal(err)
		}
		floor += time.Since(begun)
		b.StartTimer()
		taken(b, s, folder)
	}
	b.ReportMetric(floor.Seconds()*1000/float64(b.N), "floor-ms")
}
