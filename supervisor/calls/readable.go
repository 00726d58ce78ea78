package calls

import "claude-supervise/supervisor/text"

var servedFirst = text.Lazily(`^(\[?)mcp__([\w.-]+?)__([\w.-]+)`)

// Readable is a line that says a call for a person who decides nothing by it, without how much it leaves out: a tool
// of a server at its beginning reads "shop: order" in place of mcp__shop__order.
func Readable(line string) string { return servedFirst().ReplaceAllString(text.Gist(line), "$1$2: $3") }
