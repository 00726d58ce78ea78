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
	if d, missing, err := lacks(t.Context(), server, "shop"); err != nil || missing != "" || !d.AskedAt {
		t.Errorf("with all of them: %+v, %s, %v", d, missing, err)
	}
	delete(server.has.CustomAttributes, flow.AttributeAskedAt)
	d, missing, err := lacks(t.Context(), server, "shop")
	if err != nil || !strings.Contains(missing, "--name ClaudeSuperviseAskedAt --type Datetime") || d.AskedAt {
		t.Errorf("without one that it can do without: %+v, %s, %v", d, missing, err)
	}
	server.has.CustomAttributes = flow.Attributes()
	delete(server.has.CustomAttributes, flow.AttributeOpen)
	_, _, err = lacks(t.Context(), server, "shop")
	if err == nil || !strings.Contains(err.Error(), "--namespace shop \\\n    --name ClaudeSuperviseOpen --type KeywordList") ||
		strings.Contains(err.Error(), flow.AttributeStatus) {
		t.Errorf("without one: %v", err)
	}
	server.err = errors.New("administrators only")
	if d, missing, err := lacks(t.Context(), server, "shop"); err != nil || missing != "" || d.AskedAt {
		t.Errorf("a server that does not say: %v", err)
	}
}
