package view

import (
	"context"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
)

// PermissionsView is what a run lets its agents do without asking.
type PermissionsView struct {
	Run      string           `json:"run"`
	Default  conf.Permissions `json:"default"` // what becomes of what no rule is about
	Rules    []PermissionView `json:"rules"`
	Denied   []string         `json:"denied"`         // rules of what never runs
	Project  bool             `json:"allow_project"`  // the folder's own files are in force
	Sessions bool             `json:"allow_sessions"` // messages to and from other sessions of the person are
	Flags    []string         `json:"flags"`          // handed on to claude, which may permit more
}

// PermissionView is one rule of what runs without asking.
type PermissionView struct {
	Rule string `json:"rule"`
	From string `json:"from"` // "--allow", or who answered
	// a rule about commands holds there; "" if that is the agent's own folder, or the rule is about something else
	Folder   string     `json:"folder,omitempty"`
	Question string     `json:"question"` // that was answered; "" with --allow
	Since    *time.Time `json:"since"`
}

// Permissions returns what a run lets its agents do without asking: the rules of --allow, then those given as answers,
// oldest first. What lies in the inbox and no supervisor has yet taken counts: an answer, a rule that was taken back.
func (r Reader) Permissions(ctx context.Context, run string) (PermissionsView, error) {
	s, err := State(ctx, r.Store, run)
	if err != nil {
		return PermissionsView{}, err
	}
	notes, err := r.Store.Inbox(ctx, run, s.Taken)
	if err != nil {
		return PermissionsView{}, err
	}
	d := supervisor.NewTransition(s, checkpoints.Now())
	d.ReadInbox(notes)
	s = d.State
	v := PermissionsView{
		Run: run, Default: s.Config.Permissions, Rules: []PermissionView{}, Denied: append([]string{}, s.Config.Deny...),
		Project: s.Config.AllowProject, Sessions: s.Config.AllowSessions, Flags: append([]string{}, s.Config.Flags...),
	}
	if v.Default == "" {
		v.Default = conf.AskPermissions
	}
	for _, rule := range s.Config.Allow {
		v.Rules = append(v.Rules, PermissionView{Rule: rule, From: "--allow"})
	}
	for _, given := range s.Rules() {
		v.Rules = append(v.Rules, PermissionView{Rule: given.Rule, Folder: given.Folder, From: given.By,
			Question: given.Question, Since: &given.At})
	}
	return v, nil
}
