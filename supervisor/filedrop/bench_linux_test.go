package filedrop

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkAnswerFile measures the time from an answer file that gets its name to the event that tells of it, beside
// the floor of this machine: until the kernel says so to somebody who waits for nothing else.
func BenchmarkAnswerFile(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		folder := b.TempDir()
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		noError(b, err)
		if _, err := unix.InotifyAddWatch(fd, folder, unix.IN_MOVED_TO); err != nil {
			b.Fatal(err)
		}
		inotify := os.NewFile(uintptr(fd), "inotify")
		defer func() { _ = inotify.Close() }()
		told := make(chan struct{})
		go func() {
			defer close(told)
			for event := make([]byte, 4096); ; told <- struct{}{} {
				if _, err := inotify.Read(event); err != nil {
					return
				}
			}
		}()
		timeAnswers(b, folder, func(string) { <-told })
	})
	b.Run("event", func(b *testing.B) {
		d := openFileDrop(b, b.TempDir())
		w := watchFileDrop(b, d)
		timeAnswers(b, d.at(answersFolder), func(id string) {
			for e := w.next(); e.Kind != AnswerFound || e.ID != id; e = w.next() { // the end of the one before
				if e.Kind != AnswerGone {
					b.Fatalf("%+v", e)
				}
			}
		})
	})
}

// timeAnswers puts one answer after the other into a folder, and reports how long it took until each was told.
func timeAnswers(b *testing.B, folder string, await func(id string)) {
	var took []time.Duration
	for b.Loop() {
		id := fmt.Sprintf("q%d", len(took))
		hidden, path := filepath.Join(folder, "."+id), filepath.Join(folder, id+answerSuffix)
		noError(b, os.WriteFile(hidden, []byte("oauth\n"), 0o600))
		start := time.Now()
		noError(b, os.Rename(hidden, path))
		await(id)
		took = append(took, time.Since(start))
		if err := os.Remove(path); err != nil { // as a script does
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}
