package signals

// Kind says what an agent tells its supervisor. The words are those of `lint --json`.
type Kind string

// The kinds of signal (002 protocols 2 to 5, and 000's WORKFLOW_COMPLETE).
const (
	Clarification    Kind = "clarification_needed"
	Stop             Kind = "stop_work"
	Delegate         Kind = "delegate_work"
	Completion       Kind = "completion_report"
	Progress         Kind = "progress"
	Message          Kind = "message"
	WorkflowComplete Kind = "workflow_complete"
)

// Dialect says in which written form a signal came.
type Dialect string

// The dialects. Each is one file of this package, but for Tool: calls of the supervisor's own tools.
const (
	Block        Dialect = "block"
	JSON         Dialect = "json"
	Awaiting     Dialect = "awaiting"
	Paused       Dialect = "paused"
	Escalated    Dialect = "escalated"
	Marker       Dialect = "marker"
	TaskMetadata Dialect = "task_metadata"
	Tool         Dialect = "tool"
)

// A Signal is one thing an agent told its supervisor, whatever form it was written in.
// It is a plain value: it survives a round through JSON unchanged.
type Signal struct {
	Kind      Kind       `json:"kind"`
	Dialect   Dialect    `json:"dialect"`
	AgentID   string     `json:"agent_id"`
	Timestamp string     `json:"timestamp,omitempty"` // as written
	Line      int        `json:"line"`                // of the opening marker, from 1, in the text of this turn
	EndLine   int        `json:"end_line"`
	Fields    []Field    `json:"fields,omitempty"` // all other top-level fields, in order, unknown ones included
	Questions []Question `json:"questions,omitempty"`
	Raw       string     `json:"raw,omitempty"` // the text as it stood, bounded by MaxRaw bytes
	// another agent's id, or a template not filled in: shown, never acted on
	Foreign  bool      `json:"foreign,omitempty"`
	Inside   bool      `json:"inside,omitempty"` // said by a subagent
	By       Source    `json:"by,omitempty"`     // which one, as the source of what it says names it
	Problems []Problem `json:"problems,omitempty"`
}

// A Field is one top-level member of a signal. Scalars stay as written; lists and maps are kept as YAML text.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Question is one question of a clarification.
type Question struct {
	ID          string   `json:"id"` // the agent's own, e.g. Q1; made up (Q1, Q2, …) where it gave none
	Text        string   `json:"text"`
	Header      string   `json:"header,omitempty"`
	Context     string   `json:"context,omitempty"`
	Options     []Option `json:"options,omitempty"`
	MultiSelect bool     `json:"multi_select,omitempty"`
	Validate    string   `json:"validate,omitempty"`  // choice, path, regex:…, integer, number (ReadNumber), yes_no
	Optional    bool     `json:"optional,omitempty"`  // the signal said all_required: false
	Urgent      bool     `json:"urgent,omitempty"`    // it, or the signal for all, says that it cannot wait
	OwnWords    bool     `json:"own_words,omitempty"` // of a question file: an answer may be none of the options
	Image       string   `json:"image,omitempty"`     // the path of one that it shows, as the agent names it

	// Of one that does not stop the work: what its agent goes on with until it is answered, and the paths of what it
	// makes under that.
	Assumption string   `json:"assumption,omitempty"`
	Affects    []string `json:"affects,omitempty"`
}

// An Option is one offered answer.
type Option struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"` // what choosing it would look like: code, a layout
}

// A Problem is a fault of form that a person should know of. The signal counts all the same if a person can act on it.
type Problem struct {
	Line int `json:"line"`
	// missing_field, bad_yaml, bad_json, bad_timestamp, bad_value, unclosed, unopened, unknown_signal, foreign,
	// duplicate_key, bad_id, truncated
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Field returns the value of a top-level field, "" where it is missing.
func (s Signal) Field(name string) string {
	for _, f := range s.Fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}
