package standin

// forked returns the lines with which the transcript of a conversation begins that goes on from another one, under an
// id of its own: what was said in it, under the same uuids. The other one stays as it is: it may still be in use.
func forked(path, session string) ([]doc, error) {
	var lines []doc
	err := eachLine(path, func(d doc) {
		switch d["type"] {
		case "user", "assistant", "attachment":
			d["sessionId"] = session
			lines = append(lines, d)
		}
	})
	return lines, err
}
