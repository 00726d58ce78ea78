package commands

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	namespacepb "go.temporal.io/api/namespace/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	sdk "go.temporal.io/sdk/client"
	"gocloud.dev/blob/memblob"
	"google.golang.org/grpc"

	"claude-supervise/cmd/claude-supervise-fleet/internal/fleet"
	"claude-supervise/cmd/claude-supervise-fleet/internal/seal"
	"claude-supervise/cmd/claude-supervise-fleet/internal/worker"
)

// knowing is a server that knows runs, each in a namespace, and does not answer of one.
type knowing struct {
	sdk.Client
	runs   map[string]string // by run: the namespace
	silent string
}

func (k knowing) WorkflowService() workflowservice.WorkflowServiceClient {
	return serviceOf{knowing: k}
}

type serviceOf struct {
	workflowservice.WorkflowServiceClient
	knowing knowing
}

// ListNamespaces names two.
func (serviceOf) ListNamespaces(context.Context, *workflowservice.ListNamespacesRequest, ...grpc.CallOption) (
	*workflowservice.ListNamespacesResponse, error) {
	list := &workflowservice.ListNamespacesResponse{}
	for _, name := range []string{"own", "another"} {
		list.Namespaces = append(list.Namespaces, &workflowservice.DescribeNamespaceResponse{
			NamespaceInfo: &namespacepb.NamespaceInfo{Name: name}})
	}
	return list, nil
}

// DescribeWorkflowExecution knows a run in its namespace alone.
func (k serviceOf) DescribeWorkflowExecution(_ context.Context, r *workflowservice.DescribeWorkflowExecutionRequest,
	_ ...grpc.CallOption) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	switch run := r.GetExecution().GetWorkflowId(); {
	case run == k.knowing.silent:
		return nil, serviceerror.NewUnavailable("nobody answers")
	case k.knowing.runs[run] == r.GetNamespace():
		return &workflowservice.DescribeWorkflowExecutionResponse{}, nil
	}
	return nil, serviceerror.NewNotFound("no such workflow")
}

func TestNothingIsPrunedThatAWorkflowOfAnyNamespaceKnows(t *testing.T) {
	key, err := seal.MakeKey(filepath.Join(t.TempDir(), "fleet.key"))
	if err != nil {
		t.Fatal(err)
	}
	store := worker.Store{Bucket: memblob.OpenBucket(nil), Key: key}
	for _, name := range []string{"runs/r-forgot00/000001/000001.tar.gz.age", "runs/r-forgot00/000002/claim.age",
		"runs/r-known000/000001/000001.tar.gz.age", "runs/r-another0/000001/000001.tar.gz.age",
		"runs/r-zsilent0/000001/000001.tar.gz.age", "runs/notes.txt", "fleet.age"} {
		if err := store.Bucket.WriteAll(t.Context(), name, []byte("sealed"), nil); err != nil {
			t.Fatal(err)
		}
	}
	k := knowing{runs: map[string]string{"r-known000": "own", "r-another0": "another", "r-zsilent0": "own"}}
	c := connected{Fleet: fleet.Fleet{Client: k, Namespace: "own"}}
	left := func() (n int) {
		all, err := store.Stored(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	ids := func(all []prunedRun) (ids []string) {
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		return ids
	}
	later := time.Now().Add(time.Hour)
	if all, err := c.prune(t.Context(), store, time.Now().Add(-time.Hour), false); err != nil || len(all) > 0 || left() != 4 {
		t.Errorf("of what is new %v were removed, %v", ids(all), err)
	}
	if all, err := c.prune(t.Context(), store, later, true); err != nil || !slices.Equal(ids(all), []string{"r-forgot00"}) ||
		all[0].Bytes != 12 || left() != 4 {
		t.Errorf("%v would be removed, %v; %d are left", ids(all), err, left())
	}
	k.silent = "r-zsilent0"
	c.Client = k
	if all, err := c.prune(t.Context(), store, later, false); err == nil || !slices.Equal(ids(all), []string{"r-forgot00"}) ||
		left() != 3 {
		t.Errorf("%v were removed, %v; %d are left", ids(all), err, left())
	}
	for _, name := range []string{"runs/notes.txt", "fleet.age"} {
		if has, err := store.Bucket.Exists(t.Context(), name); err != nil || !has {
			t.Errorf("%s is removed, %v", name, err)
		}
	}
}
