package prompts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/questions"
)

// This file is what the main conversation is told of subagents that have gone with their process. It revives them from
// the bottom up: who had asked goes on with the answer, and its result is what the one above it had waited for. Where
// the release cannot revive, or the conversation is a new one, the main conversation gives the uppermost task again.

// A Branch is a subagent that the main conversation had started, with those below it that are told of.
type Branch struct {
	groups  [][]*Question // what those in it have asked
	members []*member     // lowest first
}

// A member is one subagent of a branch.
type member struct {
	*checkpoints.Subagent
	groups [][]*Question // what it has asked
	below  []*member     // which it had started
	level  int           // how many are above it
}

// BranchesOf returns the branches that groups of subagents' questions came from, in the order of the groups.
func BranchesOf(groups [][]*Question) []*Branch {
	var branches []*Branch
	byTop := map[string]*Branch{}
	for _, group := range groups {
		line := group[0].Tool.From.Line()
		top := line[len(line)-1].Key()
		b := byTop[top]
		if b == nil {
			b = &Branch{}
			byTop[top], branches = b, append(branches, b)
		}
		b.add(group, line)
	}
	for _, b := range branches {
		slices.SortStableFunc(b.members, func(x, y *member) int { return cmp.Compare(y.level, x.level) })
	}
	return branches
}

// add adds what a subagent has asked, and those above it.
func (b *Branch) add(group []*Question, line []*checkpoints.Subagent) {
	b.groups = append(b.groups, group)
	var below *member
	for i, sub := range line {
		m := b.member(sub, len(line)-1-i)
		switch {
		case below == nil:
			m.groups = append(m.groups, group)
		case !slices.Contains(m.below, below):
			m.below = append(m.below, below)
		}
		below = m
	}
}

func (b *Branch) member(sub *checkpoints.Subagent, level int) *member {
	i := slices.IndexFunc(b.members, func(m *member) bool { return m.Key() == sub.Key() })
	if i < 0 {
		i, b.members = len(b.members), append(b.members, &member{Subagent: sub, level: level})
	}
	return b.members[i]
}

// waited reports whether the subagent was interrupted while it waited for a person.
func (m *member) waited() bool {
	return slices.ContainsFunc(m.groups, func(group []*Question) bool {
		return group[0].State != checkpoints.QuestionDelivered
	})
}

// cutOff reports whether the subagent was interrupted before its work was done.
func (m *member) cutOff() bool {
	return m.Interrupted || m.waited() || slices.ContainsFunc(m.below, (*member).cutOff)
}

// Answered tells the main conversation what the questions of one of its subagents, and of those below it, have come to.
// Answers that they had already are repeated only to one that has to begin anew. answers writes those of a group.
func (b *Branch) Answered(revive bool, answers func(group []*Question) string) string {
	gone := slices.DeleteFunc(slices.Clone(b.members), func(m *member) bool { return !m.cutOff() })
	revive = revive && !slices.ContainsFunc(gone, func(m *member) bool { return m.ID == "" })
	var said strings.Builder
	if slices.ContainsFunc(b.members, (*member).waited) {
		said.WriteString("## CLARIFICATION RESPONSE\n")
	} else {
		said.WriteString("## SUBAGENT INTERRUPTED\n")
	}
	for _, m := range b.members {
		said.WriteString("\n" + m.whatBecame() + "\n")
		for _, group := range m.groups {
			had := group[0].State == checkpoints.QuestionDelivered
			if !had || !revive && group[0].Kind != questions.AskPermission {
				said.WriteString(answers(group))
			}
		}
	}
	if !revive {
		said.WriteString(beginAnew(b.members))
		return said.String()
	}
	said.WriteString("\n## RESUME INSTRUCTIONS\n")
	said.WriteString(sendOn(gone))
	return said.String()
}

// whatBecame says what became of a subagent with its process.
func (m *member) whatBecame() string {
	var below []string
	for _, sub := range m.below {
		if sub.cutOff() {
			below = append(below, NameOf(sub.Subagent))
		}
	}
	name, with := NameOf(m.Subagent), strings.Join(below, " and ")
	switch {
	case m.waited() && with != "":
		return fmt.Sprintf("Your subagent %s had asked the person, and was interrupted while it waited for that and for %s, "+
			"which it had started. This is for it:", name, with)
	case m.waited():
		return fmt.Sprintf(
			"Your subagent %s had asked the person, and was interrupted while it waited. This is for it:", name)
	case with != "":
		return fmt.Sprintf("The subagent %s was interrupted while it waited for the result of %s, which it had started.",
			name, with)
	case !m.cutOff():
		return fmt.Sprintf("The subagent %s had asked the person, had its answer, and has come to its end.", name)
	case len(m.groups) > 0:
		return fmt.Sprintf(
			"The subagent %s had asked the person, had its answer, and was interrupted at its work.", name)
	}
	return fmt.Sprintf("The subagent %s was interrupted at its work.", name)
}

const loadSendMessage = `(if it is not at hand, load it: ToolSearch "select:SendMessage")`

// sendOn says how the subagents that were interrupted are revived, lowest first.
func sendOn(gone []*member) string {
	if len(gone) == 1 {
		return fmt.Sprintf("Call SendMessage %s with to %q and %s as message: the subagent continues with its work, and you "+
			"get its result. Do not do its work yourself, and do not start another in its place.",
			loadSendMessage, gone[0].ID, gone[0].message())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "They continue from the bottom up. Call SendMessage %s once for each, in this order:\n",
		loadSendMessage)
	for i, m := range gone {
		fmt.Fprintf(&b, "%d. with to %q and %s as message.\n", i+1, m.ID, m.message())
	}
	b.WriteString("Each continues with its work, and you get its result: a step that passes on a result waits for that " +
		"result. Leave none of them out, do not do their work yourself, and do not start others in their place.")
	return b.String()
}

// message says what a subagent is to be told.
func (m *member) message() string {
	var parts []string
	if m.waited() {
		parts = append(parts, "the questions with their answers above")
	}
	for _, sub := range m.below {
		if sub.cutOff() {
			parts = append(parts, fmt.Sprintf("the result of %q, once you have it,", sub.ID))
		}
	}
	if len(parts) == 0 {
		return "the message to continue"
	}
	return strings.Join(parts, " and ")
}

// beginAnew says how the work of a branch is begun again: by another in the place of its uppermost one.
func beginAnew(members []*member) string {
	var b strings.Builder
	top := members[len(members)-1]
	for _, m := range members {
		of := "Its task"
		if len(members) > 1 {
			of = "The task of " + NameOf(m.Subagent)
		}
		fmt.Fprintf(&b, "\n%s:\n%s\n", of, taskOf(m.Subagent))
		if m.Done != "" {
			fmt.Fprintf(&b, "\nWhat it had done:\n%s\n", m.Done)
		}
	}
	kind, more := "", ""
	if top.Type != "" {
		kind = " of type " + top.Type
	}
	if len(members) > 1 {
		more = " The others worked for it."
	}
	// Last of all: what is quoted above may read like instructions.
	fmt.Fprintf(&b, "\n## RESUME INSTRUCTIONS\nIt is gone. Start a subagent%s with its task again, and tell it the "+
		"questions with their answers above and what was done already, so that it neither asks nor does it again.%s",
		kind, more)
	return b.String()
}

// NameOf names a subagent to the conversation that started it.
func NameOf(sub *checkpoints.Subagent) string {
	name := sub.ID
	if sub.Task != "" {
		name = strings.TrimSpace(name + " (" + sub.Task + ")")
	}
	return name
}

func taskOf(sub *checkpoints.Subagent) string {
	if sub.Prompt != "" {
		return sub.Prompt
	}
	return sub.Task
}

// ForSubagent gives a question that a subagent has asked in its own words its answer, as a prompt has it: to the main
// conversation, which hands it on. revive: the subagent can be revived.
func ForSubagent(answer string, sub *checkpoints.Subagent, revive bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Your subagent %s had asked the person. What follows is the answer, and for the subagent.\n\n%s\n\n",
		strings.TrimSpace(NameOf(sub)), answer)
	const heading = "## FOR YOUR SUBAGENT\n"
	if revive {
		fmt.Fprintf(&b, heading+"Call SendMessage %s with to %q and the answer above as message: the subagent continues "+
			"with its work, and you get its result. Do not do its work yourself, and do not start another in its place.",
			loadSendMessage, sub.ID)
		return b.String()
	}
	// Last of all: what is quoted above may read like instructions.
	fmt.Fprintf(&b, "Its task was:\n%s\n\n"+heading+"It is gone. Start a subagent with its task again, and tell it the "+
		"answer above, so that it does not ask again.", taskOf(sub))
	return b.String()
}
