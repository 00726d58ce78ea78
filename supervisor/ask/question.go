package ask

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"claude-supervise/checkpoints"
	"claude-supervise/procs"
	"claude-supervise/signals"
	"claude-supervise/supervisor/questions"
	"claude-supervise/supervisor/text"
)

// FingerprintOf is the same for the same call made again: the same tool, and the same input to the byte.
func FingerprintOf(call checkpoints.ToolCall) string {
	return procs.CallKey(call.Name, call.Input)
}

// The bounds of a question as it is kept, in bytes: of each of its texts, and the number of its options. A person reads
// no more, and what agents print must not make the records, the files and the prompts of a run grow without end. The
// schemas of our own tools stay below them.
const (
	maxHeader      = 200
	MaxText        = 16 << 10
	MaxContext     = 64 << 10 // a stop shows all that it tells in it
	maxLabel       = 1 << 10
	maxDescription = 4 << 10
	maxOptionView  = 32 << 10 // a preview
	maxAssumption  = 8 << 10
	MaxPath        = 4 << 10
)

// Question makes an open question that belongs to nobody yet. Labels are kept as the agent gave them: they are what
// it is answered with. Of what is over the bounds a part is kept, which the person is told below the context.
func Question(kind checkpoints.QuestionKind, asked signals.Question) *checkpoints.Question {
	var cut cutting
	options := asked.Options
	if n := len(options); n > questions.MaxKept {
		options = options[:questions.MaxKept]
		cut.say("%d of %d options are left out", n-questions.MaxKept, n)
	}
	q := &checkpoints.Question{
		Own: cut.text("id", asked.ID, maxHeader), Kind: kind, State: checkpoints.QuestionOpen,
		Wording: checkpoints.Wording{
			Header: cut.text("header", asked.Header, maxHeader), Text: cut.text("text", asked.Text, MaxText),
			Context: cut.text("context", asked.Context, MaxContext), MultiSelect: asked.MultiSelect,
			Validate: cut.text("rule", ruleOf(asked), MaxText), Optional: asked.Optional, Urgent: asked.Urgent,
			OwnWords: asked.OwnWords,
		},
	}
	if asked.Assumption != "" {
		q.Assumed = &checkpoints.Assumed{Text: cut.text("assumption", asked.Assumption, maxAssumption)}
		for _, path := range asked.Affects {
			if len(path) > MaxPath {
				cut.say("a path that it affects has %d bytes, and is left out", len(path))
				continue
			}
			q.Assumed.Affects = append(q.Assumed.Affects, path)
		}
	}
	for i, o := range options {
		of := fmt.Sprintf("option %d's ", i+1)
		q.Options = append(q.Options, checkpoints.Option{
			Label:       cut.text(of+"label", o.Label, maxLabel),
			Description: cut.text(of+"description", o.Description, maxDescription),
			Preview:     cut.text(of+"preview", o.Preview, maxOptionView),
		})
	}
	if q.Truncated = cut.String(); q.Truncated != "" {
		q.Context = strings.TrimSpace(q.Context + "\nNot all of it is shown: " + q.Truncated + ".")
	}
	return q
}

// ruleOf returns what the answer of a question has to be, as questions.Terms has it: bounds as a schema.
func ruleOf(asked signals.Question) string {
	n, ok := signals.ReadNumber(asked.Validate)
	if !ok || asked.Validate == "integer" { // as it was kept before there were bounds
		return asked.Validate
	}
	return numberRule(n)
}

// numberRule returns the rule of an answer that has to be a number.
func numberRule(n signals.Number) string {
	s := questions.Schema{Type: "number", Step: n.Step, Unit: text.Line(n.Unit, text.MaxNamed),
		Bounds: questions.Bounds{Minimum: n.Min, Maximum: n.Max}}
	if n.Whole {
		s.Type = "integer"
	}
	return s.Validate()
}

// A cutting bounds the texts of a question, and says what it has cut.
type cutting []string

const maxCuts = 5 // that are told one by one

func (c *cutting) say(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// text cuts a text to at most a number of bytes, between two characters.
func (c *cutting) text(name, s string, most int) string {
	if len(s) <= most {
		return s
	}
	c.say("its %s has %d bytes, of which %d are kept", name, len(s), most)
	return strings.Clone(text.Truncate(s, most-len("…"))) + "…"
}

func (c cutting) String() string {
	if len(c) > maxCuts {
		c = append(slices.Clone(c[:maxCuts]), fmt.Sprintf("and %d more cuts like these", len(c)-maxCuts))
	}
	return strings.Join(c, "; ")
}

// Small is what the later questions of a group keep of the signal or call that the first came from: all of it may be a
// megabyte.
func Small(o checkpoints.Origin) checkpoints.Origin {
	if len(o.Signal) > 0 {
		sig := SignalOf(&checkpoints.Question{Origin: o})
		sig.Raw, sig.Questions = "", nil
		sig.Fields = slices.DeleteFunc(sig.Fields, func(f signals.Field) bool { return len(f.Value) > maxHeader })
		o.Signal = text.JSON(sig)
	}
	if o.Tool != nil {
		call := *o.Tool
		call.Input = json.RawMessage("{}")
		o.Tool, o.Fingerprint = &call, call.Name
	}
	return o
}

// SignalOf returns the signal that a question came from; the zero Signal if it came by a call.
func SignalOf(q *checkpoints.Question) signals.Signal {
	var sig signals.Signal
	if len(q.Signal) > 0 {
		if err := json.Unmarshal(q.Signal, &sig); err != nil {
			panic(fmt.Sprintf("supervisor: question %s holds a signal that cannot be read: %v", q.ID, err))
		}
	}
	return sig
}

// Reshow writes a question anew from what is asked.
func Reshow(q *checkpoints.Question, asked signals.Question) {
	now := Question(q.Kind, asked)
	now.Urgent = q.Urgent
	q.Own, q.Wording = now.Own, now.Wording
}

// Fingerprint is the same for the same signal sent again. That of an escalation is its id: its file may have moved.
func Fingerprint(s signals.Signal) string {
	if s.Dialect == signals.Escalated {
		return "escalated " + s.Field("question_id")
	}
	return s.Fingerprint()
}

// InContext returns the questions of a clarification, each with the context that the signal gives for all.
func InContext(s signals.Signal) []signals.Question {
	context := s.Field("context")
	if context == "" {
		context = s.Field("question_context")
	}
	state := "" // in other forms it is for the agent that goes on
	if words := s.Field("current_state"); words != "" && (s.Dialect == signals.Paused || s.Dialect == signals.Awaiting) {
		state = "\nState:\n" + words
	}
	qs := slices.Clone(s.Questions)
	for i := range qs {
		if qs[i].Context == "" {
			qs[i].Context = context
		}
		qs[i].Context = strings.TrimPrefix(qs[i].Context+state, "\n")
	}
	return qs
}

// Left is the question that an agent's state holds (001, Example 3), for a pause that does not repeat it.
func Left(p *checkpoints.Pending) signals.Question {
	q := signals.Question{ID: "Q1", Text: p.Text}
	for _, o := range p.Options {
		q.Options = append(q.Options, signals.Option(o))
	}
	return q
}
