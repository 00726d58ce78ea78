package terminal

import (
	"strings"
	"testing"

	"rsc.io/qr"
)

// What a line draws is read back: each character is two modules, one above the other.
func TestACodeIsDrawnAsItIs(t *testing.T) {
	code, err := qr.Encode("https://192.168.1.5:7433/?token="+strings.Repeat("x", 43), qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for colours, shapes := range map[bool]string{true: " ▀▄█", false: "█▄▀ "} {
		lines := drawCode(code.Size, code.Black, colours)
		if len(lines) != (code.Size+2*quietZone+1)/2 {
			t.Fatalf("%d modules are drawn in %d lines", code.Size, len(lines))
		}
		for row, line := range lines {
			if begins := strings.HasPrefix(line, "\x1b[30;107m") && strings.HasSuffix(line, "\x1b[m"); begins != colours {
				t.Errorf("colours %t: line %d is %q", colours, row, line)
			}
			line = strings.TrimSuffix(strings.TrimPrefix(line, "\x1b[30;107m"), "\x1b[m")
			column := -quietZone
			for _, drawn := range line {
				shape := strings.Count(shapes[:strings.IndexRune(shapes, drawn)], "") - 1
				for below := range 2 {
					y := row*2 + below - quietZone
					if dark := shape>>below&1 == 1; dark != code.Black(column, y) {
						t.Fatalf("colours %t: the module at %d, %d is drawn as dark %t", colours, column, y, dark)
					}
				}
				column++
			}
			if column != code.Size+quietZone {
				t.Errorf("line %d has %d modules", row, column+quietZone)
			}
		}
	}
}
