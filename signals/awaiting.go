package signals

import (
	"encoding/json"
	"strings"
)

// awaiting is the skill's (001) AWAITING_USER_INPUT with an object that holds the questions: behind the word, or below
// it.
type awaiting struct{}

const awaitingInput = "AWAITING_USER_INPUT"

func (awaiting) starts() []string { return []string{awaitingInput} }

func (awaiting) open(line string, _ bool) collector {
	rest, colon, ok := argument(line, awaitingInput)
	if !ok {
		return nil
	}
	o := &openAsking{dialect: Awaiting, word: awaitingInput, unsure: colon && rest == ""}
	if rest == "" {
		return o
	}
	o.head = rest
	o.below.take(rest, rest)
	if !o.below.inObject || o.below.end < len(rest) {
		return nil // no object, or one in a sentence
	}
	return o
}

// argument takes a word off a line, and a colon behind it. It is not ok if more text follows without a gap.
func argument(line, word string) (rest string, colon, ok bool) {
	rest = line[len(word):]
	after, colon := strings.CutPrefix(rest, ":")
	trimmed := strings.TrimSpace(after)
	return trimmed, colon, colon || trimmed == "" || trimmed != rest || rest[0] == '{'
}

func encodeAwaiting(s Signal) (string, error) {
	text, err := skillObject(s)
	return awaitingInput + "\n" + text, err
}

// skillObject writes a signal as the object that the skill (001) puts below its word.
func skillObject(s Signal) (string, error) {
	var o object
	o.add("agent_id", s.AgentID)
	o.add("timestamp", s.Timestamp)
	for _, f := range s.Fields {
		name := f.Name
		if name == "state_file" {
			name = "stateFile"
		}
		o = append(o, objectMember{name, f.Value})
	}
	var questions []object
	for _, q := range s.Questions {
		questions = append(questions, skillQuestion(s.alone(q)))
	}
	o = append(o, objectMember{"questions", questions})
	text, err := json.MarshalIndent(o, "", "  ")
	return string(text) + "\n", err
}

// skillQuestion writes a question with the names that the skill (001) gives its members.
func skillQuestion(q Question) object {
	o := object{{"id", q.ID}, {"question", q.Text}}
	o.add("header", q.Header)
	o.add("context", q.Context)
	if len(q.Options) > 0 {
		o = append(o, objectMember{"options", q.Options})
	}
	o = append(o, objectMember{"multiSelect", q.MultiSelect})
	o.add("validate", q.Validate)
	if q.Optional {
		o = append(o, objectMember{"optional", true})
	}
	if q.Urgent {
		o = append(o, objectMember{"urgent", true})
	}
	return o
}
