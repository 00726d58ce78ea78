package procs

import (
	"context"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"claude-supervise/procs/internal/childtest"
)

// begin starts a child in the middle of a turn. It is a stand-in that ends at once, so what is measured is ours.
func begin(b *testing.B) *Process {
	b.Helper()
	exe, err := os.Executable()
	noError(b, err)
	begun := make(chan struct{})
	p, err := Start(teller{}, Spec{
		Path: exe, SessionID: uuid.NewString(), Extra: []string{childtest.PartVariable + "=polite"},
		Marker: Marker{Run: "r-bench", Agent: "a-" + uuid.NewString(), Launch: 1},
	}, func(m Message) {
		if _, ok := m.(Init); ok {
			close(begun)
		}
	})
	noError(b, err)
	<-begun
	return p
}

func BenchmarkEnd(b *testing.B) {
	for _, c := range []struct {
		name string
		how  Ending
	}{{"finish", Finish}, {"park", Park}, {"stop", Stop}, {"kill", Kill}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				p := begin(b)
				b.StartTimer()
				p.End(context.Background(), c.how)
			}
		})
	}
}

// BenchmarkEndsAtOnce gives what each of many ends takes of the processor, where all begin at the same moment. The
// stand-ins are killed, so that next to nothing of it is theirs.
func BenchmarkEndsAtOnce(b *testing.B) {
	for _, n := range []int{10, 50, 200} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var spent time.Duration
			for b.Loop() {
				b.StopTimer()
				all := make([]*Process, n)
				for i := range all {
					all[i] = begin(b)
				}
				b.StartTimer()
				before := spentByUs(b)
				endAtOnce(all)
				spent += spentByUs(b) - before
			}
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N*n), "cpu-ms/end")
		})
	}
}

// BenchmarkEndBesideOthers gives what each end takes of the processor while so many others of this supervisor work, which
// began later.
func BenchmarkEndBesideOthers(b *testing.B) {
	const ending = 8
	for _, n := range []int{0, 100, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var spent time.Duration
			for b.Loop() {
				b.StopTimer()
				all := make([]*Process, ending+n)
				for i := range all {
					all[i] = begin(b)
				}
				b.StartTimer()
				before := spentByUs(b)
				for _, p := range all[:ending] {
					p.End(context.Background(), Kill)
				}
				spent += spentByUs(b) - before
				b.StopTimer()
				endAtOnce(all[ending:])
				b.StartTimer()
			}
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(b.N*ending), "cpu-ms/end")
		})
	}
}

func endAtOnce(all []*Process) {
	var ends sync.WaitGroup
	for _, p := range all {
		ends.Go(func() { p.End(context.Background(), Kill) })
	}
	ends.Wait()
}

func spentByUs(b *testing.B) time.Duration {
	b.Helper()
	var spent unix.Rusage
	noError(b, unix.Getrusage(unix.RUSAGE_SELF, &spent))
	return time.Duration(spent.Utime.Nano() + spent.Stime.Nano())
}

func BenchmarkCPU(b *testing.B) {
	p := begin(b)
	defer p.End(context.Background(), Kill)
	for b.Loop() {
		if _, err := p.CPU(); err != nil {
			b.Fatal(err)
		}
	}
}
