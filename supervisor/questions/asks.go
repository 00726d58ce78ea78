package questions

import "strings"

// verbs are what calls of tools do with what they are about.
var verbs = map[string]string{"Edit": "edit ", "MultiEdit": "edit ", "NotebookEdit": "edit ", "Write": "write ",
	"Read": "read ", "Bash": "run: ", "WebFetch": "fetch "}

// Asks returns the text of a question of the kind as a person is asked: that of a permission says what would be done.
// It is saved, and named by presets, as "Allow Edit: version.txt?".
func (k Kind) Asks(text string) string {
	of, is := strings.CutPrefix(text, "Allow ")
	end := strings.IndexAny(of, ": ")
	if !is || !k.Ruled || end < 0 {
		return text
	}
	verb, rest := verbs[of[:end]], of[end:]
	switch {
	case verb == "":
		return text
	case strings.HasPrefix(rest, " in "):
		return "May it " + strings.TrimRight(verb, ": ") + rest
	}
	return "May it " + verb + strings.TrimPrefix(rest, ": ")
}
