package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"go.temporal.io/sdk/converter"

	"claude-supervise/cmd/claude-supervise-fleet/internal/flow"
	"claude-supervise/cmd/claude-supervise-fleet/internal/runlog"
	"claude-supervise/supervisor"
	"claude-supervise/supervisor/exit"
)

func TestALogIsFollowedWhileTheServerIsAway(t *testing.T) {
	code := exit.Success
	queued := flow.Listed{RunInfo: flow.RunInfo{ID: waitedFor, Status: "queued"}}
	ended := flow.Listed{RunInfo: flow.RunInfo{ID: waitedFor, Status: "succeeded", ExitCode: &code}}
	for name, c := range map[string]struct {
		server described
		once   bool // it is not followed
		status supervisor.Status
		err    error
		says   int // how often that the server is away
	}{
		"for a while": {described{as: []flow.Listed{queued, {}, {}, queued, {}, ended}, away: []int{1, 2, 4},
			err: errUnreachable}, false, "succeeded", nil, 2},
		"for too long": {described{as: []flow.Listed{queued}, err: errUnreachable}, false, "", errUnreachable, 1},
		"from the beginning": {described{as: []flow.Listed{{}, ended}, away: []int{0}, err: errUnreachable}, false, "",
			errUnreachable, 0},
		"and it is read once": {described{as: []flow.Listed{{}, ended}, away: []int{0}, err: errUnreachable}, true, "",
			errUnreachable, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.server.t = t
				said := 0
				run, err := Fleet{Client: &c.server, Converter: converter.GetDefaultDataConverter()}.Log(t.Context(), LogReading{
					Run: waitedFor, Follow: !c.once, Tail: -1,
					Kept: func(context.Context, string, int, func(runlog.Entry) error) (int, error) { return 0, nil },
					Note: func(n string) {
						if strings.Contains(n, "logs continues when it is back") {
							said++
						}
					}})
				if run.Status != c.status || !errors.Is(err, c.err) || said != c.says {
					t.Errorf("it is %s after %d notes: %v", run.Status, said, err)
				}
			})
		})
	}
}
