package claude

import (
	"encoding/json"

	"claude-supervise/procs/stream"
)

// A line is any output line of the protocol, or of a transcript, with the members that we use of all of them. See
// doc.go.
type line struct {
	stream.Line
	Replay bool `json:"isReplay"`

	// user: who has decided about the calls whose results it holds (2.1.332), and the answers of AskUserQuestion
	ResultMeta []struct {
		ID       string             `json:"id"`
		Decision permissionDecision `json:"permission_decision"`
	} `json:"tool_result_meta"`
	ToolUseResult givenAnswers `json:"tool_use_result"`

	// of transcripts: the same of a line with one result
	Decision     permissionDecision `json:"permissionDecision"`
	Cwd          string             `json:"cwd"`
	ResultInFile givenAnswers       `json:"toolUseResult"`

	TaskDescription string `json:"task_description"` // of a subagent's line (2.1.200)

	// control_request, control_cancel_request, control_response
	RequestID string           `json:"request_id"`
	Request   *controlRequest  `json:"request"`
	Response  *controlResponse `json:"response"`

	// command_lifecycle
	CommandUUID string `json:"command_uuid"`
	State       string `json:"state"`
	// what the turn is that starts, where nobody has asked for it
	WakeUpSource string `json:"wakeup_source"`

	// result
	TerminalReason string       `json:"terminal_reason"`
	Errors         []string     `json:"errors"`
	APIStatus      int          `json:"api_error_status"`
	NumTurns       int          `json:"num_turns"`
	TotalCostUSD   float64      `json:"total_cost_usd"`
	ModelUsage     models       `json:"modelUsage"`
	SinceLast      models       `json:"model_usage_since_last_result"` // 2.1.329
	Usage          stream.Usage `json:"usage"`

	// system
	SessionID      string       `json:"session_id"`
	Version        string       `json:"claude_code_version"`
	PermissionMode string       `json:"permissionMode"`
	Model          string       `json:"model"`
	Agents         []string     `json:"agents"`
	Tasks          []streamTask `json:"tasks"`
	Status         string       `json:"status"`
	Content        string       `json:"content"`              // of informational
	Prevents       bool         `json:"prevent_continuation"` // 2.1.200
	Outcome        struct {
		Kind   string `json:"kind"` // blocked_by_hook, stopped_by_hook
		Kept   bool   `json:"prompt_kept"`
		Reason string `json:"reason"`
	} `json:"prompt_submit_outcome"` // 2.1.329
	Attempt      int     `json:"attempt"`
	MaxRetries   int     `json:"max_retries"`
	RetryDelayMS float64 `json:"retry_delay_ms"`
	ErrorStatus  int     `json:"error_status"`
	Error        string  `json:"error"`
	streamTask

	// tool_progress
	Elapsed float64 `json:"elapsed_time_seconds"`

	// rate_limit_event, of an account with a subscription (2.1.100)
	RateLimit struct {
		Status   string `json:"status"`   // allowed, allowed_warning, rejected
		ResetsAt int64  `json:"resetsAt"` // Unix seconds
	} `json:"rate_limit_info"`
}

// models is what each model was used for: by the main conversation, subagents and the CLI's own side requests. usage,
// beside it, is of the main conversation alone, and lacks the request that went over a budget.
type models map[string]struct {
	CostUSD       float64 `json:"costUSD"`
	Input         int64   `json:"inputTokens"`
	CacheCreation int64   `json:"cacheCreationInputTokens"`
	CacheRead     int64   `json:"cacheReadInputTokens"`
	Output        int64   `json:"outputTokens"`
}

type controlRequest struct {
	Subtype string `json:"subtype"`

	// can_use_tool
	ToolName       string          `json:"tool_name"`
	Input          json.RawMessage `json:"input"`
	ToolUseID      string          `json:"tool_use_id"`
	Description    string          `json:"description"`
	DecisionReason string          `json:"decision_reason"`
	AgentID        string          `json:"agent_id"`
	Suggestions    json.RawMessage `json:"permission_suggestions"`

	// hook_callback; its input is read when the callback is ours
	CallbackID string `json:"callback_id"`

	Elicitation // but for its message

	// mcp_message
	ServerName string          `json:"server_name"`
	Message    json.RawMessage `json:"message"`
}

type stopInput struct {
	Transcript  string      `json:"transcript_path"`
	LastMessage string      `json:"last_assistant_message"`
	Active      bool        `json:"stop_hook_active"`
	Background  *[]hookTask `json:"background_tasks"` // absent before 2.1.200
	Crons       []struct {
		Schedule string `json:"schedule"`
		Prompt   string `json:"prompt"`
	} `json:"session_crons"`
}

type controlResponse struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Error     string `json:"error"`
	Response  struct {
		Session *struct { // of get_usage
			TotalCostUSD float64 `json:"total_cost_usd"`
			ModelUsage   models  `json:"model_usage"`
		} `json:"session"`
	} `json:"response"`
}
