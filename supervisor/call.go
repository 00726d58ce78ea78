package supervisor

import (
	"slices"

	"claude-supervise/checkpoints"
)

// forget takes a reply from a launch.
func (d *transition) forget(l *Launch, request string) {
	l.Replies = slices.DeleteFunc(slices.Clone(l.Replies), func(r checkpoints.Reply) bool { return r.Request == request })
}

// knowsRequest reports whether a call was read before.
func (d *transition) knowsRequest(l *Launch, request string) bool {
	if l.ReplyAt(request) >= 0 {
		return true
	}
	return len(d.FindQuestionsOf(l.Agent, func(q *Question) bool {
		return q.Tool != nil && q.Tool.Launch == l.N && q.Tool.Request == request
	})) > 0
}
