package claude

import (
	"sync/atomic"
	"time"

	"claude-supervise/procs"
	"claude-supervise/procs/stream"
)

// What was spent, three things tell, of which none tells all:
//
//   - A result: total_cost_usd and modelUsage add up within the process. On 2.1.329 they go on from the conversation's
//     earlier processes, as far as these were ended by anything but SIGKILL, and in a fork from the conversation that
//     it was forked from; but there model_usage_since_last_result is the difference.
//   - The lines of a turn: the usage of each request as it was known when its reply began, which from 2.1.100 on is all
//     but the output. What subagents say last is not among the lines before 2.1.329.
//   - get_usage, from 2.1.200 on, at any time: the totals as a result would have them.
//
// A turn that is cut by the end of its process has no result. So the process is asked before it is ended, and else the
// lines count.

// A spending is what was spent since some moment.
type spending struct {
	cost                     float64 // in dollars
	input, output            int64   // in tokens, cache reads and writes included in the input
	cacheRead, cacheCreation int64   // of the input: what came from a cache, and what was put into one
}

func (s spending) plus(t spending) spending {
	return spending{s.cost + t.cost, s.input + t.input, s.output + t.output,
		s.cacheRead + t.cacheRead, s.cacheCreation + t.cacheCreation}
}

// since returns what has come to an earlier total. A total that began anew has nothing of the earlier.
func (s spending) since(earlier spending) spending {
	return spending{max(s.cost-earlier.cost, 0), max(s.input-earlier.input, 0), max(s.output-earlier.output, 0),
		max(s.cacheRead-earlier.cacheRead, 0), max(s.cacheCreation-earlier.cacheCreation, 0)}
}

func (m models) sum() (s spending) {
	for _, u := range m {
		s = s.plus(spending{u.CostUSD, u.Input + u.CacheCreation + u.CacheRead, u.Output, u.CacheRead, u.CacheCreation})
	}
	return s
}

func spentBy(u stream.Usage) spending {
	return spending{0, u.Input + u.CacheCreation + u.CacheRead, u.Output, u.CacheRead, u.CacheCreation}
}

// A ledger knows what a process has spent since its last result.
type ledger struct {
	before  float64           // Spec.SpentUSD
	resumed bool              // the conversation is older than the process
	goesOn  bool              // the totals are those of the conversation
	total   *spending         // at the last result, nil before the first
	turn    spending          // since then
	request map[string]string // the message of the last request of each conversation, by the call that has started it
}

func (s launch) ledger() ledger {
	b := ledger{resumed: s.Resume || s.Fork != ""}
	if s.Resume {
		b.before = s.SpentUSD
	}
	return b
}

// maxConversations bounds of how many conversations the last request is remembered.
const maxConversations = 256

// line counts the request that an assistant's line is of, and reports whether it is a new one that says what it has
// used: each of its blocks has a line.
func (b *ledger) line(l *line) (procs.Usage, bool) {
	id, u := l.Message.ID, l.Message.Usage
	if l.APIError || id == "" || b.request[l.Parent] == id {
		return procs.Usage{}, false
	}
	if b.request == nil || len(b.request) >= maxConversations {
		b.request = map[string]string{}
	}
	b.request[l.Parent] = id
	b.turn = b.turn.plus(spentBy(u))
	return procs.Usage{
		MessageID: id, Parent: l.Parent, Model: l.Message.Model,
		InputTokens: u.Input, OutputTokens: u.Output, CacheRead: u.CacheRead, CacheCreation: u.CacheCreation,
	}, spentBy(u) != spending{}
}

// result returns what has been spent since the last one.
func (b *ledger) result(l *line) spending {
	total := l.ModelUsage.sum()
	total.cost = l.TotalCostUSD
	earlier := spending{}
	if b.total != nil {
		earlier = *b.total
	}
	spent := total.since(earlier)
	if l.SinceLast != nil {
		spent = l.SinceLast.sum()
		if unseen := total.cost - spent.cost - b.before; b.total == nil && b.before > 0 && unseen > 0 {
			spent.cost += unseen
		}
	}
	if spent.input == 0 && spent.output == 0 {
		cost := spent.cost
		spent = spentBy(l.Usage)
		spent.cost = cost
	}
	b.total, b.turn = &total, spending{}
	return spent
}

// told takes the totals that get_usage gives. In the first turn of a process that resumes, what they have of earlier
// ones is known only of the cost, if at all.
func (b *ledger) told(cost float64, m models) {
	total := m.sum()
	total.cost = cost
	switch {
	case b.total != nil:
		b.turn = total.since(*b.total)
	case !b.resumed || !b.goesOn:
		b.turn = total
	case b.before > 0:
		b.turn.cost = max(cost-b.before, 0)
	}
}

// getUsage asks for the totals. The CLI is not to look through its transcripts for it, nor to let what is said next
// wait.
var getUsage = map[string]any{
	"type": "control_request", "request_id": usageRequest,
	"request": map[string]any{"subtype": "get_usage", "skip_behaviors": true, "detached": true},
}

const usageRequest = "usage"

// askPatience is how long a process that is about to be ended is waited for to say what it has spent. It takes
// milliseconds.
const askPatience = 500 * time.Millisecond

// An inquiry is whether a process says what it has spent when it is asked, and its answer.
type inquiry struct {
	possible atomic.Bool
	answered chan struct{} // has room for one
}

func (q *inquiry) answer() {
	select {
	case q.answered <- struct{}{}:
	default:
	}
}

// askSpending has the process say what the turn under way has spent, if there is one.
func (d *dialogue) askSpending() {
	select {
	case <-d.turn.over():
		return
	default:
	}
	if !d.spending.possible.Load() || d.stdin.writeWithin(getUsage, askPatience) != nil {
		return
	}
	limit := time.NewTimer(askPatience)
	defer limit.Stop()
	select {
	case <-d.spending.answered:
	case <-d.Exited():
	case <-limit.C:
	}
}
