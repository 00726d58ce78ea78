package flow

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/text"
	"claude-supervise/supervisor/view"
)

// What a worker tells of a run, and what lists show of it, crosses releases: it is in histories, and a fleet that is
// upgraded has workers of two releases. So it has structs of its own, which do not grow with those of package view.
//
// Fields may be added, never renamed or removed, and no decision rests on one that a worker of an earlier release does
// not know. Since changeShown the memo is set whatever these structs hold (shows). In histories from before, it was set
// where they had changed as JSON: what is compared there (frozen) leaves a field out that is added from now on.

// A RunInfo is a run as a worker tells of it.
type RunInfo struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Status        supervisor.Status `json:"status"`
	Reason        string            `json:"reason"`
	Summary       string            `json:"summary,omitempty"` // of one that has ended, at most maxSummary bytes
	Since         time.Time         `json:"since"`
	ExitCode      *int              `json:"exit_code"`
	Cwd           string            `json:"cwd"`
	StartedAt     time.Time         `json:"started_at"`
	EndedAt       *time.Time        `json:"ended_at"`
	CostUSD       float64           `json:"cost_usd"`
	SupervisorPID int               `json:"supervisor_pid"`
	Suspended     bool              `json:"suspended"`
	Agents        []AgentInfo       `json:"agents"`
	OpenQuestions []string          `json:"open_questions"`
	FromPack      string            `json:"from_pack"`
	Snapshot      *SnapshotInfo     `json:"snapshot"`
}

// A SnapshotInfo is the last snapshot of a run.
type SnapshotInfo struct {
	Folder   string     `json:"folder"`
	At       *time.Time `json:"at"`
	Problem  string     `json:"problem"`
	Due      bool       `json:"due"`
	TooLarge bool       `json:"too_large"`
}

// An AgentInfo is an agent of a run.
type AgentInfo struct {
	ID            string            `json:"id"`
	Parent        string            `json:"parent"`
	Depth         int               `json:"depth"`
	Task          string            `json:"task"`
	Status        supervisor.Status `json:"status"`
	Reason        string            `json:"reason"`
	Since         time.Time         `json:"since"`
	SessionID     string            `json:"session_id"`
	PID           int               `json:"pid"`
	Launches      int               `json:"launches"`
	Priority      string            `json:"priority"`
	CostUSD       float64           `json:"cost_usd"`
	InputTokens   int64             `json:"input_tokens"`
	OutputTokens  int64             `json:"output_tokens"`
	CacheRead     int64             `json:"cache_read_tokens"`
	CacheCreation int64             `json:"cache_creation_tokens"`
	ServiceTier   string            `json:"service_tier"`
	SilentSince   *time.Time        `json:"silent_since"`
	Who           string            `json:"who"`
	Name          string            `json:"name"`
	Independence  string            `json:"independence"`
	ToolUses      int               `json:"tool_uses"`
	LimitedUntil  *time.Time        `json:"limited_until"`
	QueuedSince   *time.Time        `json:"queued_since"`
	EndedAt       *time.Time        `json:"ended_at"`
	ExitCode      *int              `json:"exit_code"`
	Cwd           string            `json:"cwd"`
	OpenQuestions []string          `json:"open_questions"`
}

// A QuestionInfo is an open question of a run.
type QuestionInfo struct {
	ID            string                    `json:"id"`
	Run           string                    `json:"run"`
	Agent         string                    `json:"agent"`
	RunName       string                    `json:"run_name"`
	Cwd           string                    `json:"cwd"`
	Who           string                    `json:"who"`
	Kind          checkpoints.QuestionKind  `json:"kind"`
	State         checkpoints.QuestionState `json:"state"`
	Header        string                    `json:"header"`
	Question      string                    `json:"question"`
	Context       string                    `json:"context"`
	Options       []OptionInfo              `json:"options"`
	MultiSelect   bool                      `json:"multi_select"`
	Optional      bool                      `json:"optional"`
	Urgent        bool                      `json:"urgent"`
	Validate      string                    `json:"validate"`
	AskedAt       time.Time                 `json:"asked_at"`
	Asker         *AskerInfo                `json:"asker"`
	Answer        *string                   `json:"answer"`
	Skipped       bool                      `json:"skipped"`
	Declined      bool                      `json:"declined"`
	AnsweredAt    *time.Time                `json:"answered_at"`
	AnsweredBy    string                    `json:"answered_by"`
	AnswerCommand string                    `json:"answer_command"`
	Task          string                    `json:"task"`
	Child         string                    `json:"child"`
	AllowRule     string                    `json:"allow_rule"`
	Tool          string                    `json:"tool"`
	Input         json.RawMessage           `json:"input"`
	Assumption    string                    `json:"assumption,omitempty"`
	Affects       []string                  `json:"affects,omitempty"`
	Verdict       string                    `json:"assumption_state,omitempty"`
}

// An OptionInfo is an option of a question.
type OptionInfo struct {
	Label       string `json:"label"`
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// An AskerInfo is the subagent that asks.
type AskerInfo struct {
	ID    string `json:"id"`
	Type  string `json:"type"`
	Task  string `json:"task"`
	Depth int    `json:"depth"`
}

// InfoOfRun returns what a worker tells of a run.
func InfoOfRun(v view.RunView) RunInfo {
	v.Summary = text.Truncate(v.Summary, maxSummary)
	return as[RunInfo](v)
}

// maxSummary is how much is told of what a run has reported, in bytes: lists have it of each run.
const maxSummary = 400

// View returns the run as claude-supervise shows runs.
func (r RunInfo) View() view.RunView { return as[view.RunView](r) }

// InfoOfQuestion returns what a worker tells of a question.
func InfoOfQuestion(v view.QuestionView) QuestionInfo {
	if v.Image != nil {
		v.Context = strings.TrimSpace(v.Context + "\n" + view.ShowsImage + v.Image.InWords() +
			", which is not here: a fleet carries the words of a question alone.")
	}
	return as[QuestionInfo](v)
}

// View returns the question as claude-supervise shows questions.
func (q QuestionInfo) View() view.QuestionView { return as[view.QuestionView](q) }

// as returns a value as one of another type: the fields that both have, by their names.
func as[T any](from any) (to T) {
	set(reflect.ValueOf(&to).Elem(), reflect.ValueOf(from))
	return to
}

func set(to, from reflect.Value) {
	switch {
	case to.Type() == from.Type():
		to.Set(from)
	case from.Kind() == reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			set(to.Elem(), from.Elem())
		}
	case from.Kind() == reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		}
		for i := range from.Len() {
			set(to.Index(i), from.Index(i))
		}
	default: // a struct
		for i := range to.NumField() {
			if f := from.FieldByName(to.Type().Field(i).Name); f.IsValid() {
				set(to.Field(i), f)
			}
		}
	}
}
