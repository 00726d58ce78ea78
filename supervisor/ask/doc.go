// Package ask makes questions of what agents, claude and MCP servers ask in their own forms, and of what a person is
// to decide: text in, questions out, and the replies of calls from their answers. It is pure, and knows no run.
package ask
