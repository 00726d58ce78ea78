package web

import (
	"context"
	"reflect"
	"slices"
	"time"

	"claude-supervise/supervisor/view"
)

// An answer that came by this server is told at once. The look at thousands of runs that finds it, too, comes later.

// closed takes a question that was open and is not any more, as it is now, off the desk and tells the readers. A look
// that began before may still find it open; the first one that does not is its proof.
func (d *desk) closed(q view.QuestionView) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := slices.IndexFunc(d.now.Questions, func(was view.QuestionView) bool { return sameQuestion(was, q) })
	if at < 0 || q.State == "open" || d.now.Gone != nil {
		return
	}
	d.now.Questions = slices.Delete(slices.Clone(d.now.Questions), at, at+1) // others hold the list that was
	d.ahead = append(d.ahead, closedAhead{q, time.Now()})
	d.tellQuestion(d.now, q, "")
}

// A closedAhead is a question that was told as closed before a look has found it so.
type closedAhead struct {
	view.QuestionView
	at time.Time
}

func sameQuestion(a, b view.QuestionView) bool { return a.Run == b.Run && a.ID == b.ID }

// withoutTold takes out of an overview what was told ahead of it. The lock is held.
func (d *desk) withoutTold(o view.Overview) view.Overview {
	d.ahead = slices.DeleteFunc(d.ahead, func(told closedAhead) bool {
		same := func(q view.QuestionView) bool { return sameQuestion(q, told.QuestionView) }
		open := slices.ContainsFunc(o.Questions, same)
		if open && o.At.Before(told.at) { // it began before the answer
			o.Questions = slices.DeleteFunc(slices.Clone(o.Questions), same)
			return false
		}
		o.Closed = slices.DeleteFunc(slices.Clone(o.Closed), func(q view.QuestionView) bool {
			return !open && reflect.DeepEqual(q, told.QuestionView)
		})
		return true
	})
	return o
}

// refreshClosed waits until a look has found a question that was just answered to be open no more: whoever has answered
// it sees what became of its run.
func (d *desk) refreshClosed(ctx context.Context, q view.QuestionView) {
	d.refresh(ctx, func() bool {
		return !slices.ContainsFunc(d.ahead, func(told closedAhead) bool { return sameQuestion(told.QuestionView, q) }) &&
			!slices.ContainsFunc(d.now.Questions, func(now view.QuestionView) bool { return sameQuestion(now, q) })
	})
}
