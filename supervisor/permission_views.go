package supervisor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// PermissionsView is what a run lets its agents do without asking.
type PermissionsView struct {
	Run     string           `json:"run"`
	Default Permissions      `json:"default"` // what becomes of what no rule is about
	Rules   []PermissionView `json:"rules"`
	Denied  []string         `json:"denied"`          // rules of what never runs
	Project bool             `json:"allow_project"`   // the folder's own files are in force
	Flags   []string         `json:"flags,omitempty"` // handed on to claude, which may permit more
}

// PermissionView is one rule of what runs without asking.
type PermissionView struct {
	Rule     string     `json:"rule"`
	From     string     `json:"from"`     // "--allow", or who answered
	Question string     `json:"question"` // that was answered; "" with --allow
	Since    *time.Time `json:"since"`
}

// Permissions gives what a run lets its agents do without asking: the rules of --allow, then those given as answers, oldest
// first. What lies in the inbox and no supervisor has yet taken counts: an answer, a rule that was taken back.
func (r Reader) Permissions(ctx context.Context, run string) (PermissionsView, error) {
	return permissionsOf(ctx, r.Store, run)
}

// Permissions is as a Reader's.
func (c Client) Permissions(ctx context.Context, run string) (PermissionsView, error) {
	return permissionsOf(ctx, c.Store, run)
}

func permissionsOf(ctx context.Context, store *checkpoints.Store, run string) (PermissionsView, error) {
	l, err := store.Load(ctx, run)
	if err != nil {
		return PermissionsView{}, err
	}
	s, err := loaded(l)
	if err != nil {
		return PermissionsView{}, err
	}
	notes, err := store.Inbox(ctx, run, s.Taken)
	if err != nil {
		return PermissionsView{}, err
	}
	d := newDraft(s)
	d.noted(notes)
	s = d.State
	v := PermissionsView{
		Run: run, Default: s.Config.Permissions, Rules: []PermissionView{}, Denied: append([]string{}, s.Config.Deny...),
		Project: s.Config.AllowProject, Flags: s.Config.Flags,
	}
	if v.Default == "" {
		v.Default = AskPermissions
	}
	for _, rule := range s.Config.Allow {
		v.Rules = append(v.Rules, PermissionView{Rule: rule, From: "--allow"})
	}
	for _, given := range s.rules() {
		v.Rules = append(v.Rules, PermissionView{Rule: given.Rule, From: given.By, Question: given.Question, Since: &given.At})
	}
	return v, nil
}

// Revoke takes a rule of a run back. What it permits is asked about again from the moment on in which the run's supervisor sees
// that, or one takes the run over; a rule of --allow, which claude itself keeps, holds until the agent's process ends. ErrEnded if
// the run has ended, an error that lists the rules if it is none of them.
func (c Client) Revoke(ctx context.Context, run, rule, by string) error {
	v, err := c.Permissions(ctx, run)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(v.Rules, func(r PermissionView) bool { return r.Rule == rule }) {
		return fmt.Errorf("%s is no rule of %s; claude-supervise permissions %s lists them", rule, run, run)
	}
	at(c.At, beforeNote+noteRevoke)
	if _, err := c.Store.Leave(ctx, Note{Run: run, Kind: noteRevoke, Value: rule, By: by, At: time.Now().UTC()}); err != nil {
		return err
	}
	at(c.At, afterNote+noteRevoke)
	return c.ring(ctx, run)
}
