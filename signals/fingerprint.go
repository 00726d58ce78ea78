package signals

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
)

// Fingerprint is the same for the same signal sent again: in another dialect, at another time or place, or with its
// fields in another order. It is 64 characters of hex.
func (s Signal) Fingerprint() string {
	fields := slices.SortedStableFunc(slices.Values(s.Fields), func(a, b Field) int {
		return strings.Compare(a.Name, b.Name)
	})
	text, err := json.Marshal(struct {
		Kind      Kind       `json:"kind"`
		AgentID   string     `json:"agent_id"`
		Fields    []Field    `json:"fields,omitempty"`
		Questions []Question `json:"questions,omitempty"`
	}{s.Kind, s.AgentID, fields, s.Questions})
	if err != nil {
		panic(err) // strings and booleans always have a JSON form
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
