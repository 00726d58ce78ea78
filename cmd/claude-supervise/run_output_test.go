package main

import (
	"encoding/json"
	"strings"
	"testing"

	"claude-supervise/supervisor"
)

// A program that reads --json sees the status of a refusal as a number, and no such field elsewhere.
func TestTheEventOfARefusalHasItsStatus(t *testing.T) {
	for status, want := range map[int]string{529: `"text":"refused","api_status":529}`, 0: `"text":"refused"}`} {
		line, err := json.Marshal(event(supervisor.Notification{Type: supervisor.Progress, Text: "refused",
			APIStatus: status}))
		if err != nil || !strings.HasSuffix(string(line), want) {
			t.Errorf("%d: %s, %v", status, line, err)
		}
	}
}
