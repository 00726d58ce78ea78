package taskfile

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"claude-supervise/cmd/internal/yamlfile"
)

// maxTasks bounds how many children a task may state, and how many items a pool may have.
const maxTasks = 10_000

// maxDepth bounds how deep children nest in a file, whatever the person allows.
const maxDepth = 10

// maxOrder bounds how often all children together come after another: those below a child come after whatever that
// comes after.
const maxOrder = 100_000

// noParent is the place of the root, whose children are the first.
const noParent = -1

// A stated is what is known of a child while the file is read.
type stated struct {
	node   *yaml.Node
	name   string
	parent int // place among all; noParent: the root
	after  []*yaml.Node
}

// children reads a list of children, or a map of them by name.
func (r *reader) children(what string, n *yaml.Node, parent, depth int) []Child {
	var children []Child
	if depth > maxDepth {
		r.Problem(n, "children can be at most %d levels deep", maxDepth)
		return nil
	}
	child := func(n *yaml.Node, name string) {
		switch {
		case len(r.stated) > maxTasks: // told of already
		case len(r.stated) == maxTasks:
			r.stated = append(r.stated, stated{})
			r.Problem(n, "a task can have at most %d children", maxTasks)
		default:
			children = append(children, r.child(n, name, parent, depth))
		}
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for _, v := range n.Content {
			if len(r.Problems) > yamlfile.MaxTold {
				break
			}
			child(v, "")
		}
	case yaml.MappingNode:
		r.Pairs(what, n, func(k, v *yaml.Node) { child(v, r.Line("the name of a child", k)) })
	default:
		r.Problem(n, "%s takes a list, each entry on a line after \"- \", or a map, NAME: CHILD, not %s", what,
			yamlfile.Kind(n))
	}
	return children
}

func (r *reader) child(n *yaml.Node, name string, parent, depth int) Child {
	var c Child
	at := len(r.stated)
	r.stated = append(r.stated, stated{node: n, parent: parent})
	keys := append(slices.Clip(workKeys),
		key[Child]{"after", func(r *reader, name string, v *yaml.Node, c *Child) {
			if c.After = r.List(name, v, r.Line); v.Kind == yaml.SequenceNode {
				r.stated[at].after = v.Content
			}
		}},
		key[Child]{"children", func(r *reader, name string, v *yaml.Node, c *Child) {
			c.Children = r.children(name, v, at, depth+1)
		}},
	)
	readKeys(r, "a child", n, keys, &c)
	if name != "" && c.Name != "" {
		r.Problem(n, "child %s has a second name, %s", yamlfile.Quoted(name), yamlfile.Quoted(c.Name))
	}
	if name != "" {
		c.Name = name
	}
	r.stated[at].name = c.Name
	r.wantPrompt(n, &c)
	return c
}

// wantPrompt keeps that a child does not say what it is to do.
func (r *reader) wantPrompt(n *yaml.Node, c *Child) {
	if n.Kind == yaml.MappingNode && c.Prompt == "" && len(r.Problems) == 0 {
		r.Problem(n, "this child has no prompt: what is it to do?")
	}
}

// arrange looks whether the children can be done in the order that is stated.
func (r *reader) arrange() {
	places := map[string]int{}
	var names []string
	for i, s := range r.stated {
		first, again := places[s.name]
		switch {
		case s.name == "":
		case again:
			r.Problem(s.node, "two children are called %s; the first is in line %d", yamlfile.Quoted(s.name),
				r.stated[first].node.Line)
		default:
			places[s.name] = i
			names = append(names, s.name)
		}
	}
	after := make([][]int, len(r.stated))
	comes := make([]int, len(r.stated)) // after how many each comes, itself and by those above it
	total := 0
	for i, s := range r.stated {
		if s.parent != noParent {
			comes[i] = comes[s.parent]
		}
		for _, n := range s.after {
			name := strings.TrimSpace(n.Value)
			at, known := places[name]
			switch near := yamlfile.Nearest(name, names); {
			case known:
				after[i] = append(after[i], at)
				comes[i]++
			case near != "":
				r.Problem(n, "no child is called %s; did you mean %s?", yamlfile.Quoted(name), near)
			case name != "": // else told of already
				r.Problem(n, "no child is called %s", yamlfile.Quoted(name))
			}
			if len(r.Problems) > yamlfile.MaxTold {
				return
			}
		}
		if total += comes[i]; total > maxOrder {
			r.Problem(s.node, "too many children come after too many others, %d times in all; name fewer under after", total)
			return
		}
	}
	if len(r.Problems) > 0 {
		return
	}
	if circle := r.circle(after); len(circle) > 0 {
		r.Problem(r.stated[circle[0]].node, "these wait for one another, so none could begin: %s", r.called(circle))
	}
}

// circle returns children that wait for one another, in their order, as after says whom each comes after; nil if there
// are none. A child begins once all that it comes after, and all that stands below it, has ended; what stands below it
// begins once all that the child comes after has ended. So each is looked at twice: at 2i it may begin but for what
// stands below it, at 2i+1 it has ended.
func (r *reader) circle(after [][]int) []int {
	const (
		unseen = iota
		open   // on the way that is gone now
		done
	)
	below := make([][]int, len(after))
	for i, s := range r.stated {
		if s.parent != noParent {
			below[s.parent] = append(below[s.parent], i)
		}
	}
	seen := make([]byte, 2*len(after))
	var way, found []int
	var visit func(at int) bool
	visit = func(at int) bool {
		if seen[at] == open {
			found = way[slices.Index(way, at):]
			return true
		}
		if seen[at] == done {
			return false
		}
		seen[at] = open
		way = append(way, at)
		i := at / 2
		if at%2 == 0 {
			if p := r.stated[i].parent; p != noParent && visit(2*p) {
				return true
			}
			for _, before := range after[i] {
				if visit(2*before + 1) {
					return true
				}
			}
		} else {
			if visit(2 * i) {
				return true
			}
			for _, child := range below[i] {
				if visit(2*child + 1) {
					return true
				}
			}
		}
		way = way[:len(way)-1]
		seen[at] = done
		return false
	}
	for i := range after {
		if visit(2*i + 1) {
			break
		}
	}
	var circle []int
	for _, at := range found {
		if i := at / 2; !slices.Contains(circle, i) {
			circle = append(circle, i)
		}
	}
	return circle
}

// called names children for people.
func (r *reader) called(places []int) string {
	const most = 5
	var names []string
	for n, i := range places {
		if n == most {
			names = append(names, "…")
			break
		}
		name := r.stated[i].name
		if name == "" {
			name = fmt.Sprintf("the one in line %d", r.stated[i].node.Line)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
