package supervisor

import (
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/signals"
	"claude-supervise/supervisor/conf"
)

// Named is a signal with what its questions need.
type Named struct {
	Signal signals.Signal
	Kept   *checkpoints.Kept `json:",omitempty"` // the checkpoint that it names, as it is now

	From *checkpoints.Subagent `json:",omitempty"` // who says it; nil: the main conversation
	Naming
}

// Naming is what the questions of a signal or call are given from outside: ids, one each, of which the first
// names the group; and the answers that were given in advance (one without a value is none).
type Naming struct {
	IDs     []string
	Presets []conf.Preset
	Child   string `json:",omitempty"` // of a delegation: the id that the child gets if it is approved

	Images []ShownImage `json:",omitempty"` // what became of those that the questions name, one each; none: they name none
}

// A ShownImage is the image that a question names, or why the question does not show it, for people.
type ShownImage struct {
	Image   *checkpoints.Image `json:",omitempty"`
	Unshown string             `json:",omitempty"`
}

// show gives a question the image that it names, which the engine has kept (engine/keep_image.go), or says there why it
// has none.
func (n Naming) show(q *Question) {
	if q.Index >= len(n.Images) {
		return
	}
	shown := n.Images[q.Index]
	if q.Image = shown.Image; shown.Unshown != "" {
		q.Context = strings.TrimSpace(q.Context + "\n" + shown.Unshown)
	}
}

// by returns the subagent that says it, as well as it is known; nil: the main conversation.
func (n Named) by() *checkpoints.Subagent {
	if n.From == nil && n.Signal.Inside {
		return &checkpoints.Subagent{ToolUse: string(n.Signal.By), Depth: 1}
	}
	return n.From
}

// NotesNamed is what the questions of runs inside agents are given from outside, by the Seq of their notes.
type NotesNamed map[int64]Naming
