// This module stands in for the one of its name, by which a Temporal server starts workers on machines of Amazon's,
// Google's and Kubernetes'. No fleet has it do that, and its clients are 353 of the 2,022 packages that such a server is
// compiled from. It has what the server calls, finds nothing started, and refuses to start any.
module go.temporal.io/auto-scaled-workers

go 1.26.8

require (
	go.temporal.io/api v1.63.5
	go.temporal.io/server v1.32.0
	go.uber.org/fx v1.24.0
)
