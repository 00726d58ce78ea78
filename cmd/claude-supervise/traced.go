package main

import (
	"net/http"
	"os"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor/engine"
	"claude-supervise/supervisor/telemetry"
)

// A traced is what sends the run to an OpenTelemetry collector; the zero value, where no OTEL_* variable asks for that,
// sends nothing.
type traced struct{ *telemetry.Telemetry }

func startTelemetry(log zerolog.Logger) traced {
	config, err := telemetry.Read(os.Getenv)
	if err != nil {
		log.Warn().Err(err).Msg("OpenTelemetry")
	}
	if !config.Enabled() {
		return traced{}
	}
	return traced{telemetry.Start(config, release.Version(), log, http.DefaultTransport)}
}

func (t traced) close() {
	if t.Telemetry != nil {
		t.Close()
	}
}

// env returns what launches get in their environment.
func (t traced) env() func(agent string, launch int) []string {
	if t.Telemetry == nil {
		return nil
	}
	return t.Env
}

// store has the records pass by once they are saved.
func (t traced) store(s engine.Store) engine.Store {
	if t.Telemetry == nil {
		return s
	}
	return t.Store(s)
}
