package e2e

import (
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// The picture of the README is the first session on it, played line by line. That the session is what a person sees,
// TestTheSessionsOfThePagesAreTrue holds; this holds the picture against the session. With
// CLAUDE_SUPERVISE_UPDATE_RECORDING=1 it draws the picture anew.
func TestTheRecordingOfTheReadmeIsCurrent(t *testing.T) {
	const picture = "../examples/recording.svg"
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	first := sessions(string(page))[0]
	want := recorded(first.commands[0], first.outputs[0])
	if os.Getenv("CLAUDE_SUPERVISE_UPDATE_RECORDING") != "" {
		if err := os.WriteFile(picture, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(picture)
	if err != nil || string(got) != want {
		t.Errorf("examples/recording.svg does not show the README's session (%v): "+
			"CLAUDE_SUPERVISE_UPDATE_RECORDING=1 go test ./e2e -run TestTheRecordingOfTheReadme", err)
	}
	if !strings.Contains(string(page), "](examples/recording.svg)") {
		t.Error("the README does not show it")
	}
}

// The measures of the picture, in pixels of its own, and when a line comes, in seconds.
const (
	lineHeight, cellWidth, margin = 18, 8, 16
	firstLine, eachLine, person   = 1.2, 0.35, 2.5
)

// recorded draws a session: the command is there at once, then come its lines; at a prompt a person takes a moment.
func recorded(command, output string) string {
	lines := append([]string{"$ " + command}, strings.Split(strings.TrimRight(output, "\n"), "\n")...)
	widest := 80
	var text strings.Builder
	at := firstLine
	for i, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
		look := ""
		switch {
		case i == 0:
			look = ` class="typed"`
		case prompt.MatchString(line):
			at += person
			look = fmt.Sprintf(` class="typed late" style="animation-delay:%.2fs"`, at)
		default:
			at += eachLine
			look = fmt.Sprintf(` class="late" style="animation-delay:%.2fs"`, at)
		}
		fmt.Fprintf(&text, "<text x=\"%d\" y=\"%d\"%s xml:space=\"preserve\">%s</text>\n", margin,
			margin+lineHeight*(i+1)-5, look, html.EscapeString(line))
	}
	width, height := 2*margin+widest*cellWidth, 2*margin+len(lines)*lineHeight
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"
 aria-label="An agent's subagent asks in the middle of its work, is answered, and finishes.">
<style>
text { font: 13px/18px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee4 }
.typed { fill: #7ee2b8; font-weight: bold }
.late { animation: comes .01s both }
@keyframes comes { from { visibility: hidden } to { visibility: visible } }
@media (prefers-reduced-motion: reduce) { .late { animation: none } }
</style>
<rect width="%d" height="%d" rx="8" fill="#161b22"/>
%s</svg>
`, width, height, width, height, width, height, text.String())
}
