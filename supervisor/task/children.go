package task

import (
	"fmt"
	"slices"

	"claude-supervise/checkpoints"
)

// Independence says how the work of a child and that of its parent hang together.
type Independence = checkpoints.Independence

// Identified gives stated work the ids of the agents that do it, which newID makes. Until then Agent, Parent and
// Said.After hold the names that the task gives it, "" what has none.
//
// What comes after an agent comes after all that stands below it, for that has ended before it; and what stands below
// an agent comes after whatever that comes after.
func Identified(stated []Child, newID func() string) []Child {
	if len(stated) == 0 {
		return nil
	}
	ids := map[string]string{"": ""}
	after := map[string][]string{} // ids, by name
	children := make([]Child, len(stated))
	for i, c := range stated {
		children[i] = c
		children[i].Agent = newID()
		if c.Agent != "" {
			ids[c.Agent] = children[i].Agent
		}
	}
	for i := range children {
		c := &children[i]
		before := slices.Clone(after[c.Parent])
		for _, name := range c.Said.After {
			if id := known(ids, name); !slices.Contains(before, id) {
				before = append(before, id)
			}
		}
		if c.Said.After = before; stated[i].Agent != "" {
			after[stated[i].Agent] = before
		}
		c.Parent = known(ids, c.Parent)
	}
	return children
}

func known(ids map[string]string, name string) string {
	id, ok := ids[name]
	if !ok {
		panic(fmt.Sprintf("supervisor: no work is called %q", name))
	}
	return id
}

// Optional work is not waited for.
const Optional = checkpoints.Optional
