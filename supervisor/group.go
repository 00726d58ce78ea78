package supervisor

import (
	"fmt"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/exit"
	"claude-supervise/supervisor/label"
)

// cameTo says what the work of a group has come to, once it has ended: to what the worst of its tasks has.
func (s State) cameTo(group string) (status Status, reason string) {
	status, reason = checkpoints.Succeeded, "all its tasks succeeded"
	all, bad := 0, 0
	keptBack := false // what is told of could not begin for what went wrong with another
	for _, c := range s.Children(group) {
		if !gates(c) {
			continue
		}
		all++
		if c.Status != checkpoints.Succeeded {
			bad++
		}
		if exit.Worse(c, status) || keptBack && c.Status == status && c.Fault != faultPredecessor {
			status, reason = c.Status, fmt.Sprintf("%s: %s", label.Title(c), c.Reason)
			keptBack = c.Fault == faultPredecessor
		}
	}
	if bad > 1 {
		reason = fmt.Sprintf("%d of %d tasks have not succeeded, among them %s", bad, all, reason)
	}
	return status, reason
}
