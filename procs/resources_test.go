package procs

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"runtime"
	"testing"
	"time"

	"claude-supervise/procs/internal/childtest"
)

func init() {
	parts["hoarder"] = func(c *childtest.Child) {
		held := []byte(nil)
		for v := c.Read(); v != nil; v = c.Read() {
			if v["type"] != "user" {
				continue
			}
			what := v["message"].(map[string]any)["content"].(string)
			switch what {
			case "more":
				held = append(held, make([]byte, 64<<20)...)
				for i := 0; i < len(held); i += 4096 {
					held[i] = 1
				}
			case "a child":
				startTalking(childtest.Again("staying", nil, os.Environ()))
			}
			c.Text(what)
		}
		runtime.KeepAlive(held)
	}
	parts["staying"] = func(*childtest.Child) {
		os.Stdout.WriteString("here")
		childtest.Stay()
	}
}

func TestResourcesAreThoseOfAProcessAndItsDescendants(t *testing.T) {
	r := start(t, spec(t, "hoarder"))
	uses := func() int64 {
		t.Helper()
		cpu, rss, err := Resources(r.PID())
		if err != nil || cpu < 0 || rss <= 0 {
			t.Fatalf("%v, %d bytes, %v", cpu, rss, err)
		}
		return rss
	}
	tell := func(what string) {
		t.Helper()
		noError(t, r.Send("u", what))
		next[Text](r)
	}
	tell("nothing") // before that it may have no memory yet
	before := uses()
	tell("more")
	held := uses()
	if held-before < 60<<20 {
		t.Errorf("%d bytes, and with 64 MiB more %d", before, held)
	}
	tell("a child")
	if with := uses(); with-held < 1<<20 {
		t.Errorf("%d bytes, and with a child %d", held, with)
	}
	r.End(context.Background(), Kill)
	if _, _, err := Resources(r.PID()); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("after the end: %v", err)
	}
}

func FuzzTaskInfo(f *testing.F) {
	f.Add(uint64(4096), uint64(24_000_000), uint64(12_000_000), uint64(24_000_000))
	f.Add(uint64(1<<63), uint64(1<<63), uint64(1<<63), uint64(1_000_000_000))
	f.Add(uint64(1), uint64(1), uint64(1), uint64(0))
	f.Fuzz(func(t *testing.T, resident, user, system, hz uint64) {
		var data []byte
		for _, n := range []uint64{0, resident, user, system} {
			data = binary.NativeEndian.AppendUint64(data, n)
		}
		if got := taskInfo(data, hz); got != (use{}) {
			t.Errorf("half of it is read as %+v", got)
		}
		got := taskInfo(append(data, make([]byte, taskInfoSize-len(data))...), hz)
		if got.cpu < 0 || got.rss < 0 {
			t.Errorf("%+v", got)
		}
		if hz == 0 || resident > math.MaxInt64 || user/hz > 1e6 || system/hz > 1e6 {
			return
		}
		want := (float64(user) + float64(system)) / float64(hz)
		if diff := math.Abs(got.cpu.Seconds() - want); diff > float64(2*time.Nanosecond)+want*1e-9 ||
			got.rss != int64(resident) {
			t.Errorf("%+v, want %v s and %d bytes", got, want, resident)
		}
	})
}

func BenchmarkResources(b *testing.B) {
	for b.Loop() {
		if _, _, err := Resources(os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
}
