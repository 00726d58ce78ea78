package fleet

import (
	"context"
	"errors"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
)

// Namespaces returns the namespaces that the server has: fleets of several may share a blob store.
func (f Fleet) Namespaces(ctx context.Context) (names []string, err error) {
	for page := []byte(nil); ; {
		list, err := f.Client.WorkflowService().ListNamespaces(ctx, &workflowservice.ListNamespacesRequest{
			PageSize: 100, NextPageToken: page})
		if err != nil {
			return nil, fmt.Errorf("it cannot be seen which namespaces the server has: %w", said(err))
		}
		for _, n := range list.GetNamespaces() {
			names = append(names, n.GetNamespaceInfo().GetName())
		}
		if page = list.GetNextPageToken(); len(page) == 0 {
			return names, nil
		}
	}
}

// Knows reports whether a workflow of one of these namespaces, or of this fleet's, is that of a run: one that goes on,
// or one that has ended and is kept by the server. The server is asked for each, and no list.
func (f Fleet) Knows(ctx context.Context, namespaces []string, run string) (bool, error) {
	for _, n := range append([]string{f.Namespace}, namespaces...) {
		_, err := f.Client.WorkflowService().DescribeWorkflowExecution(ctx,
			&workflowservice.DescribeWorkflowExecutionRequest{Namespace: n,
				Execution: &commonpb.WorkflowExecution{WorkflowId: run}})
		var none *serviceerror.NotFound
		if err == nil || !errors.As(err, &none) {
			return err == nil, said(err)
		}
	}
	return false, nil
}
