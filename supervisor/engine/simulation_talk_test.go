package engine

import (
	"slices"
	"strings"
	"time"

	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/listen"
)

// A talk is a conversation as its transcript keeps it. It outlives its processes, but for what the last of them had
// written in the tenth of a second before it was killed.
type talk struct {
	agent   string // whose it is
	session string
	entries []talkEntry
	lost    []talkEntry // between turns: the model has made of them what it could
	written int         // entries that are on the disk, however young
	forked  int         // entries that came with the conversation it began with

	requested int      // requests in which the model could say something
	delegated []string // fields of what the model has delegated last
}

// late is how late the CLI writes its transcript.
const late = 100 * time.Millisecond

// A talkEntry is one line of a transcript.
type talkEntry struct {
	at       time.Duration
	uuid     string        // of a prompt
	read     string        // what the model was told: a prompt, the answer to a call
	said     procs.Message // what the process printed of it
	asks     string        // the text by which the model asked, to ask again
	call     string        // the tool use that this answers
	answered bool          // by a person
	idle     bool          // the process ended before the model replied to it: it may be told of it again
	request  int           // in which the model said it
	sub      bool          // it stands in the transcript of a subagent
	refused  *procs.Refused
	ends     string // the call that started the subagent which this is the last word of
}

// has reports whether a prompt is in the conversation: claude.ReceivedIn.
func (t *talk) has(uuid string) bool {
	return slices.ContainsFunc(t.entries, func(e talkEntry) bool { return e.uuid == uuid })
}

// answered reports whether a person's answer to a call is in it: claude.AnsweredIn.
func (t *talk) answered(toolUse string) bool {
	return slices.ContainsFunc(t.entries, func(e talkEntry) bool { return e.call == toolUse && e.answered })
}

// decided returns what a hook has decided about a call: claude.HookDecidedIn.
func (t *talk) decided(toolUse string) (by *procs.HookDecision) {
	for _, e := range t.entries {
		if r, ok := e.said.(procs.ToolResult); ok && r.ToolUse == toolUse && r.Hook != nil {
			by = r.Hook
		}
	}
	return by
}

// taken reports whether a script has printed the answer that it took: claude.TakenIn.
func (t *talk) taken(answer string) bool {
	return slices.ContainsFunc(t.entries, func(e talkEntry) bool {
		result, ok := e.said.(procs.ToolResult)
		return ok && strings.Contains(result.Text, answer)
	})
}

// ended reports whether the subagent that a call started has come to its end.
func (t *talk) ended(toolUse string) bool {
	return slices.ContainsFunc(t.entries, func(e talkEntry) bool { return e.ends == toolUse })
}

// unheard is the function of the same name over claude.SaidAfter.
func (t *talk) unheard(prompts []*supervisor.Delivery, c *listen.Listener) (found []signals.Signal,
	prompt string, whole bool) {
	h := c.Signals
	for _, d := range prompts {
		if t.has(d.UUID) {
			prompt = d.UUID
		}
	}
	after := false
	for _, e := range t.entries {
		if !after {
			after = e.uuid == prompt
			continue
		}
		if e.refused != nil {
			c.Refused = append(c.Refused, *e.refused)
		}
		if e.said != nil && !e.sub {
			heard := h.Read(e.said)
			found = append(found, heard...)
			_, text := e.said.(procs.Text)
			whole = text && len(heard) > 0
		}
	}
	if last := h.Scanner.EndTurn(""); len(last) > 0 {
		found, whole = append(found, last...), true
	}
	return found, prompt, whole
}

// forget loses the end of what a process that is killed has not yet written.
func (t *talk) forget(w *simulation, inTurn bool) {
	young := 0
	for _, e := range t.entries[t.written:] {
		if w.mono()-e.at < late {
			young++
		}
	}
	if young == 0 {
		return
	}
	lost := w.rng.IntN(young + 1)
	w.tell("     the transcript loses %d of %d entries", lost, len(t.entries))
	if !inTurn {
		t.lost = append(t.lost, t.entries[len(t.entries)-lost:]...)
	}
	t.entries = t.entries[:len(t.entries)-lost]
}
