// Package client refuses a server what it would have workers started by.
package client

import (
	"context"

	"go.temporal.io/api/deployment/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/server/common/namespace"
	"go.uber.org/fx"

	"go.temporal.io/auto-scaled-workers/wci/workflow/iface"
)

// Module has a Client.
var Module = fx.Provide(func() Client { return Client{} })

// A Client is what a server asks. It has nothing to describe or to delete.
type Client struct{}

var errNone = serviceerror.NewNotFound("no workers are started by this server")

var errRefused = serviceerror.NewInvalidArgument("this server starts no workers")

// DescribeWorkerControllerInstance returns *serviceerror.NotFound, as where no workers were to be started.
func (Client) DescribeWorkerControllerInstance(context.Context, *namespace.Namespace,
	*deployment.WorkerDeploymentVersion) (*iface.QueryDescribeWorkerControllerInstanceResponse, []byte, error) {
	return nil, nil, errNone
}

// ValidateWorkerControllerInstanceSpec returns *serviceerror.InvalidArgument.
func (Client) ValidateWorkerControllerInstanceSpec(context.Context, *namespace.Namespace,
	*deployment.WorkerDeploymentVersion, string, map[string]iface.ScalingGroupSpecUpdate, []string) error {
	return errRefused
}

// UpdateWorkerControllerInstance returns *serviceerror.InvalidArgument.
func (Client) UpdateWorkerControllerInstance(context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion,
	[]byte, string, map[string]iface.ScalingGroupSpecUpdate, []string) (
	*iface.UpdateWorkerControllerInstanceResponse, error) {
	return nil, errRefused
}

// DeleteWorkerControllerInstance has nothing to delete.
func (Client) DeleteWorkerControllerInstance(context.Context, *namespace.Namespace, *deployment.WorkerDeploymentVersion,
	string) error {
	return nil
}
