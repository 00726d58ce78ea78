package fleet

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/supervisor/service"
)

// Selected returns the runs of the fleet that are wanted, the latest first. The server finds them by what it knows: the
// status, and when they began. Only as many are read as are wanted.
func (f Fleet) Selected(ctx context.Context, of service.Selection) ([]flow.Listed, error) {
	most := of.Most
	if most == 0 {
		most = math.MaxInt
	}
	query, err := selects(of)
	if err != nil {
		return nil, err
	}
	var wanted func(l flow.Listed) bool
	if len(of.Labels) > 0 || !of.Since.IsZero() {
		wanted = func(l flow.Listed) bool {
			return !l.StartedAt.Before(of.Since) && !slices.ContainsFunc(of.Labels, func(label string) bool {
				return !slices.Contains(l.Labels, label)
			})
		}
	}
	found, err := f.list(ctx, query, most, wanted)
	return found[:min(most, len(found))], err
}

var statusForm = regexp.MustCompile(`^[a-z_]{1,32}$`)

// selects returns the query that finds what is wanted, and perhaps more.
func selects(of service.Selection) (string, error) {
	query := fmt.Sprintf("WorkflowType = '%s'", flow.WorkflowName)
	if !of.All {
		query += " AND ExecutionStatus = 'Running'"
	} else {
		query += " AND ExecutionStatus != 'ContinuedAsNew'"
	}
	if !of.Since.IsZero() { // a run may have begun before its present workflow
		query += fmt.Sprintf(" AND StartTime >= '%s'", of.Since.UTC().Format(time.RFC3339Nano))
	}
	var any []string
	for _, status := range of.Statuses {
		if !statusForm.MatchString(status) {
			return "", fmt.Errorf("%.40q is no status of a run", status)
		}
		any = append(any, "'"+status+"'")
	}
	in := fmt.Sprintf("%s IN (%s)", flow.AttributeStatus, strings.Join(any, ", "))
	switch {
	case len(any) == 0:
	case slices.Contains(of.Statuses, flow.StatusQueued): // also before a worker has read it
		query += fmt.Sprintf(" AND (%s OR %s IS NULL AND ExecutionStatus = 'Running')", in, flow.AttributeStatus)
	default:
		query += " AND " + in
	}
	return query, nil
}

// counted are the statuses by which runs are counted: those that a person does something about, or waits for.
var counted = []string{"parked", "waiting", "running", flow.StatusQueued, "failed"}

// Count returns how many runs there are of those that are wanted, and how many of them by some statuses. Where labels
// are wanted it is all 0: the server does not know them.
func (f Fleet) Count(ctx context.Context, of service.Selection) (all int, by map[string]int, err error) {
	if len(of.Labels) > 0 {
		return 0, nil, nil
	}
	count := func(of service.Selection) int {
		query, wrong := selects(of)
		if err != nil || wrong != nil {
			return 0
		}
		var found *workflowservice.CountWorkflowExecutionsResponse
		found, err = f.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: f.Namespace,
			Query: query})
		return int(found.GetCount())
	}
	all, by = count(of), map[string]int{}
	for _, status := range counted {
		if len(of.Statuses) == 0 || slices.Contains(of.Statuses, status) {
			one := of
			one.Statuses = []string{status}
			by[status] = count(one)
		}
	}
	if err != nil {
		return 0, nil, fmt.Errorf("the fleet's runs cannot be counted: %w", said(err))
	}
	return all, by, nil
}

// Asking returns how many runs have open questions.
func (f Fleet) Asking(ctx context.Context) (int, error) {
	found, err := f.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: f.Namespace,
		Query: fmt.Sprintf("WorkflowType = '%s' AND ExecutionStatus = 'Running' AND %s IS NOT NULL", flow.WorkflowName,
			flow.AttributeOpen)})
	return int(found.GetCount()), said(err)
}
