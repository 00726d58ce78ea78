package signals

import "strings"

const awaitingInput = "AWAITING_USER_INPUT"

// asAwaiting opens the skill's (001) AWAITING_USER_INPUT with an object that holds the questions: behind the word, or
// below it.
func asAwaiting(line string, _ bool) collector {
	rest, colon, ok := argument(line, awaitingInput)
	if !ok {
		return nil
	}
	o := &openQuestions{dialect: Awaiting, word: awaitingInput, unsure: colon && rest == ""}
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
