package text

import (
	"encoding/json"
	"fmt"
)

// JSON writes a value of ours, which can always be written.
func JSON(v any) json.RawMessage {
	doc, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("supervisor: %T cannot be written: %v", v, err))
	}
	return doc
}
