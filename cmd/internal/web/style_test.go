package web

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Sizes, spaces, colours and typefaces are those of the scale at the top of the style sheet, and no others.
func TestTheStyleKeepsToItsScale(t *testing.T) {
	sheet, err := staticFiles.ReadFile("static/page.css")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?s)/\*.*?\*/`).ReplaceAllString(string(sheet), "")
	text = regexp.MustCompile(`(?s):root \{.*?\n\t?\}`).ReplaceAllString(text, "")
	of := regexp.MustCompile(`(?:^|[\s;{])(font|font-size|font-family|padding[a-z-]*|margin[a-z-]*|gap|border-radius|color|` +
		`border-[a-z-]*color|accent-color|background[a-z-]*): ([^;]+);`)
	words := strings.Fields("0 auto inherit transparent")
	found := of.FindAllStringSubmatch(text, -1)
	if len(found) < 100 {
		t.Fatalf("only %d of them are found", len(found))
	}
	scale := regexp.MustCompile(`^var\(--[a-z0-9-]+\)$`)
	for _, f := range found {
		for _, value := range strings.Fields(f[2]) {
			if !scale.MatchString(value) && !slices.Contains(words, value) && f[2] != "rgb(0 0 0 / 50%)" {
				t.Errorf("%s is %s", f[1], f[2])
			}
		}
	}
}
