// Package markuptest reads a page as tests compare it.
package markuptest

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// Elements returns the names of a page's elements and of their attributes, in order, one element a line. What it has of
// text, and of values, changes nothing in it.
func Elements(t testing.TB, page string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(strings.ToValidUTF8(page, "\uFFFD")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var b strings.Builder
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is {
			b.WriteString("<" + e.Name.Local)
			for _, a := range e.Attr {
				b.WriteString(" " + a.Name.Local)
			}
			b.WriteString(">\n")
		}
	}
}
