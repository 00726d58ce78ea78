// Package table keeps values by key so that a table can be kept as it was: a Table is a value, a copy of it costs
// nothing, and what is put into one is in no copy of it. What differs between two tables that came of one is found by
// what they do not share, however much they hold.
package table

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"strings"
)

// Table holds values by key, in the order of the keys. The zero Table is empty, and tables that are == hold the same.
// Get, Put and Delete take time that grows with the logarithm of what it holds. It may be read by several goroutines
// at once; who changes one needs it alone.
//
// It is a treap (Aragon, Seidel: Randomized Search Trees, 1989) whose priorities come of the keys, so that its shape
// hangs on what it holds alone, and not on how that came: two tables with much in common share most of their nodes.
type Table[V any] struct{ root *node[V] }

// A node is never changed once a table holds it.
type node[V any] struct {
	key         string
	value       V
	priority    uint64
	left, right *node[V]
	size        int
}

// Of returns a table of what a map holds.
func Of[V any](m map[string]V) Table[V] {
	var t Table[V]
	for key, value := range m {
		t.Put(key, value)
	}
	return t
}

// Len is how many values the table holds.
func (t Table[V]) Len() int { return t.root.len() }

// Get returns the value of a key, the zero value if there is none.
func (t Table[V]) Get(key string) (value V) {
	for n := t.root; n != nil; {
		switch c := strings.Compare(key, n.key); {
		case c < 0:
			n = n.left
		case c > 0:
			n = n.right
		default:
			return n.value
		}
	}
	return value
}

// Last returns the greatest key and its value; "" and the zero value of an empty table.
func (t Table[V]) Last() (key string, value V) {
	for n := t.root; n != nil; n = n.right {
		key, value = n.key, n.value
	}
	return key, value
}

// Put sets the value of a key.
func (t *Table[V]) Put(key string, value V) {
	t.root = t.root.put(&node[V]{key: key, value: value, priority: maphash.String(seed, key), size: 1})
}

// Delete takes a key out, if it is there.
func (t *Table[V]) Delete(key string) { t.root = t.root.delete(key) }

// All yields what the table holds, in the order of the keys.
func (t Table[V]) All() iter.Seq2[string, V] { return t.Under("") }

// Values yields the values in the order of their keys.
func (t Table[V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		t.root.under("", func(_ string, value V) bool { return yield(value) })
	}
}

// Under yields what the table holds by keys with a prefix, in the order of the keys.
func (t Table[V]) Under(prefix string) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.root.under(prefix, yield) }
}

// Since yields, in the order of the keys, what the table has and an earlier one has not, or with another value. It
// takes time by how much they differ.
func (t Table[V]) Since(earlier Table[V], same func(a, b V) bool) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) { t.root.since(earlier.root, same, yield) }
}

// MarshalJSON writes the table as an object, as that of a map.
func (t Table[V]) MarshalJSON() ([]byte, error) {
	doc, err := json.Marshal(maps.Collect(t.All()))
	if err != nil {
		return nil, fmt.Errorf("a table cannot be written: %w", err)
	}
	return doc, nil
}

// seed makes the priorities. They are others in each process, so that no names that somebody chose make a table slow.
var seed = maphash.MakeSeed()

func (n *node[V]) len() int {
	if n == nil {
		return 0
	}
	return n.size
}

// above reports whether a node stands above another in a tree that has both.
func (n *node[V]) above(o *node[V]) bool {
	return n.priority > o.priority || n.priority == o.priority && n.key < o.key
}

// with returns a copy of the node that has other nodes below.
func (n *node[V]) with(left, right *node[V]) *node[V] {
	c := *n
	c.left, c.right, c.size = left, right, left.len()+right.len()+1
	return &c
}

func (n *node[V]) put(o *node[V]) *node[V] {
	switch {
	case n == nil:
		return o
	case n.key == o.key:
		return o.with(n.left, n.right)
	case o.above(n):
		left, _, right := n.split(o.key)
		return o.with(left, right)
	case o.key < n.key:
		return n.with(n.left.put(o), n.right)
	}
	return n.with(n.left, n.right.put(o))
}

func (n *node[V]) delete(key string) *node[V] {
	switch {
	case n == nil:
		return nil
	case key < n.key:
		if left := n.left.delete(key); left != n.left {
			return n.with(left, n.right)
		}
		return n
	case key > n.key:
		if right := n.right.delete(key); right != n.right {
			return n.with(n.left, right)
		}
		return n
	}
	return join(n.left, n.right)
}

// join returns a tree of two, where each key of the one is less than all of the other.
func join[V any](left, right *node[V]) *node[V] {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.above(right):
		return left.with(left.left, join(left.right, right))
	}
	return right.with(join(left, right.left), right.right)
}

// split returns what is less than a key, the node of the key, and what is greater.
func (n *node[V]) split(key string) (less, at, greater *node[V]) {
	switch {
	case n == nil:
		return nil, nil, nil
	case key < n.key:
		less, at, greater = n.left.split(key)
		return less, at, n.with(greater, n.right)
	case key > n.key:
		less, at, greater = n.right.split(key)
		return n.with(n.left, less), at, greater
	}
	return n.left, n, n.right
}

func (n *node[V]) under(prefix string, yield func(string, V) bool) bool {
	if n == nil {
		return true
	}
	within := strings.HasPrefix(n.key, prefix)
	return (n.key < prefix || n.left.under(prefix, yield)) &&
		(!within || yield(n.key, n.value)) &&
		(n.key > prefix && !within || n.right.under(prefix, yield))
}

func (n *node[V]) since(earlier *node[V], same func(a, b V) bool, yield func(string, V) bool) bool {
	switch {
	case n == earlier || n == nil:
		return true
	case earlier == nil:
		return n.under("", yield)
	case n.key == earlier.key:
	case n.above(earlier):
		left, _, right := earlier.split(n.key)
		return n.left.since(left, same, yield) && yield(n.key, n.value) && n.right.since(right, same, yield)
	default:
		left, at, right := n.split(earlier.key)
		return left.since(earlier.left, same, yield) && (at == nil || yield(at.key, at.value)) &&
			right.since(earlier.right, same, yield)
	}
	return n.left.since(earlier.left, same, yield) && (same(n.value, earlier.value) || yield(n.key, n.value)) &&
		n.right.since(earlier.right, same, yield)
}
