package questions

// always: a server would get the answer that was asked for elsewhere.
func always(*Question) bool { return true }

func serverInAdvance(*Question, bool) string {
	return "an MCP server asks it, whose questions only a person answers"
}
