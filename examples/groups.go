package examples

import "strings"

// A Group are the scenarios that show the same thing, those to begin with first.
type Group struct {
	Title string // what they show
	Names []string
}

// Groups has each built-in scenario once, sorted by what it shows.
func Groups() []Group {
	groups := make([]Group, len(grouped))
	for i, g := range grouped {
		groups[i] = Group{g[0], strings.Fields(g[1])}
	}
	return groups
}

var grouped = [][2]string{
	{"To begin with", "tour ask permission-edit stop delegate-asked"},
	{"Questions, in each form that agents ask in",
		"several tool-ask ask-user-question typed-questions picture json-form id-less prose-question asks-again assume " +
			"elicitation elicitation-url tools"},
	{"Permissions", "permission permission-denied refused plan"},
	{"Blockers", "stop-proposals stop-split stop-give-up"},
	{"Agents that start agents", "delegate-parallel delegate-tree delegate-block delegate-optional delegate-denied " +
		"delegate-checked delegate-steered delegate-failing delegate-silent-child overrun"},
	{"Subagents in the same process", "subagent-asks two-subagents-ask nested-subagents-ask background-subagent-asks " +
		"subagent-pauses subagent-reports subagent-fails"},
	{"How a run ends", "partial failed-report missing-deliverable still-missing no-report unreported background work"},
	{"What goes wrong outside", "crash limit overloaded credit login compaction foreign"},
	{"Tasks to copy, in examples/", "document-update-review security-analysis mutation-testing business-rules " +
		"code-review parallel-merge sequential shared-findings error-recovery workflow"},
}
