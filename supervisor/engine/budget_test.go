package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/effect"
	"claude-supervise/supervisor/records"
	"claude-supervise/supervisor/table"
)

func TestTheClockOfABudgetTellsHowLongWasWorkedEvenIfItIsCutShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{state: supervisor.State{Records: records.Records{Agents: table.Of(map[string]*supervisor.Agent{Root: {ID: Root,
			Bounds: checkpoints.Bounds{Budget: &conf.Budget{Time: time.Hour}},
			Usage:  checkpoints.Usage{Worked: 59*time.Minute + 30*time.Second}}})}}}
		measure := e.clock(effect.Effect{Do: effect.Clock, Agent: Root})
		if r := measure(t.Context()); r.event != (supervisor.Worked{Agent: Root, For: 30 * time.Second}) {
			t.Errorf("it tells %+v", r.event)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if r := e.clock(effect.Effect{Do: effect.Clock,
			Agent: Root})(ctx); r.event != (supervisor.Worked{Agent: Root, For: 10 * time.Second}) {
			t.Errorf("cut short it tells %+v", r.event)
		}
	})
}
