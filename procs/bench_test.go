package procs

import (
	"context"
	"os"
	"testing"

	"github.com/google/uuid"
)

// begin starts a child in the middle of a turn. It is a stand-in that ends at once, so what is measured is ours.
func begin(b *testing.B) *Process {
	b.Helper()
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	begun := make(chan struct{})
	p, err := Start(Spec{
		Path: exe, SessionID: uuid.NewString(), Extra: []string{partVariable + "=polite"},
		Marker: Marker{Run: "r-bench", Agent: "a-" + uuid.NewString(), Launch: 1},
	}, func(m Message) {
		if _, ok := m.(Init); ok {
			close(begun)
		}
	})
	if err != nil {
		b.Fatal(err)
	}
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

func BenchmarkCPU(b *testing.B) {
	p := begin(b)
	defer p.End(context.Background(), Kill)
	for b.Loop() {
		if _, err := p.CPU(); err != nil {
			b.Fatal(err)
		}
	}
}
