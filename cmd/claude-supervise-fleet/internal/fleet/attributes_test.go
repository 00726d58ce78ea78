package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/api/operatorservice/v1"
	"google.golang.org/grpc"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// operator is a server that says which search attributes it has.
type operator struct {
	operatorservice.OperatorServiceClient
	has operatorservice.ListSearchAttributesResponse
	err error
}

// ListSearchAttributes says it.
func (o *operator) ListSearchAttributes(context.Context, *operatorservice.ListSearchAttributesRequest,
	...grpc.CallOption) (*operatorservice.ListSearchAttributesResponse, error) {
	return &o.has, o.err
}

func TestMissingSearchAttributesAreSaid(t *testing.T) {
	server := &operator{}
	server.has.CustomAttributes = flow.Attributes()
	if err := lacks(t.Context(), server, "shop"); err != nil {
		t.Errorf("with all of them: %v", err)
	}
	delete(server.has.CustomAttributes, flow.AttributeOpen)
	err := lacks(t.Context(), server, "shop")
	if err == nil || !strings.Contains(err.Error(), "--namespace shop \\\n    --name ClaudeSuperviseOpen --type KeywordList") ||
		strings.Contains(err.Error(), flow.AttributeStatus) {
		t.Errorf("without one: %v", err)
	}
	server.err = errors.New("administrators only")
	if err := lacks(t.Context(), server, "shop"); err != nil {
		t.Errorf("a server that does not say: %v", err)
	}
}
