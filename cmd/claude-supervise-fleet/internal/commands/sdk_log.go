package commands

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	sdklog "go.temporal.io/sdk/log"
)

// workerLog is the log of a worker.
func workerLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

// sdkLog returns what the SDK logs to for a worker: its warnings and errors are in the worker's log. Among them is that
// a workflow cannot be replayed, which nobody else is told.
func sdkLog(log *slog.Logger) sdklog.Logger {
	return sdklog.NewStructuredLogger(slog.New(&warnings{Handler: log.Handler(), said: &said{at: map[string]time.Time{}}}))
}

// saidAgain is how often the same is logged: while a server is away, each reader of each queue says so every few
// seconds.
const saidAgain = time.Minute

// mostSaid bounds what is remembered of what was logged.
const mostSaid = 1000

// warnings passes on what is a warning at least, and the same once in a while only.
type warnings struct {
	slog.Handler
	said *said
}

type said struct {
	mu sync.Mutex
	at map[string]time.Time
}

// Enabled reports whether it is a warning.
func (w *warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// Handle logs it, unless the same was logged just now.
func (w *warnings) Handle(ctx context.Context, r slog.Record) error {
	key := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "Error" || a.Key == "WorkflowID" {
			key += fmt.Sprintf("\n%v", a.Value)
		}
		return true
	})
	if !w.said.isDue(key, r.Time) {
		return nil
	}
	return w.Handler.Handle(ctx, r)
}

func (s *said) isDue(key string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, known := s.at[key]; known && now.Sub(at) < saidAgain {
		return false
	}
	if len(s.at) >= mostSaid {
		clear(s.at)
	}
	s.at[key] = now
	return true
}

// WithAttrs adds attributes.
func (w *warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &warnings{Handler: w.Handler.WithAttrs(attrs), said: w.said}
}

// WithGroup opens a group.
func (w *warnings) WithGroup(name string) slog.Handler {
	return &warnings{Handler: w.Handler.WithGroup(name), said: w.said}
}
