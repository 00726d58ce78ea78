package ask

import (
	"sync"

	"claude-supervise/procs"
	"claude-supervise/signals"
)

// Served returns the tools by which agents ask and report, as the process of a launch serves them. They are the same
// for all.
var Served = sync.OnceValue(func() []procs.Tool {
	var tools []procs.Tool
	for _, t := range signals.Tools() {
		tools = append(tools, procs.Tool(t))
	}
	return tools
})
