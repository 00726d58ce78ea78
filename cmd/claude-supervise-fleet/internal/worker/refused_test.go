package worker

import (
	"errors"
	"testing"
)

// Each queue that a worker reads may be refused, at any time: the first is heard, and nobody waits to be heard.
func TestTheFirstRefusalOfTheServerIsHeard(t *testing.T) {
	refused := make(chan error, 1)
	first := errors.New("no such namespace")
	for _, err := range []error{first, errors.New("another")} {
		notes(refused)(err)
	}
	if err := <-refused; !errors.Is(err, first) {
		t.Errorf("it is %v", err)
	}
}
