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
	"claude-supervise/supervisor/view"
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
	query := goingOn
	if of.All {
		query = anyRun + " AND ExecutionStatus != 'ContinuedAsNew'"
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
	count := func(of service.Selection) (n int) {
		query, wrong := selects(of)
		if err == nil && wrong == nil {
			n, err = f.count(ctx, query)
		}
		return n
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
		return 0, nil, fmt.Errorf("the fleet's runs cannot be counted: %w", err)
	}
	return all, by, nil
}

// Asked returns the open questions that were asked first, at most most (0: all), and how many runs ask. Of very many
// only those are read, if all their runs say when they asked.
func (f Fleet) Asked(ctx context.Context, most int) (open []view.QuestionView, runs int, err error) {
	query := asking
	if most > 0 {
		if runs, err = f.Asking(ctx); err != nil {
			return nil, 0, err
		}
		if runs > max(2*most, fewRead) {
			query += f.askedFirst(ctx, most, runs)
		}
	}
	open, err = questionsOf(f.list(ctx, query, math.MaxInt, nil))
	if most > 0 {
		open = open[:min(most, len(open))]
	}
	return open, runs, err
}

// fewRead is how many runs are read rather than to count again: a server counts and lists ten times a second for all.
const fewRead = 3 * flow.MostListed

// mostSteps is how often it is counted at most how many have asked by a time.
const mostSteps = 24

// askedFirst returns what finds of so many runs that ask no fewer than most that asked first, and not many more; "":
// some do not say when they asked. A server counts by a time, and does not sort by one: the time is looked for.
func (f Fleet) askedFirst(ctx context.Context, most, have int) string {
	by := func(at time.Time) string {
		return fmt.Sprintf(" AND %s <= '%s'", flow.AttributeAskedAt, at.UTC().Format(time.RFC3339Nano))
	}
	if silent, err := f.count(ctx, asking+" AND "+flow.AttributeAskedAt+" IS NULL"); err != nil || silent > 0 {
		return ""
	}
	now := time.Now().Add(time.Hour) // that of the server may be another
	late, early := 0, 31             // so many powers of two of seconds before now: by late most have asked, by early not
	until, since, less := now, time.Unix(0, 0), 0
	for late+1 < early {
		k := (late + early) / 2
		at := now.Add(-time.Second << k)
		n, err := f.count(ctx, asking+by(at))
		switch {
		case err != nil:
			return ""
		case n >= most:
			late, until, have = k, at, n
		default:
			early, since, less = k, at, n
		}
	}
	for step := 0; step < mostSteps && have > max(2*most, fewRead) && until.Sub(since) > time.Millisecond; step++ {
		share := 0.5
		if step%2 == 0 { // as if they had asked evenly
			share = max(float64(most*3/2-less)/float64(have-less), 0.02)
		}
		at := since.Add(time.Duration(share * float64(until.Sub(since))))
		n, err := f.count(ctx, asking+by(at))
		switch {
		case err != nil:
			return ""
		case n >= most:
			until, have = at, n
		default:
			since, less = at, n
		}
	}
	return by(until)
}

// count returns how many a query finds.
func (f Fleet) count(ctx context.Context, query string) (int, error) {
	found, err := f.Client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: f.Namespace,
		Query: query})
	return int(found.GetCount()), said(err)
}

// asking finds the runs with open questions.
const asking = goingOn + hasOpen

// Asking returns how many runs have open questions.
func (f Fleet) Asking(ctx context.Context) (int, error) { return f.count(ctx, asking) }
