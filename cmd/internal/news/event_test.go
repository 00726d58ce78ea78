package news

import (
	"encoding/json"
	"strings"
	"testing"

	"claude-supervise/supervisor/notice"
)

// A program that reads --json sees the status of a refusal as a number, and no such field elsewhere.
func TestTheEventOfARefusalHasItsStatus(t *testing.T) {
	for status, want := range map[int]string{529: `"text":"refused","api_status":529}`, 0: `"text":"refused"}`} {
		line, err := json.Marshal(Event(notice.Notification{Type: notice.Progress, Text: "refused",
			APIStatus: status}))
		if err != nil || !strings.HasSuffix(string(line), want) {
			t.Errorf("%d: %s, %v", status, line, err)
		}
	}
}

// A person reads the name of a server's tool as words; a program that reads --json has the tool's own name.
func TestAProgressLineNamesAServersToolReadably(t *testing.T) {
	n := notice.Notification{Type: notice.Progress, Text: "mcp__shop__order: size: M"}
	if got := Words(n); got != "shop: order: size: M" {
		t.Errorf("a person reads %q", got)
	}
	line, err := json.Marshal(Event(n))
	if err != nil || !strings.Contains(string(line), `"text":"mcp__shop__order: size: M"`) {
		t.Errorf("a program reads %s, %v", line, err)
	}
}
