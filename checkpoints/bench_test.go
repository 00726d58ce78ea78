package checkpoints

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

// BenchmarkCommit measures what one event costs to save (a question asked: run, agent, question, event), alone and
// among busy writers, beside the floor of this disk: one write of about as many bytes as SQLite adds to its log, and an
// fsync.
func BenchmarkCommit(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "log"))
		noError(b, err)
		defer func() { _ = f.Close() }()
		frames := make([]byte, 5*4096)
		for b.Loop() {
			if _, err := f.Write(frames); err != nil {
				b.Fatal(err)
			}
			noError(b, f.Sync())
		}
	})
	b.Run("question", func(b *testing.B) {
		commits(b, dirsAt(b))
	})
	b.Run("question among four writers", func(b *testing.B) {
		d := dirsAt(b)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		for i := range 3 {
			s := openAt(b, d)
			wg.Go(func() {
				run := fmt.Sprintf("r-%08d", i)
				for n := int64(1); ; n++ {
					select {
					case <-stop:
						return
					default:
						event := Event{Run: run, Seq: n, Doc: []byte(`{}`)}
						if err := s.Commit(context.Background(), Change{Event: event}); err != nil {
							b.Error(err)
							return
						}
					}
				}
			})
		}
		commits(b, d)
		close(stop)
		wg.Wait()
	})
}

// commits saves a change over and over, and reports the slowest of a hundred beside the mean.
func commits(b *testing.B, d Dirs) {
	s := openAt(b, d)
	change := firstChange()
	commit(b, s, change)
	var took []time.Duration
	for b.Loop() {
		change.Event.Seq++
		change.Agents[0].Launches++
		start := time.Now()
		commit(b, s, change)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
}

// BenchmarkList measures what `ps` asks of this package, from opening the database on.
func BenchmarkList(b *testing.B) {
	for _, past := range []int{0, 10_000} {
		b.Run(fmt.Sprintf("50 runs and %d past ones", past), func(b *testing.B) {
			d := dirsAt(b)
			s := openAt(b, d)
			fill(b, s, 50, past)
			for b.Loop() {
				s, err := OpenReadOnly(d)
				noError(b, err)
				runs, err := s.Runs(b.Context(), false)
				if err != nil || len(runs) != 50 {
					b.Fatal(len(runs), err)
				}
				ids := make([]string, len(runs))
				for i, r := range runs {
					ids[i] = r.ID
					if d.Owned(r.ID) {
						b.Fatal(r.ID, "is owned")
					}
				}
				if agents, err := s.Agents(b.Context(), ids...); err != nil || len(agents) != 50 {
					b.Fatal(len(agents), err)
				}
				if launches, err := s.LiveLaunches(b.Context(), ids...); err != nil || len(launches) != 50 {
					b.Fatal(len(launches), err)
				}
				if questions, err := s.Questions(b.Context(), QuestionFilter{Undelivered: true}); err != nil ||
					len(questions) != 50 {
					b.Fatal(len(questions), err)
				}
				noError(b, s.Close())
			}
		})
	}
}

// fill saves runs with one agent, launch and question each, without the cost of as many fsyncs.
func fill(tb testing.TB, s *Store, live, past int) {
	tb.Helper()
	noError(tb, s.exec(tb.Context(), `PRAGMA synchronous = OFF`))
	for n := range live + past {
		c := firstChange()
		id := fmt.Sprintf("%08d", n)
		c.Run.ID, c.Event.Run = RunPrefix+id, RunPrefix+id
		c.Agents[0].ID, c.Agents[0].Run = AgentPrefix+id+"0000", c.Run.ID
		c.Launches[0].Agent = c.Agents[0].ID
		c.Questions[0].ID, c.Questions[0].Run, c.Questions[0].Agent = QuestionPrefix+id, c.Run.ID, c.Agents[0].ID
		if n < past {
			end := c.Run.Since.Add(time.Hour)
			c.Run.Status, c.Run.EndedAt = Succeeded, &end
			c.Agents[0].Status, c.Agents[0].EndedAt = Succeeded, &end
			c.Launches[0].Phase = LaunchEnded
			c.Questions[0].State = QuestionDelivered
		}
		commit(tb, s, c)
	}
}
