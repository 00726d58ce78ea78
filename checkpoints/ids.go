package checkpoints

import (
	"fmt"
	"io"
)

// The prefixes of ids: what kind of thing an id names can be read off it.
const (
	RunPrefix      = "r-"
	AgentPrefix    = "a-"
	QuestionPrefix = "q-"
)

const (
	lowerAlphanumeric = "0123456789abcdefghijklmnopqrstuvwxyz"
	base62            = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	withoutLookAlikes = "23456789abcdefghjkmnpqrstuvwxyz" // no 0 1 i l o: people type question ids
)

// NewID makes an id from random bytes: r- and 8 lowercase letters or digits, a- and 12 of base62 (71 bits: an agent's
// id is the nonce that makes its text signals genuine), or q- and 6 lowercase letters or digits without look-alikes. It
// panics on any other prefix and if random fails; crypto/rand.Reader never does.
func NewID(prefix string, random io.Reader) string {
	switch prefix {
	case RunPrefix:
		return prefix + draw(random, lowerAlphanumeric, 8)
	case AgentPrefix:
		return prefix + draw(random, base62, 12)
	case QuestionPrefix:
		return prefix + draw(random, withoutLookAlikes, 6)
	}
	panic(fmt.Sprintf("checkpoints: no id begins with %q", prefix))
}

// draw picks n characters, each equally likely: bytes beyond the last whole multiple of the alphabet are thrown away.
func draw(random io.Reader, alphabet string, n int) string {
	usable := 256 - 256%len(alphabet)
	id := make([]byte, 0, n)
	one := make([]byte, 1)
	for len(id) < n {
		if _, err := io.ReadFull(random, one); err != nil {
			panic(fmt.Sprintf("checkpoints: random bytes for an id: %v", err))
		}
		if int(one[0]) < usable {
			id = append(id, alphabet[int(one[0])%len(alphabet)])
		}
	}
	return string(id)
}

// PlainID reports whether id can stand as a file name: 1 to 128 characters of [A-Za-z0-9._-], no leading dot.
// Ids that agents and question files bring along are refused unless they are.
func PlainID(id string) bool {
	if id == "" || len(id) > 128 || id[0] == '.' {
		return false
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
