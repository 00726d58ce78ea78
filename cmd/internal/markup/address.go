package markup

import (
	"fmt"
	"net/url"
	"strconv"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// An Address is a place on the same server, as a page links to it. The zero value is the page itself.
type Address struct{ text string }

// Path is an address that is the same for all.
func Path(path constant) Address { return Address{text: ours(path)} }

// PathOf is the address of what has an id: the id is one segment of it, whatever stands in it.
func PathOf(before constant, id string, after ...constant) Address {
	text := ours(before) + url.PathEscape(id)
	for _, more := range after {
		text += string(more)
	}
	return Address{text: text}
}

// Numbered is an address that ends with a number.
func Numbered(before constant, n int64) Address {
	return Address{text: ours(before) + strconv.FormatInt(n, 10)}
}

// With is the address with a value for who reads it, "" for none. The address has a query already.
func (a Address) With(name constant, value string) Address {
	if value != "" {
		a.text += "&" + string(name) + "=" + url.QueryEscape(value)
	}
	return a
}

// ours returns the beginning of an address, which leads to no other site.
func ours(begin constant) string {
	if begin != "" && (begin[0] == '/' && (len(begin) == 1 || begin[1] != '/') || begin[0] == '?' || begin[0] == '#') {
		return string(begin)
	}
	panic(fmt.Sprintf("markup: %q may lead to another site", begin)) // a bug: it is a word of our source
}

// Href is where a link leads.
func (a Address) Href() g.Node { return html.Href(a.text) }

// Action is where a form is sent.
func (a Address) Action() g.Node { return html.Action(a.text) }

// Src is the attribute of an image that has the address.
func (a Address) Src() g.Node { return html.Src(a.text) }

// Script draws a script that the server has as a file; it runs once the page is read.
func (a Address) Script() g.Node { return html.Script(html.Src(a.text), html.Defer()) }
