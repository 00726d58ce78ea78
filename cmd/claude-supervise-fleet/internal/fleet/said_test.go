package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.temporal.io/api/serviceerror"
)

// What passes is tried again; what does not, a person is told as the server says it.
func TestAServerThatDoesNotAnswerIsToldFromOneThatRefuses(t *testing.T) {
	for _, c := range []struct {
		err  error
		away bool
		says string
	}{
		{serviceerror.NewUnavailable("nobody listens"), true, "nobody listens"},
		{serviceerror.NewDeadlineExceeded("too late"), true, "too late"},
		{serviceerror.NewCanceled("stream terminated by RST_STREAM"), true, "RST_STREAM"},
		{fmt.Errorf("asked: %w", context.DeadlineExceeded), true, "asked"},
		{serviceerror.NewNamespaceNotFound("teams"), true, "it has no namespace teams; if it has, it is too busy: try again"},
		{serviceerror.NewPermissionDenied("no such key", ""), false, "no such key. If it takes an API key, name"},
	} {
		err := said(c.err)
		if errors.Is(err, ErrAway) != c.away || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%T is told as %v", c.err, err)
		}
	}
}
