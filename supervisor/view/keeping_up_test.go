package view

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
)

func TestAfterTheWaitAllIsGivenThatWasPrintedBefore(t *testing.T) {
	for name, follow := range map[string]func(context.Context, *logged, KeepingUp, func() error) error{
		"an agent's log": func(ctx context.Context, l *logged, k KeepingUp, each func() error) error {
			_, err := l.log.followed(ctx, k, func([]byte) error { return each() })
			return err
		},
		"a run's logs": func(ctx context.Context, l *logged, k KeepingUp, each func() error) error {
			_, err := RunLog{Run: l.log.Run, KeepingUp: k, reader: l.log.Reader}.Follow(ctx, func(LogLine) error {
				return each()
			})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLogged(t)
			ctx, leave := context.WithCancel(t.Context())
			k, ended := NewKeepingUp(), make(chan error)
			var given atomic.Int32
			go func() { ended <- follow(ctx, l, k, func() error { given.Add(1); return nil }) }()
			for n := range int32(200) {
				l.write(fmt.Sprintf("{\"n\":%d}\n", n))
				k.Wait(ctx)
				if got := given.Load(); got != n+1 {
					t.Fatalf("of %d lines %d are given", n+1, got)
				}
			}
			leave()
			if err := <-ended; err == nil {
				t.Error("it ends without the reason")
			}
			k.Wait(t.Context()) // for nobody
		})
	}
	KeepingUp{}.Wait(t.Context())
}
