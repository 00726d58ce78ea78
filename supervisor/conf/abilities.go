package conf

import "claude-supervise/procs"

// HandedOn is how messages call the flags of a person's own that are handed on to the agent.
const HandedOn = "what follows --"

// Abilities returns what the agents of a run can do. Only this knows which agent they are: all that is decided by that
// is decided by an ability.
func (c Config) Abilities() procs.Abilities {
	if len(c.Exec) > 0 {
		return procs.OfCommand
	}
	return procs.OfClaude
}

// Understands reports whether the agents of a run understand what a flag of run or resume asks of them, or HandedOn.
func (c Config) Understands(flag string) bool {
	can := c.Abilities()
	switch flag {
	case "--demo":
		return can.PlaysDemos
	case "--model", HandedOn:
		return can.TakesFlags
	case "--allow", "--permissions":
		return can.AsksPermission
	case "--max-cost-usd", "--max-tokens", "--max-turns":
		return can.ReportsUsage
	case "--claude":
		return can.Flag == flag
	}
	return true
}
