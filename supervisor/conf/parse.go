package conf

import (
	"fmt"
	"time"
)

// ParseHold reads how long a process waits for an answer: a duration as time.ParseDuration takes it, 0, or "forever",
// which is Forever.
func ParseHold(text string) (time.Duration, error) {
	if text == "forever" {
		return Forever, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("takes a duration such as 90s, 10m or 2h, 0 or forever, not %q", text)
	}
	return d, nil
}

// CheckPermissions tells why p is no way to treat permission prompts, as a file may say it. AskRefused is a
// person's own.
func CheckPermissions(p Permissions) error {
	if p != AskPermissions && p != DenyPermissions {
		return fmt.Errorf("takes ask or deny, not %q", p)
	}
	return nil
}
