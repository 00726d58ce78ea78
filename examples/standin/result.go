package standin

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"claude-supervise/examples"
)

// printInit prints the line that begins every turn.
func (a *agent) printInit() {
	a.message(doc{
		"type": "system", "subtype": "init", "cwd": a.cwd, "model": a.opts.model, "permissionMode": a.opts.mode,
		"tools": append([]string{"Task", "AskUserQuestion", "Bash", "Edit", "Read", "SendMessage", "Write"},
			a.server.names()...),
		"mcp_servers": a.server.status(), "agents": []string{generalPurpose},
		"slash_commands": []string{}, "skills": []string{}, "plugins": []doc{}, "output_style": "default",
		"apiKeySource": "none", "claude_code_version": version,
	})
}

// printResult prints the line that ends a turn.
func (a *agent) printResult(t *turn, outcome doc) {
	took := time.Since(t.began).Milliseconds()
	d := doc{
		"type": "result", "duration_ms": took, "duration_api_ms": 0, "num_turns": t.users + 1,
		"total_cost_usd": a.spent.cost(), "usage": t.spent.usage(), "modelUsage": a.spent.byModel(a.opts.model),
		"model_usage_since_last_result": a.spent.minus(a.spentBefore).byModel(a.opts.model),
		"permission_denials":            append([]doc{}, t.denials...), "queued_turn_count": 0, "result_index": a.results,
	}
	if t.prompt.origin != nil {
		d["origin"] = t.prompt.origin
		d["num_turns"] = t.users + min(t.replies, 1)
	}
	maps.Copy(d, outcome)
	a.results++
	a.spentBefore = a.spent
	a.message(d)
}

// An apiFailure ends a turn: the API failed, and the CLI has given up on it.
type apiFailure struct {
	examples.APIError
	text string
}

func (f apiFailure) Error() string { return f.text }

func (f apiFailure) result() doc {
	return doc{
		"subtype": "success", "is_error": true, "terminal_reason": "api_error", "stop_reason": "stop_sequence",
		"result":           f.text,
		"api_error_status": f.Status, "api_error_type": f.Type(),
	}
}

// rateLimit is what the CLI calls a request that the API has rejected for its number.
const rateLimit = "rate_limit"

// fail tells of a failure of the API: one retry, unless it is the request that is at fault, then the message that the
// CLI makes of it.
func (c *conversation) fail(t *turn, e examples.APIError) error {
	f := apiFailure{APIError: e, text: fmt.Sprintf("API Error: %d %s", e.Status, e.Message)}
	retried, kind := "server_error", "server_error"
	switch e.Status {
	case http.StatusBadRequest:
		retried, kind = "", "unknown"
		if strings.Contains(e.Message, "credit balance is too low") {
			f.text, kind = "Credit balance is too low", "billing_error"
		}
	case http.StatusUnauthorized:
		f.text, retried, kind = "Invalid API key · Fix external API key", "authentication_failed", "authentication_failed"
	case http.StatusTooManyRequests:
		f.text, retried, kind = "API Error: Request rejected (429) · "+e.Message, rateLimit, rateLimit
	case 529:
		f.text += ". This is a server-side issue, usually temporary — try again in a moment."
		retried = "overloaded"
	}
	if retried != "" {
		c.message(doc{
			"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 1, "retry_delay_ms": 0,
			"error_status": e.Status, "error": retried,
		})
	}
	if err := c.record(t); err != nil {
		return err
	}
	message := doc{
		"id": uuid.NewString(), "type": "message", "role": "assistant",
		"model": "<synthetic>", "stop_reason": "stop_sequence",
		"stop_sequence": "", "usage": spent{}.usage(), "content": []doc{{"type": "text", "text": f.text}},
	}
	id := uuid.NewString()
	c.line(doc{
		"type": "assistant", "message": message, "uuid": id, "error": kind,
		"is_api_error_message": true, "api_error_status": e.Status, "api_error_type": e.Type(),
	})
	if err := c.keep(doc{"type": "assistant", "uuid": id, "message": message, "isApiErrorMessage": true,
		"error": kind}); err != nil {
		return err
	}
	return f
}
