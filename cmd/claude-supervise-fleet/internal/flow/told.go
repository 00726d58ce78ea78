package flow

import (
	"encoding/json"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
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
	r := RunInfo{ID: v.ID, Name: v.Name, Status: v.Status, Reason: v.Reason, Since: v.Since, ExitCode: v.ExitCode,
		Cwd: v.Cwd, StartedAt: v.StartedAt, EndedAt: v.EndedAt, CostUSD: v.CostUSD, SupervisorPID: v.SupervisorPID,
		Suspended: v.Suspended, Agents: each(v.Agents, infoOfAgent), OpenQuestions: v.OpenQuestions, FromPack: v.FromPack}
	if v.Snapshot != nil {
		s := v.Snapshot
		r.Snapshot = &SnapshotInfo{Folder: s.Folder, At: s.At, Problem: s.Problem, Due: s.Due, TooLarge: s.TooLarge}
	}
	return r
}

// View returns the run as claude-supervise shows runs.
func (r RunInfo) View() view.RunView {
	v := view.RunView{ID: r.ID, Name: r.Name, Status: r.Status, Reason: r.Reason, Since: r.Since, ExitCode: r.ExitCode,
		Cwd: r.Cwd, StartedAt: r.StartedAt, EndedAt: r.EndedAt, CostUSD: r.CostUSD, SupervisorPID: r.SupervisorPID,
		Suspended: r.Suspended, Agents: each(r.Agents, AgentInfo.view), OpenQuestions: r.OpenQuestions, FromPack: r.FromPack}
	if r.Snapshot != nil {
		s := r.Snapshot
		v.Snapshot = &view.RunSnapshot{Folder: s.Folder, At: s.At, Problem: s.Problem, Due: s.Due, TooLarge: s.TooLarge}
	}
	return v
}

func infoOfAgent(v view.AgentView) AgentInfo {
	return AgentInfo{ID: v.ID, Parent: v.Parent, Depth: v.Depth, Task: v.Task, Status: v.Status, Reason: v.Reason,
		Since: v.Since, SessionID: v.SessionID, PID: v.PID, Launches: v.Launches, Priority: v.Priority,
		CostUSD: v.CostUSD, InputTokens: v.InputTokens, OutputTokens: v.OutputTokens, CacheRead: v.CacheRead,
		CacheCreation: v.CacheCreation, ServiceTier: v.ServiceTier, SilentSince: v.SilentSince, Who: v.Who,
		Name: v.Name, Independence: v.Independence, ToolUses: v.ToolUses, LimitedUntil: v.LimitedUntil,
		QueuedSince: v.QueuedSince, EndedAt: v.EndedAt, ExitCode: v.ExitCode, Cwd: v.Cwd,
		OpenQuestions: v.OpenQuestions}
}

func (a AgentInfo) view() view.AgentView {
	return view.AgentView{ID: a.ID, Parent: a.Parent, Depth: a.Depth, Task: a.Task, Status: a.Status,
		Reason: a.Reason, Since: a.Since, SessionID: a.SessionID, PID: a.PID, Launches: a.Launches,
		Priority: a.Priority, CostUSD: a.CostUSD, InputTokens: a.InputTokens, OutputTokens: a.OutputTokens,
		CacheRead: a.CacheRead, CacheCreation: a.CacheCreation, ServiceTier: a.ServiceTier, SilentSince: a.SilentSince,
		Who: a.Who, Name: a.Name, Independence: a.Independence, ToolUses: a.ToolUses, LimitedUntil: a.LimitedUntil,
		QueuedSince: a.QueuedSince, EndedAt: a.EndedAt, ExitCode: a.ExitCode, Cwd: a.Cwd,
		OpenQuestions: a.OpenQuestions}
}

// InfoOfQuestion returns what a worker tells of a question.
func InfoOfQuestion(v view.QuestionView) QuestionInfo {
	q := QuestionInfo{ID: v.ID, Run: v.Run, Agent: v.Agent, RunName: v.RunName, Cwd: v.Cwd, Who: v.Who, Kind: v.Kind,
		State: v.State, Header: v.Header, Question: v.Question, Context: v.Context, MultiSelect: v.MultiSelect,
		Options:  each(v.Options, infoOfOption),
		Optional: v.Optional, Urgent: v.Urgent, Validate: v.Validate, AskedAt: v.AskedAt, Answer: v.Answer,
		Skipped: v.Skipped, Declined: v.Declined, AnsweredAt: v.AnsweredAt, AnsweredBy: v.AnsweredBy,
		AnswerCommand: v.AnswerCommand, Task: v.Task, Child: v.Child, AllowRule: v.AllowRule, Tool: v.Tool, Input: v.Input}
	if v.Asker != nil {
		q.Asker = &AskerInfo{ID: v.Asker.ID, Type: v.Asker.Type, Task: v.Asker.Task, Depth: v.Asker.Depth}
	}
	return q
}

// View returns the question as claude-supervise shows questions.
func (q QuestionInfo) View() view.QuestionView {
	v := view.QuestionView{ID: q.ID, Run: q.Run, Agent: q.Agent, RunName: q.RunName, Cwd: q.Cwd, Who: q.Who, Kind: q.Kind,
		State: q.State, Header: q.Header, Question: q.Question, Context: q.Context, MultiSelect: q.MultiSelect,
		Options:  each(q.Options, OptionInfo.option),
		Optional: q.Optional, Urgent: q.Urgent, Validate: q.Validate, AskedAt: q.AskedAt, Answer: q.Answer,
		Skipped: q.Skipped, Declined: q.Declined, AnsweredAt: q.AnsweredAt, AnsweredBy: q.AnsweredBy,
		AnswerCommand: q.AnswerCommand, Task: q.Task, Child: q.Child, AllowRule: q.AllowRule, Tool: q.Tool, Input: q.Input}
	if q.Asker != nil {
		v.Asker = &view.AskerView{ID: q.Asker.ID, Type: q.Asker.Type, Task: q.Asker.Task, Depth: q.Asker.Depth}
	}
	return v
}

func infoOfOption(o checkpoints.Option) OptionInfo {
	return OptionInfo{Label: o.Label, Description: o.Description, Preview: o.Preview}
}

func (o OptionInfo) option() checkpoints.Option {
	return checkpoints.Option{Label: o.Label, Description: o.Description, Preview: o.Preview}
}

// each converts all; nil stays nil.
func each[A, B any](all []A, to func(A) B) []B {
	if all == nil {
		return nil
	}
	made := make([]B, len(all))
	for i, one := range all {
		made[i] = to(one)
	}
	return made
}
