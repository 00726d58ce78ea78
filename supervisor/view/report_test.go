package view

import "testing"

func TestEachDecisionOfARunOfSeveralAgentsNamesItsAgent(t *testing.T) {
	asked := func() []Decision {
		early, late := Decision{}, Decision{}
		early.Agent, late.Agent, late.Who = "a-1", "a-1", "root" // when early was asked the run had one agent
		return []Decision{early, late, {}}                       // the last one is no agent's
	}
	agents := []AgentView{{ID: "a-1", Who: "root"}, {ID: "a-2", Who: "tests"}}
	both := asked()
	nameAskers(both, agents)
	if both[0].Who != "root" || both[1].Who != "root" || both[2].Who != "" {
		t.Errorf("the agents are named %q, %q and %q", both[0].Who, both[1].Who, both[2].Who)
	}
	alone := asked()[:1]
	nameAskers(alone, agents[:1])
	if alone[0].Who != "" {
		t.Errorf("the only agent of a run is named: %q", alone[0].Who)
	}
}
