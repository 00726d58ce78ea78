package engine

import (
	"context"

	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/questions"
)

// prepare does what an answer needs before it is said.
func (e *engine) prepare(f supervisor.Effect) func(context.Context) result {
	s, b := e.state, e.preparedFor(e.state.Group(f.Question)[0])
	return func(ctx context.Context) result { return result{event: e.Prepare(ctx, s, f, b)} }
}

// preparedFor gives what an answer needs from outside before it is said, whatever is found on disk.
func (e *engine) preparedFor(first *supervisor.Question) supervisor.Prepared {
	b := supervisor.Prepared{Question: first.ID}
	r := questions.Resolve(first)
	if r.Asks() {
		kind, asked := supervisor.FurtherQuestion(r, first, e.state.Folder(first.Agent))
		b.Naming = e.naming(first.Agent, kind, []signals.Question{asked}, "")
	}
	if r.How == questions.DelegateIt {
		b.Child = e.IDs.Agent()
	}
	return b
}
