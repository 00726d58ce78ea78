package view

import (
	"context"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/internal/storetest"
	"claude-supervise/supervisor/records"
)

// A supervisor says that it leaves, and frees its lock, between the read of its run's record and the look at the lock.
func TestARunWhoseSupervisorLeavesMeanwhileIsNotOrphaned(t *testing.T) {
	for name, leaves := range map[string]bool{"it leaves": true, "it dies": false} {
		t.Run(name, func(t *testing.T) {
			s := storetest.NewSaver(t, storetest.TestDirs(t), "r-leaves01")
			s.Save(checkpoints.Running, "at work")
			s.Leave("")
			r, reads := Reader{Dirs: s.Dirs, Store: s.Store}, 0
			var status supervisor.Status
			err := asOne(t.Context(), func(ctx context.Context, work func(context.Context) error) error {
				reads++
				if err := r.Store.AsOne(ctx, work); err != nil {
					return err
				}
				if reads == 1 && leaves {
					s.Run.Left = records.LeavingParked
					s.Save(checkpoints.Parked, "asks")
				}
				return nil
			}, func(ctx context.Context) error {
				run, err := r.Store.Run(ctx, s.Run.ID)
				if err != nil {
					return err
				}
				v, err := r.view(ctx, run)
				status = v.Status
				return err
			})
			want := checkpoints.Orphaned
			if leaves {
				want = checkpoints.Parked
			}
			if err != nil || status != want || reads != 2 {
				t.Errorf("after %d reads it is %s (%v), want %s", reads, status, err, want)
			}
		})
	}
}
