package text

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Misread says in plain words why a JSON document could not be decoded: without the names of Go's types.
func Misread(err error) string {
	wrong := new(json.UnmarshalTypeError)
	switch {
	case !errors.As(err, &wrong):
		return err.Error()
	case wrong.Field == "":
		return fmt.Sprintf("it is a JSON %s", wrong.Value)
	}
	return fmt.Sprintf("its %s is a JSON %s", wrong.Field, wrong.Value)
}
