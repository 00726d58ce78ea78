package standin

import (
	"math"

	"claude-supervise/examples"
)

// What a million tokens cost in USD: the list price of the model that the CLI was measured with (2.1.329).
const (
	inputPrice      = 4
	outputPrice     = 20
	cacheReadPrice  = 0.2
	cacheWritePrice = 5
)

// spent adds up what replies are billed for.
type spent examples.Usage

func (s spent) plus(u examples.Usage) spent {
	return spent{Input: s.Input + u.Input, Output: s.Output + u.Output, CacheRead: s.CacheRead + u.CacheRead,
		CacheWrite: s.CacheWrite + u.CacheWrite}
}

func (s spent) minus(o spent) spent {
	return s.plus(examples.Usage{Input: -o.Input, Output: -o.Output, CacheRead: -o.CacheRead, CacheWrite: -o.CacheWrite})
}

func (s spent) tokens() int { return s.Input + s.Output + s.CacheRead + s.CacheWrite }

// cost is in USD, without what adding fractions of cents leaves.
func (s spent) cost() float64 {
	usd := (float64(s.Input)*inputPrice + float64(s.Output)*outputPrice +
		float64(s.CacheRead)*cacheReadPrice + float64(s.CacheWrite)*cacheWritePrice) / 1e6
	return math.Round(usd*1e8) / 1e8
}

// usage tells it as messages and results do.
func (s spent) usage() doc {
	return doc{
		"input_tokens": s.Input, "output_tokens": s.Output,
		"cache_creation_input_tokens": s.CacheWrite, "cache_read_input_tokens": s.CacheRead, "service_tier": "standard",
	}
}

// byModel tells it as it adds up, and as a transcript hands it on.
func (s spent) byModel(model string) doc {
	if s == (spent{}) {
		return doc{}
	}
	return doc{model: doc{
		"inputTokens": s.Input, "outputTokens": s.Output, "cacheReadInputTokens": s.CacheRead,
		"cacheCreationInputTokens": s.CacheWrite, "webSearchRequests": 0, "costUSD": s.cost(),
	}}
}

// modelUsage is what a transcript tells of one model.
type modelUsage struct {
	Input      int `json:"inputTokens"`
	Output     int `json:"outputTokens"`
	CacheRead  int `json:"cacheReadInputTokens"`
	CacheWrite int `json:"cacheCreationInputTokens"`
}
