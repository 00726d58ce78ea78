package signals

import "strings"

// List returns the entries of a field that holds a list, whether it was given as one or as text with marked lines. Text
// without marks is one entry a line. A field that is missing or empty has none.
func (s Signal) List(name string) []string {
	value := strings.TrimSpace(s.Field(name))
	if value == "" || value == "[]" {
		return nil
	}
	lines := strings.Split(value, "\n")
	if n := repairList(lines, ""); n != nil {
		var entries []string
		for _, item := range n.Content {
			entries = append(entries, nodeText(item))
		}
		return entries
	}
	var marked, all []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		all = append(all, line)
		if mark, rest, ok := strings.Cut(line, " "); ok && (isListed(line) && line[0] != '[' && line[0] != '|') &&
			mark != "" {
			marked = append(marked, strings.TrimSpace(rest))
		}
	}
	if len(marked) > 0 {
		return marked
	}
	return all
}
