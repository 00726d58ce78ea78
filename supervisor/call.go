package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
)

// answerAtOnce replies to a call that nobody has to be asked about.
func answerAtOnce(l *Launch, r checkpoints.Reply) { l.Replies = append(slices.Clip(l.Replies), r) }

// ReplyAt returns the place of the reply to a request among those of a launch, or -1.
func ReplyAt(l *Launch, request string) int {
	return slices.IndexFunc(l.Replies, func(r checkpoints.Reply) bool { return r.Request == request })
}

// forget takes a reply from a launch.
func (d *transition) forget(l *Launch, request string) {
	l.Replies = slices.DeleteFunc(slices.Clone(l.Replies), func(r checkpoints.Reply) bool { return r.Request == request })
}

// knowsRequest reports whether a call was read before.
func (d *transition) knowsRequest(l *Launch, request string) bool {
	if ReplyAt(l, request) >= 0 {
		return true
	}
	return len(d.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return q.Tool != nil && q.Tool.Launch == l.N && q.Tool.Request == request
	})) > 0
}
