package examples

import (
	"fmt"
	"slices"
	"strings"
)

// This file is what a conversation tells of the tree of agents that it belongs to, in the words of its supervisor:
// whose it is, what was delegated to it, and what has become of the agents that it has delegated work to itself.

// What the supervisor's texts are known by. The heading of the task stands in the first thing that it says to an agent.
// A conversation that was begun with another's (a fork, a task that continues that of an ended agent) has one for each;
// the newest is its own.
const (
	taskHeading = "## YOUR TASK"
	endHeading  = "## DELEGATED WORK ENDED"
)

var (
	parentID   = Lazily(`(?m)^Your parent: agent (a-[0-9A-Za-z]{12})\b`)
	launchedID = Lazily(`^New agent launched: (a-[0-9A-Za-z]{12})\b`)
	endedID    = Lazily(`^Agent: (a-[0-9A-Za-z]{12})\b`)
	outcome    = Lazily(`^Outcome: (\w+)`)
)

// Agent returns the id of the agent whose conversation it is, "" if nothing in it tells.
func Agent(conversation []Message) string {
	if _, text := opening(conversation); agentID().MatchString(text) {
		return agentID().FindString(text)
	}
	for _, role := range []Role{User, System} { // what a compaction leaves has it from a hook
		if id := first(conversation, role, agentID()); id != nil {
			return id[0]
		}
	}
	return ""
}

// opening finds the text by which the agent was given its task, and its message; "" and the first in the conversation
// of a subagent.
func opening(conversation []Message) (at int, text string) {
	for at, m := range slices.Backward(conversation) {
		if m.Role != User {
			continue
		}
		for _, text := range slices.Backward(m.Texts) {
			if strings.Contains(text, taskHeading) {
				return at, text
			}
		}
	}
	return 0, ""
}

// turnsOf returns the turns of the agent whose conversation it is: those of the child whose task it was given, else the
// scenario's own. A child that the scenario does not know gets none: by the turns of its parent it would delegate for
// ever.
func (s Scenario) turnsOf(conversation []Message) ([]Turn, error) {
	_, text := opening(conversation)
	_, task, _ := strings.Cut(text, taskHeading)
	task = strings.TrimSpace(task)
	for _, c := range s.Children {
		if strings.HasPrefix(task, c.Task) {
			return c.Turns, nil
		}
	}
	if (len(s.Children) > 0 || s.Otherwise != "") && parentID().MatchString(text) {
		line, _, _ := strings.Cut(task, "\n")
		return nil, fmt.Errorf("scenario %s: it has no child whose task begins as %q does", s.Name, line)
	}
	return s.Turns, nil
}

// offspring are the agents that an agent has delegated work to, in the order in which it was told of them.
type offspring struct {
	ids   []string
	ended int // how many ends it was told of
	// placeholders: {{child1}} is the first one's id, {{child1.outcome}} and {{child1.summary}} are of its end
	known map[string]string
}

// offspringOf reads them from what was said to the agent since it was given its task.
func offspringOf(conversation []Message) offspring {
	o := offspring{known: map[string]string{}}
	told := map[string]bool{}
	at, _ := opening(conversation)
	for _, m := range conversation[at:] {
		if m.Role == Assistant {
			continue
		}
		for _, text := range m.Texts {
			if told[text] {
				continue // what comes in the middle of a turn some releases show twice
			}
			told[text] = true
			o.learn(text)
		}
	}
	return o
}

// learn takes a text line by line. What a child wrote itself is set off in it.
func (o *offspring) learn(text string) {
	heading, child, summary := "", "", false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "## ") {
			heading, child = line, ""
		}
		if m := launchedID().FindStringSubmatch(line); m != nil {
			o.name(m[1])
		}
		if m := endedID().FindStringSubmatch(line); m != nil && heading == endHeading {
			child = o.name(m[1])
			o.ended++
		}
		if m := outcome().FindStringSubmatch(line); m != nil && child != "" {
			o.known[child+".outcome"] = m[1]
		}
		switch {
		case line == "Summary:":
			summary = true
			delete(o.known, child+".summary")
		case summary && child != "" && strings.HasPrefix(line, " "):
			o.known[child+".summary"] = strings.TrimSpace(o.known[child+".summary"] + " " + strings.TrimSpace(line))
		default:
			summary = false
		}
	}
}

// name returns the placeholder's name of an agent.
func (o *offspring) name(id string) string {
	at := slices.Index(o.ids, id)
	if at < 0 {
		at = len(o.ids)
		o.ids = append(o.ids, id)
	}
	name := fmt.Sprintf("child%d", at+1)
	o.known[name] = id
	return name
}
