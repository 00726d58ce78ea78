package calls

import "testing"

func TestAToolOfAServerIsReadable(t *testing.T) {
	for line, want := range map[string]string{
		"mcp__shop__order: size: M":             "shop: order: size: M",
		"mcp__shop__order":                      "shop: order",
		"[mcp__my-shop.2__place_order] size: M": "[my-shop.2: place_order] size: M",
		"Bash: cat mcp__shop__order":            "Bash: cat mcp__shop__order", // what a command says stays
		"Bash: npm test… (+1 line, 10 bytes)":   "Bash: npm test…",
		"mcp__shop":                             "mcp__shop",
	} {
		if got := Readable(line); got != want {
			t.Errorf("%q is shown as %q, want %q", line, got, want)
		}
	}
}
