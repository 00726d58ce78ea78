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
// is taken. A server that does not say which it has is not kept from being used. It returns which others there are, and
// how to make those that are not.
func (f Fleet) Check(ctx context.Context) (d flow.Deciding, make string, err error) {
	return lacks(ctx, f.Client.OperatorService(), f.Namespace)
}

func lacks(ctx context.Context, server operatorservice.OperatorServiceClient, namespace string) (d flow.Deciding,
	make string, err error) {
	has, err := server.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return d, "", nil //nolint:nilerr // it may be for administrators only
	}
	var missing, command []string
	for _, name := range slices.Sorted(maps.Keys(flow.Attributes())) {
		if _, known := has.GetCustomAttributes()[name]; !known {
			missing = append(missing, name)
			command = append(command, "--name "+name+" --type "+flow.Attributes()[name].String())
		}
	}
	d.AskedAt = !slices.Contains(missing, flow.AttributeAskedAt)
	if len(missing) == 0 {
		return d, "", nil
	}
	make = fmt.Sprintf("the namespace %s lacks the search attributes %s. %%s. Make them with:\n"+
		"  temporal operator search-attribute create --namespace %s \\\n    %s", namespace, strings.Join(missing, ", "),
		namespace, strings.Join(command, " \\\n    "))
	if !d.AskedAt && len(missing) == 1 {
		return d, fmt.Sprintf(make, "What is asked is listed by reading all of it"), nil
	}
	return d, "", fmt.Errorf(make, "Nothing was started")
}
