package checkpoints

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAPhaseIsStoredInTheFieldsOfTheFirstRelease(t *testing.T) {
	for phase, stored := range map[LaunchPhase]string{
		LaunchIntended:   `"state":"intended","turn":false`,
		LaunchIdle:       `"state":"started","turn":false`,
		LaunchTurn:       `"state":"started","turn":true`,
		LaunchTurnEnding: `"state":"started","turn":true,"let_go":true`,
		LaunchTurnOwed:   `"state":"started","turn":true,"let_go":true,"untold":true`,
		LaunchTurnDue:    `"state":"started","turn":false,"turn_due":true`,
		LaunchEnded:      `"state":"ended","turn":false`,
		LaunchSurveyed:   `"state":"ended","turn":false,"surveyed":true`,
	} {
		doc, err := json.Marshal(Launch{Agent: testAgent, N: 2, Phase: phase, Begun: true})
		noError(t, err)
		if !strings.Contains(string(doc), stored+"}") || !strings.Contains(string(doc), `"heard":true`) {
			t.Errorf("%s is stored as %s, want %s", phase, doc, stored)
		}
		var l Launch
		if err := json.Unmarshal(doc, &l); err != nil || l.Phase != phase || l.N != 2 || !l.Begun {
			t.Errorf("%s is read as %+v (%v)", doc, l, err)
		}
	}
}

func TestALaunchInNoKnownStateIsRefused(t *testing.T) {
	for _, state := range []string{"", "running", "turn", "surveyed"} {
		doc, err := json.Marshal(map[string]any{"agent": testAgent, "n": 2, "state": state})
		noError(t, err)
		var l Launch
		if err := json.Unmarshal(doc, &l); err == nil || !strings.Contains(err.Error(), "launch 2 of agent "+testAgent) {
			t.Errorf("%s is read as %+v (%v)", doc, l, err)
		}
	}
}
