package notices

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/notice"
)

// A year in which people look now and then, two of them at once each time, while the clock stands, leaps over months or
// is set back: who was asked for long enough, and was looked at then, was reminded once, and nobody else.
func TestAReminderIsSentOnceByWhoeverLooksNext(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]int{}
	phone := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			About string `json:"sequence_id"`
		}
		text, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(text, &m)
		mu.Lock()
		defer mu.Unlock()
		sent[m.About]++
	}))
	defer phone.Close()
	p := Person{
		Config: config.Config{Notify: config.Notify{Remind: 6 * time.Hour,
			Receivers: map[string]config.Receiver{"ntfy": {URL: phone.URL + "/topic"}}}},
		Printer: terminal.NewPrinter(io.Discard, io.Discard, terminal.Look{}), Event: func(notice.Notification) any { return nil }}
	p.Client.Dirs.State = t.TempDir()
	random := rand.New(rand.NewPCG(1, 1))
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(days float64) time.Time { return begin.Add(time.Duration(days * 24 * float64(time.Hour))) }
	type life struct {
		*supervisor.Question
		closed time.Time
		due    bool // it was looked at while it was
	}
	var all []*life
	for i := range 60 {
		asked := at(random.Float64() * 360)
		run := fmt.Sprintf("r-%d", i/3)
		if err := os.MkdirAll(p.Client.Dirs.RunDir(run), 0o700); err != nil {
			t.Fatal(err)
		}
		all = append(all, &life{closed: asked.Add(time.Duration(random.Float64() * 48 * float64(time.Hour))),
			Question: &supervisor.Question{ID: fmt.Sprintf("q-%d", i), Run: run, AskedAt: asked}})
	}
	for day := 0.0; day < 365; day += random.Float64() {
		now := at(day)
		switch random.IntN(40) {
		case 0:
			day += 30 // the machine slept
		case 1:
			now = now.AddDate(0, -2, 0) // its clock is wrong
		}
		var open []*supervisor.Question
		for _, l := range all {
			if !l.AskedAt.After(now) && now.Before(l.closed) {
				open = append(open, l.Question)
				l.due = l.due || now.Sub(l.AskedAt) >= 6*time.Hour
			}
		}
		var lookers sync.WaitGroup
		for range 2 {
			lookers.Go(func() {
				if err := Remind(t.Context(), p, p.due(open, now)); err != nil {
					t.Error(err)
				}
			})
		}
		lookers.Wait()
	}
	reminded := 0
	for _, l := range all {
		want := 0
		if l.due {
			want, reminded = 1, reminded+1
		}
		if sent[l.ID] != want {
			t.Errorf("%s was reminded of %d times, want %d", l.ID, sent[l.ID], want)
		}
	}
	if reminded < 10 || reminded == len(all) {
		t.Errorf("of %d questions %d were due", len(all), reminded)
	}
}
