package main

import (
	"net/http"
	"os"

	"github.com/rs/zerolog"

	"claude-supervise/cmd/internal/release"
	"claude-supervise/supervisor/telemetry"
)

// startTelemetry starts what sends the run to an OpenTelemetry collector; nil where no OTEL_* variable asks for that.
func startTelemetry(log zerolog.Logger) *telemetry.Telemetry {
	config, err := telemetry.Read(os.Getenv)
	if err != nil {
		log.Warn().Err(err).Msg("OpenTelemetry")
	}
	if !config.Enabled() {
		return nil
	}
	return telemetry.Start(config, release.Version(), log, http.DefaultTransport)
}
