package view

import (
	"time"

	"claude-supervise/supervisor/text"
)

// inReason are the times that the reason of a status has.
var inReason = text.Lazily(`(resumes at|tried again at|silent since) (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))`)

// Because gives the reason of a status as a person reads it: its times, which are RFC 3339 as they are stored, by their
// own clock.
func Because(reason string) string {
	return inReason().ReplaceAllStringFunc(reason, func(found string) string {
		words := inReason().FindStringSubmatch(found)
		at, err := time.Parse(time.RFC3339, words[2])
		if err != nil {
			return found
		}
		return words[1] + " " + Clock(at)
	})
}
