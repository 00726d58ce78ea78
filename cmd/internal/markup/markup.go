// Package markup is what the pages of the program are written with, beside gomponents and its elements: what a library
// leaves to who calls it, and what we want to hold by construction.
//
//   - A text and the value of an attribute are escaped, by gomponents. Nothing that is read, asked or said comes onto a
//     page in another way: only this package may write a text as it is (.golangci.yml), and it writes files that were
//     built into the program, nothing else ([Style]).
//   - The name of an element and of an attribute is a word of our source: [Element] and [Attribute] take no other.
//   - An address is an [Address]: it begins with a path of our source. So no text of an agent becomes a javascript: or
//     another site.
//   - There is no style attribute, no handler such as onclick, and no script but a file: the policy of the page refuses
//     them, and the linter knows them.
package markup

import (
	"embed"
	"fmt"
	"io"
	"strings"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

// A constant is a text of our source: other packages have no name for the type, so they can pass nothing but a literal
// or a constant of no type.
type constant string

// Element draws an element that package html does not have.
func Element(name constant, children ...g.Node) g.Node { return g.El(string(name), children...) }

// Attribute is one that package html does not have. Its name is no handler, no style and no address.
func Attribute(name constant, value string) g.Node { return g.Attr(string(name), value) }

// Flag is an attribute without a value.
func Flag(name constant) g.Node { return g.Attr(string(name)) }

// Aria is an attribute that says to a screen reader what the page shows otherwise.
func Aria(name constant, value string) g.Node { return html.Aria(string(name), value) }

// Lines draws its nodes each on a line of its own, below the tag before. Between elements that stand beside one another
// a line is a space. One that is nil is left out; attributes have to stand before.
func Lines(children ...g.Node) g.Node {
	return g.NodeFunc(func(w io.Writer) error {
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		for _, child := range flat(children) {
			if err := child.Render(w); err != nil {
				return err
			}
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// One is several nodes as one: what it is in takes them for no more.
func One(nodes ...g.Node) g.Node {
	return g.NodeFunc(g.Group(nodes).Render)
}

// Dotted draws its nodes on one line, with a dot between. One that is nil is left out.
func Dotted(children ...g.Node) g.Node {
	var all g.Group
	for i, child := range flat(children) {
		if i > 0 {
			all = append(all, g.Text(" · "))
		}
		all = append(all, child)
	}
	return all
}

// flat returns the nodes of groups, and of groups in them, without those that are nil.
func flat(nodes []g.Node) []g.Node {
	var all []g.Node
	for _, n := range nodes {
		if group, is := n.(g.Group); is {
			all = append(all, flat(group)...)
		} else if n != nil {
			all = append(all, n)
		}
	}
	return all
}

// Some is a text, or nil for "".
func Some(text string) g.Node { return g.If(text != "", g.Text(text)) }

// Evidence draws a text as it is, in a box that the keyboard scrolls.
func Evidence(label string, shown ...g.Node) g.Node {
	return html.Pre(html.Class("evidence"), html.TabIndex("0"), Aria("label", label), g.Group(shown))
}

// Style draws style sheets that were built into the program.
func Style(files embed.FS, names ...string) g.Node {
	var sheets strings.Builder
	for _, name := range names {
		sheet, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("markup: %v", err)) // a bug: it was built in
		}
		sheets.Write(sheet)
	}
	return html.StyleEl(g.Raw("\n" + sheets.String()))
}

// String draws a node.
func String(n g.Node) string {
	var b strings.Builder
	if err := n.Render(&b); err != nil {
		panic(fmt.Sprintf("markup: %v", err)) // a bug: the builder takes all
	}
	return b.String()
}
