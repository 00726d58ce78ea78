// Package workercomponent starts no workers.
package workercomponent

import "go.uber.org/fx"

var Module = fx.Options()
