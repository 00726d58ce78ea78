package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.temporal.io/api/operatorservice/v1"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
)

// Check looks whether the namespace has the search attributes that workflows set: without them none of their decisions
// is taken. A server that does not say which it has is not kept from being used.
func (f Fleet) Check(ctx context.Context) error {
	return lacks(ctx, f.Client.OperatorService(), f.Namespace)
}

func lacks(ctx context.Context, server operatorservice.OperatorServiceClient, namespace string) error {
	has, err := server.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return nil //nolint:nilerr // it may be for administrators only
	}
	var missing, command []string
	for _, name := range slices.Sorted(maps.Keys(flow.Attributes())) {
		if _, known := has.GetCustomAttributes()[name]; !known {
			missing = append(missing, name)
			command = append(command, "--name "+name+" --type "+flow.Attributes()[name].String())
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("the namespace %s lacks the search attributes %s. Nothing was started. Make them with:\n"+
		"  temporal operator search-attribute create --namespace %s \\\n    %s", namespace, strings.Join(missing, ", "),
		namespace, strings.Join(command, " \\\n    "))
}
