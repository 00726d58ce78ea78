package claude

import (
	"strings"
	"time"
)

// TakenIn reports whether the conversation, or one of a subagent, shows that a script had the answer to what it asked
// by a file at a time. The script ran in a call of Bash that was open then: its result holds the answer, or there is
// nothing open any more that the script could run in. A result that the CLI wrote in the place of one shows nothing.
func TakenIn(transcript string, asked time.Time, answer string) (bool, error) {
	subagents, err := subagentsOf(transcript)
	if err != nil {
		return false, err
	}
	ran, ended := 0, 0
	for _, path := range append([]string{transcript}, subagents...) {
		open := map[string]bool{}
		shown := false
		err := scanTranscript(path, "tool_", func(l *line) bool {
			at, _ := time.Parse(time.RFC3339, l.Timestamp) // without one it is as of old
			for _, b := range l.Message.Content {
				switch {
				case b.Type == "tool_use" && b.Name == "Bash" && !at.After(asked):
					open[b.ID] = true
				case b.Type != "tool_result" || !open[b.ToolUseID]:
				case at.Before(asked):
					delete(open, b.ToolUseID)
				default:
					delete(open, b.ToolUseID)
					ran++
					if text := b.Content.Text(); !(b.IsError && inPlaceOfAnswer(text)) {
						ended++
						shown = shown || strings.Contains(text, answer)
					}
				}
			}
			return shown
		})
		if err != nil || shown {
			return shown, err
		}
		ran += len(open)
	}
	return ran > 0 && ran == ended, nil
}
