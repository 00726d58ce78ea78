package taskfile

import (
	"strconv"

	"claude-supervise/supervisor/task"
)

// Work returns stated children as a supervisor takes them, each after the one that it stands below. shared is what all
// of them have to know.
func Work(children []Child, shared string) []task.Child {
	var all []task.Child
	called := map[string]string{} // the keys of those that have a name
	var add func(children []Child, parent string)
	add = func(children []Child, parent string) {
		for _, c := range children {
			key := strconv.Itoa(len(all))
			if c.Name != "" {
				called[c.Name] = key
			}
			all = append(all, task.Child{Agent: key, Parent: parent, Work: c.work(shared)})
			add(c.Children, key)
		}
	}
	add(children, "")
	for i := range all {
		for n, name := range all[i].Said.After {
			all[i].Said.After[n] = called[name]
		}
	}
	return all
}

// Item returns the task of a pool that is about an item, as a supervisor takes it.
func (c Child) Item(item string, place int, shared string) task.Child {
	c.Task = c.about(item, place)
	w := c.work(shared)
	w.Said.Item = item
	return task.Child{Agent: strconv.Itoa(place), Work: w}
}

func (c Child) work(shared string) task.Work {
	b := c.Brief
	b.Context = joined(shared, b.Context)
	w := task.Work{
		Task: b.Compose(c.Prompt), Priority: c.Priority, SuccessCriteria: b.SuccessCriteria, Deliverables: b.Deliverables,
		Budget: c.Budget,
	}
	w.Said.Name, w.Said.Independence, w.Said.After = c.Name, task.Independence(c.Independence),
		append([]string(nil), c.After...)
	w.Said.Type, w.Said.Model, w.Said.MaxTurns, w.Said.Estimated = c.Type, c.Model, c.MaxTurns, c.Estimated
	return w
}

// joined sets one text below another.
func joined(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "\n\n" + b
}
