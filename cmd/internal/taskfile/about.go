package taskfile

import (
	"cmp"
	"errors"
	"time"

	"claude-supervise/supervisor/conf"
)

// About returns the file of one task of a pool, as a run of its own: what f states of each item, about the item at a
// place from 1. Limits of f and of its template hold for this run, the narrower of both. What only says how agents of
// one run stand to one another, as priority and independence do, is left out.
func (f File) About(item string, place int) (File, error) {
	one, task := f, f.Task
	one.Each, one.Template = nil, nil
	if t := f.Template; t != nil {
		switch {
		case f.Prompt != "":
			return one, errors.New("it has a prompt beside child: what is to be done once all have ended is a run of its " +
				"own; leave the prompt out")
		case t.Type != "":
			return one, errors.New("its child has a subagent_type, which an agent has only below another; leave it out")
		}
		task = t.Task
		task.Brief.Context = joined(f.Brief.Context, t.Brief.Context)
		task.Model, task.MaxTurns = cmp.Or(t.Model, f.Model), narrower(t.MaxTurns, f.MaxTurns)
		task.Estimated = cmp.Or(t.Estimated, f.Estimated)
		task.Budget = conf.Budget{
			CostUSD: narrower(t.Budget.CostUSD, f.Budget.CostUSD), Tokens: narrower(t.Budget.Tokens, f.Budget.Tokens),
			Time: narrower(t.Budget.Time, f.Budget.Time), Turns: narrower(t.Budget.Turns, f.Budget.Turns),
		}
	}
	one.Task = task.about(item, place)
	return one, nil
}

// narrower returns the lower of two limits, of which 0 is none.
func narrower[T int | int64 | float64 | time.Duration](a, b T) T {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Names reports whether any text of the pool's tasks says what each is about.
func (f File) Names() bool {
	if f.Template != nil {
		return f.Template.Names()
	}
	return f.Task.Names()
}
