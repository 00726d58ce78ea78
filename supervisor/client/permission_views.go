package client

import (
	"context"
	"fmt"
	"slices"
	"time"

	"claude-supervise/supervisor"
	"claude-supervise/supervisor/view"
)

// Permissions is as a Reader's.
func (c Client) Permissions(ctx context.Context, run string) (view.PermissionsView, error) {
	return view.PermissionsOf(ctx, c.Store, run)
}

// Revoke takes a rule of a run back. What it permits is asked about again from the moment on in which the run's
// supervisor sees that, or one takes the run over; a rule of --allow, which claude itself keeps, holds until the
// agent's process ends. ErrEnded if the run has ended, an error that lists the rules if it is none of them.
func (c Client) Revoke(ctx context.Context, run, rule, by string) error {
	v, err := c.Permissions(ctx, run)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(v.Rules, func(r view.PermissionView) bool { return r.Rule == rule }) {
		return fmt.Errorf("%s is not a rule of %s; claude-supervise permissions %s lists them", rule, run, run)
	}
	_, err = c.Leave(ctx, supervisor.InboxEntry{Run: run, Kind: supervisor.EntryRevoke, Value: rule, By: by,
		At: time.Now().UTC()})
	return err
}
