package table

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func equal(a, b int) bool { return a == b }

// A table holds what a map does, in the order of its keys; what is put into one is in no copy of it; and what differs is
// found, whatever way it came.
func TestATableIsAMapThatCanBeKeptAsItWas(t *testing.T) {
	type kept struct {
		table Table[int]
		held  map[string]int
	}
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 0))
		now := kept{held: map[string]int{}}
		past := []kept{now}
		for range 60 {
			// One in two goes on from an earlier one, so that there are branches.
			now = past[len(past)-1-dice.IntN(min(len(past), 1+3*dice.IntN(2)))]
			now.held = maps.Clone(now.held)
			for range 1 + dice.IntN(4) {
				key := strings.Repeat(string(rune('a'+dice.IntN(3))), dice.IntN(3)) + fmt.Sprint(dice.IntN(20))
				if dice.IntN(3) == 0 {
					now.table.Delete(key)
					delete(now.held, key)
				} else {
					now.table.Put(key, dice.IntN(3))
					now.held[key] = now.table.Get(key)
				}
			}
			past = append(past, now)
		}
		for i, p := range past {
			wantAll(t, p.table, p.held, seed, i)
			before := past[dice.IntN(len(past))]
			differs := maps.Clone(p.held)
			maps.DeleteFunc(differs, func(key string, v int) bool {
				old, had := before.held[key]
				return had && old == v
			})
			if got := maps.Collect(p.table.Since(before.table, equal)); !maps.Equal(got, differs) {
				t.Fatalf("seed %d, %d: %v differs, want %v", seed, i, got, differs)
			}
			if anew := Of(p.held); anew.root.shape() != p.table.root.shape() {
				t.Fatalf("seed %d, %d: the shape hangs on how it came", seed, i)
			}
		}
	}
}

func wantAll(t *testing.T, got Table[int], held map[string]int, seed uint64, i int) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(held))
	if got.Len() != len(held) || !maps.Equal(maps.Collect(got.All()), held) {
		t.Fatalf("seed %d, %d: %v, want %v", seed, i, maps.Collect(got.All()), held)
	}
	doc, err := json.Marshal(got)
	if want, _ := json.Marshal(held); err != nil || string(doc) != string(want) {
		t.Fatalf("seed %d, %d: written as %s, %v", seed, i, doc, err)
	}
	var all []string
	for key := range got.All() {
		all = append(all, key)
	}
	if !slices.Equal(all, keys) {
		t.Fatalf("seed %d, %d: in the order %v", seed, i, all)
	}
	if last, v := got.Last(); len(keys) > 0 && (last != keys[len(keys)-1] || v != held[last]) {
		t.Fatalf("seed %d, %d: the last is %s", seed, i, last)
	}
	if n := len(slices.Collect(got.Values())); n != len(held) {
		t.Fatalf("seed %d, %d: %d values", seed, i, n)
	}
	for _, prefix := range []string{"", "a", "aa", "b1", "c", "d"} {
		under := maps.Clone(held)
		maps.DeleteFunc(under, func(key string, _ int) bool { return !strings.HasPrefix(key, prefix) })
		if got := maps.Collect(got.Under(prefix)); !maps.Equal(got, under) {
			t.Fatalf("seed %d, %d: %v under %q, want %v", seed, i, got, prefix, under)
		}
	}
}

// shape is the tree in one line.
func (n *node[V]) shape() string {
	if n == nil {
		return "."
	}
	return "(" + n.left.shape() + n.key + n.right.shape() + ")"
}

// What stops to look is told nothing more.
func TestALookAtATableEndsWhereItIsEnded(t *testing.T) {
	var table Table[int]
	for i := range 100 {
		table.Put(fmt.Sprintf("%03d", i), i)
	}
	for end := range 100 {
		n := 0
		for range table.All() {
			if n++; n > end {
				break
			}
		}
		if n != end+1 {
			t.Fatalf("%d seen, want %d", n, end+1)
		}
	}
	before := table
	for i := range 50 {
		table.Put(fmt.Sprintf("%03d", 2*i), -1)
	}
	n := 0
	for range table.Since(before, equal) {
		if n++; n == 7 {
			break
		}
	}
	if n != 7 {
		t.Errorf("%d seen", n)
	}
}

// What one change costs hardly grows with what a table holds.
func BenchmarkAChange(b *testing.B) {
	for _, n := range []int{10, 1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var table Table[int]
			for i := range n {
				table.Put(fmt.Sprintf("a-%012d", i), 0)
			}
			for i := 0; b.Loop(); i++ {
				before := table
				table.Put(fmt.Sprintf("a-%012d", i%n), i+1)
				for range table.Since(before, equal) {
				}
			}
		})
	}
}
