package standin

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"time"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// printInit prints the line that begins every turn.
func (a *agent) printInit() {
	a.message(doc{
		"type": "system", "subtype": "init", "cwd": a.cwd, "model": a.opts.model, "permissionMode": a.opts.mode,
		"tools": []string{"AskUserQuestion", "Bash", "Edit", "Read", "Write"}, "mcp_servers": []doc{}, "agents": []string{},
		"slash_commands": []string{}, "skills": []string{}, "plugins": []doc{}, "output_style": "default",
		"apiKeySource": "none", "claude_code_version": Version,
	})
}

// printResult prints the line that ends a turn.
func (a *agent) printResult(t *turn, outcome doc) {
	took := time.Since(t.began).Milliseconds()
	d := doc{
		"type": "result", "duration_ms": took, "duration_api_ms": 0, "num_turns": t.users + 1,
		"total_cost_usd": dollars(a.cost), "usage": usage(t.replies), "modelUsage": a.modelUsage(a.cost),
		"model_usage_since_last_result": a.modelUsage(float64(t.replies) * replyCost),
		"permission_denials":            append([]doc{}, t.denials...), "queued_turn_count": 0, "result_index": a.results,
	}
	if t.prompt.origin != nil {
		d["origin"] = t.prompt.origin
		d["num_turns"] = t.users + min(t.replies, 1)
	}
	maps.Copy(d, outcome)
	a.results++
	a.message(d)
}

// dollars rounds away what adding fractions of cents leaves.
func dollars(usd float64) float64 { return math.Round(usd*1e8) / 1e8 }

func usage(replies int) doc {
	return doc{
		"input_tokens": replies * inputTokens, "output_tokens": replies * outputTokens,
		"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "service_tier": "standard",
	}
}

// modelUsage is what some cost was spent on. Cost is kept, and tokens are counted from it: it is all that a transcript
// hands on.
func (a *agent) modelUsage(cost float64) doc {
	replies := int(math.Round(cost / replyCost))
	if replies == 0 {
		return doc{}
	}
	return doc{a.opts.model: doc{
		"inputTokens": replies * inputTokens, "outputTokens": replies * outputTokens, "cacheReadInputTokens": 0,
		"cacheCreationInputTokens": 0, "webSearchRequests": 0, "costUSD": dollars(cost),
	}}
}

// An apiFailure ends a turn: the API failed, and the CLI has given up on it.
type apiFailure struct {
	examples.APIError
	text string
}

func (f apiFailure) Error() string { return f.text }

func (f apiFailure) result() doc {
	return doc{
		"subtype": "success", "is_error": true, "terminal_reason": "api_error", "stop_reason": "stop_sequence", "result": f.text,
		"api_error_status": f.Status, "api_error_type": f.Type(),
	}
}

// fail tells of a failure of the API: one retry, then the message that the CLI makes of it.
func (a *agent) fail(t *turn, e examples.APIError) error {
	f := apiFailure{APIError: e, text: fmt.Sprintf("API Error: %d %s", e.Status, e.Message)}
	retried, kind := "server_error", "server_error"
	switch e.Status {
	case http.StatusUnauthorized:
		f.text, retried, kind = "Invalid API key · Fix external API key", "authentication_failed", "authentication_failed"
	case http.StatusTooManyRequests:
		f.text, retried, kind = "API Error: Request rejected (429) · "+e.Message, "rate_limit", "rate_limit"
	case 529:
		f.text += ". This is a server-side issue, usually temporary — try again in a moment."
		retried = "overloaded"
	}
	a.message(doc{
		"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1, "retry_delay_ms": 0,
		"error_status": e.Status, "error": retried,
	})
	if err := a.record(t); err != nil {
		return err
	}
	message := doc{
		"id": uuid.NewString(), "type": "message", "role": "assistant", "model": "<synthetic>", "stop_reason": "stop_sequence",
		"stop_sequence": "", "usage": usage(0), "content": []doc{{"type": "text", "text": f.text}},
	}
	id := uuid.NewString()
	a.message(doc{
		"type": "assistant", "message": message, "parent_tool_use_id": nil, "timestamp": now(), "uuid": id, "error": kind,
		"is_api_error_message": true, "api_error_status": e.Status, "api_error_type": e.Type(),
	})
	if err := a.keep(doc{"type": "assistant", "uuid": id, "message": message, "isApiErrorMessage": true, "error": kind}); err != nil {
		return err
	}
	return f
}
