package procs

import (
	"encoding/json"
	"strings"
)

// A line is any output line of the protocol: the members that we use of all its types. See doc.go.
type line struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"`
	AgentID string `json:"agent_id"` // of a subagent (2.1.329)
	UUID    string `json:"uuid"`

	// assistant, user
	Message   *apiMessage `json:"message"`
	Synthetic bool        `json:"is_api_error_message"` // an API failure told in the assistant's place
	Replay    bool        `json:"isReplay"`

	TaskDescription string `json:"task_description"` // of a subagent's line (2.1.200)

	// control_request, control_cancel_request, control_response
	RequestID string           `json:"request_id"`
	Request   *controlRequest  `json:"request"`
	Response  *controlResponse `json:"response"`

	// command_lifecycle
	CommandUUID string `json:"command_uuid"`
	State       string `json:"state"`

	// result
	IsError        bool     `json:"is_error"`
	TerminalReason string   `json:"terminal_reason"`
	Result         string   `json:"result"`
	Errors         []string `json:"errors"`
	APIStatus      int      `json:"api_error_status"`
	NumTurns       int      `json:"num_turns"`
	TotalCostUSD   float64  `json:"total_cost_usd"`
	ModelUsage     models   `json:"modelUsage"`
	SinceLast      models   `json:"model_usage_since_last_result"` // 2.1.329
	Usage          usage    `json:"usage"`
	Origin         struct {
		Kind string `json:"kind"`
	} `json:"origin"`

	// system
	SessionID      string       `json:"session_id"`
	Version        string       `json:"claude_code_version"`
	PermissionMode string       `json:"permissionMode"`
	Model          string       `json:"model"`
	Agents         []string     `json:"agents"`
	Tasks          []streamTask `json:"tasks"`
	Status         string       `json:"status"`
	Text           string       `json:"text"`
	Attempt        int          `json:"attempt"`
	MaxRetries     int          `json:"max_retries"`
	RetryDelayMS   float64      `json:"retry_delay_ms"`
	ErrorStatus    int          `json:"error_status"`
	Error          string       `json:"error"`
	streamTask

	// tool_progress
	ToolName string  `json:"tool_name"`
	Elapsed  float64 `json:"elapsed_time_seconds"`

	// rate_limit_event, of an account with a subscription (2.1.100)
	RateLimit struct {
		Status   string `json:"status"`   // allowed, allowed_warning, rejected
		ResetsAt int64  `json:"resetsAt"` // Unix seconds
	} `json:"rate_limit_info"`
}

type apiMessage struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Content blocks `json:"content"`
	Usage   usage  `json:"usage"`
}

type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   blocks          `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks is message content: an array of blocks, or a string for a single text.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		one := block{Type: "text"}
		if err := json.Unmarshal(data, &one.Text); err != nil {
			return err
		}
		*b = blocks{one}
		return nil
	}
	return json.Unmarshal(data, (*[]block)(b))
}

// text joins the texts among the blocks.
func (b blocks) text() string {
	if len(b) == 1 {
		return b[0].Text
	}
	var texts []string
	for _, block := range b {
		if block.Type == "text" {
			texts = append(texts, block.Text)
		}
	}
	return strings.Join(texts, "\n")
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

type usage struct {
	Input         int64 `json:"input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	Output        int64 `json:"output_tokens"`

	ServiceTier string `json:"service_tier"`
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
