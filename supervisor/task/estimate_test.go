package task

import (
	"testing"
	"time"
)

func TestEstimatesAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"45 min": 45 * time.Minute, "45min": 45 * time.Minute, "1.5h": 90 * time.Minute, "1,5 hours": 90 * time.Minute,
		"2-3 hours": 3 * time.Hour, "2–3 hours": 3 * time.Hour, "2 to 3 days": 72 * time.Hour, "1h30m": 90 * time.Minute,
		"24h1m5s":    24*time.Hour + time.Minute + 5*time.Second,
		"1 h 30 min": 90 * time.Minute, "about an hour": time.Hour, "half an hour": 30 * time.Minute,
		"half a day": 12 * time.Hour,
		"a day":      24 * time.Hour, "two weeks": 14 * 24 * time.Hour, "90 seconds": 90 * time.Second,
		"30s":         30 * time.Second,
		"~20 minutes": 20 * time.Minute, "15 minutes (mostly waiting)": 15 * time.Minute, "ONE HOUR": time.Hour,
		"": 0, "unknown": 0, "soon": 0, "a few hours": 0, "3": 0, "3 files": 0, "3 modules": 0, "500 years": 0,
		"99999999999999 weeks": 0,
		"400 days":             0, "2026-01-11": 0,
	} {
		if got := ParseEstimate(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
