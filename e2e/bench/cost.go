package main

import (
	"fmt"
	"slices"
)

// A cost is what one more question that is answered adds to what is asked of the model, at the median.
type cost struct {
	way      string
	requests float64 // there are more
	sent     float64 // bytes of their bodies
	fresh    float64 // bytes that no request before began with: what the API's cache does not hold
	messages float64 // in the conversation
}

// cost reckons it from the requests that the first answers have caused.
func (m *measured) cost(w way) cost {
	var requests, sent, fresh, messages []int
	task := m.caused[0]
	before := task[len(task)-1]
	for _, caused := range m.caused[1:fewest] {
		last := caused[len(caused)-1]
		bytes, beyond := 0, 0
		previous := before
		for _, r := range caused {
			bytes, beyond = bytes+r.size, beyond+r.beyond(previous)
			previous = r
		}
		requests, sent = append(requests, len(caused)), append(sent, bytes)
		fresh, messages = append(fresh, beyond), append(messages, last.messages-before.messages)
		before = last
	}
	return cost{w.name, middle(requests), middle(sent), middle(fresh), middle(messages)}
}

func middle(of []int) float64 {
	slices.Sort(of)
	return float64(of[len(of)/2])
}

// costs prints what a question costs in each of the ways. Its own words, and those of its answer, are the least that
// must be new in the conversation.
func (b *bench) costs(all []cost) {
	words := len(questionText(0)) + len(theContext) + len(theAnswer)
	row := func(cells ...any) { _, _ = fmt.Fprintf(b.table.out, "%-32s %9s %11s %11s %9s\n", cells...) }
	_, _ = fmt.Fprintf(b.table.out, "\nOne more answered question (%d bytes of question, context and answer) costs\n",
		words)
	row("way", "requests", "bytes sent", "bytes new", "messages")
	for _, c := range all {
		row(c.way, short(c.requests), short(c.sent), short(c.fresh), short(c.messages))
	}
	_, _ = fmt.Fprintln(b.table.out)
}
