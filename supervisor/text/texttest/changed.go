package texttest

import (
	"fmt"
	"strings"
)

// Changed reads a change back that is shown in evidence of a call: it returns what the shown diff makes of before, and
// whether a change is shown at all. It shares no code with what shows it.
func Changed(before, evidence string) (after string, shown bool, err error) {
	if strings.Contains("\n"+evidence+"\n", "\nIt changes nothing.\n") {
		return before, true, nil
	}
	_, diff, is := strings.Cut("\n"+evidence, "\n--- ")
	if !is {
		return "", strings.HasSuffix(evidence, "It is a new file.\n"), nil // of an empty file there is no diff
	}
	rows := strings.SplitAfter("--- "+diff, "\n")
	if last := rows[len(rows)-1]; strings.Contains(last, " cannot be seen; ") && strings.HasSuffix(last, " and so on.") {
		rows = rows[:len(rows)-1]
	}
	text, err := Original(strings.Join(rows, ""))
	if err != nil {
		return "", true, err
	}
	after, err = patched(before, strings.TrimSuffix(text, "\n")+"\n")
	return after, true, err
}

// patched plays a unified diff of a whole file through.
func patched(before, diff string) (string, error) {
	old := strings.SplitAfter(before, "\n")
	var out strings.Builder
	at := 0
	take := func() string {
		if at >= len(old) {
			return ""
		}
		at++
		return old[at-1]
	}
	lines := strings.SplitAfter(strings.TrimSuffix(diff, "\n"), "\n")
	for i, line := range lines {
		if i < 2 {
			continue // the names
		}
		if !strings.HasSuffix(line, "\n") {
			line += "\n"
		}
		body := line[1:]
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
			body = strings.TrimSuffix(body, "\n")
		}
		switch line[0] {
		case '@':
			var from, n int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d", &from, &n); err != nil {
				n = 1
				if _, err := fmt.Sscanf(line, "@@ -%d", &from); err != nil {
					return "", err
				}
			}
			if n > 0 {
				from--
			}
			for at < min(from, len(old)) {
				out.WriteString(take())
			}
		case ' ', '-':
			if was := take(); was != body {
				return "", fmt.Errorf("the diff has %q where the text has %q:\n%s", body, was, diff)
			}
			if line[0] == ' ' {
				out.WriteString(body)
			}
		case '+':
			out.WriteString(body)
		case '\\':
		default:
			return "", fmt.Errorf("%q in the diff\n%s", line, diff)
		}
	}
	for at < len(old) {
		out.WriteString(take())
	}
	return out.String(), nil
}
