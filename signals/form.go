package signals

import (
	"slices"
	"strings"
)

// A form is what the protocols document (002) says of one kind of block: which fields it has, which of them must be
// there, and which values a field may take.
type form struct {
	kind      Kind
	required  []string // beside agent_id, which every form requires
	fields    []string // the others that the document names, and ours
	values    map[string][]string
	mustStamp bool // the document's own examples of this kind all carry a timestamp
	nameless  bool // the document's own examples carry no agent_id
}

var forms = []form{
	{
		kind: Clarification, mustStamp: true,
		required: []string{"questions"},
		fields: []string{"blocked_at", "reason", "can_resume_with", "current_state", "all_required", "urgent",
			"blocking", "assumption", "affects", "image"},
	},
	{
		kind:     Stop,
		required: []string{"stop_reason", "blocker_type", "details"},
		fields: []string{"completed_work", "blocked_work", "options", "state_snapshot", "resume_requirements",
			"error_recovery"},
		values: map[string][]string{
			"stop_reason":  {"blocker", "error", "completion"},
			"blocker_type": {"missing_info", "external_dependency", "error", "resource_limit"},
		},
	},
	{
		kind: Delegate, mustStamp: true,
		required: []string{"new_task_description"},
		fields: []string{
			"delegation_reason", "independence", "priority", "context_required", "coordination", "estimated_duration",
			"subagent_type", "model", "max_turns", "fork_context", "resume",
		},
		values: map[string][]string{
			"independence": {"can_proceed_parallel", "blocks_current_work", "optional"},
			"priority":     {"P0", "P1", "P2"},
		},
	},
	{
		kind: Completion, mustStamp: true,
		required: []string{"status", "summary"},
		fields:   []string{"deliverables", "metrics_achieved", "issues_encountered", "recommendations", "total_duration"},
		values:   map[string][]string{"status": {"success", "partial_success", "failed"}},
	},
	{kind: Progress, fields: []string{"percent", "step", "eta"}},
	{kind: Message, fields: []string{"to", "text", "stop"}},
}

// formNamed finds the form of a marker's name or a signal_type, in any case.
func formNamed(name string) *form {
	for i := range forms {
		if strings.EqualFold(string(forms[i].kind), name) {
			return &forms[i]
		}
	}
	return nil
}

// name is what stands between the brackets of the form's markers.
func (f *form) name() string { return strings.ToUpper(string(f.kind)) }

// knows reports whether the document names the field for this form.
func (f *form) knows(field string) bool {
	return field == "agent_id" || field == "timestamp" || slices.Contains(f.required, field) ||
		slices.Contains(f.fields, field)
}

// snake spells a name the way the document does: agentId, agent-id and "Agent ID" are agent_id.
func snake(name string) string {
	plain := true
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			plain = false
			break
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	lower := false // the byte before was a lower-case letter or a digit
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			if lower {
				b.WriteByte('_')
			}
			b.WriteByte(c + 'a' - 'A')
			lower = false
		case c == ' ' || c == '-' || c == '_':
			b.WriteByte('_')
			lower = false
		default:
			b.WriteByte(c)
			lower = true
		}
	}
	return b.String()
}

// canonical is the document's spelling of a field that it names, and any other name as it was written.
func (f *form) canonical(name string) string {
	if s := snake(name); f.knows(s) {
		return s
	}
	return name
}
