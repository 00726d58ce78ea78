package request

import (
	"encoding/json"
	"fmt"
	"os"

	"claude-supervise/supervisor/task"
)

// BackgroundRun is the variable that tells a supervisor in the background which run it is for.
const BackgroundRun = "CLAUDE_SUPERVISE_BACKGROUND"

// BackgroundBrief is the variable that gives a supervisor in the background what was typed for its task before, and for
// those of its children, as JSON.
const BackgroundBrief = "CLAUDE_SUPERVISE_BRIEF"

// collectedBefore returns what was typed for the task of this supervisor in the background, and takes it out of the
// environment: what the supervisor starts has no use for it.
func collectedBefore() (b []task.Brief, err error) {
	text := os.Getenv(BackgroundBrief)
	if text == "" || !InBackground() {
		return b, nil
	}
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return b, fmt.Errorf("%s: %w", BackgroundBrief, err)
	}
	return b, os.Unsetenv(BackgroundBrief)
}

// InBackground reports whether this process is a supervisor in the background.
func InBackground() bool { return os.Getenv(BackgroundRun) != "" }
