package house

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostBackUp is how many of the arrows between the files of the core may run back up.
const mostBackUp = 17

// The core is read from top to bottom: a file stands above those whose functions, types, constants and variables it
// names. Where two files name each other, directly or by way of others, one arrow runs back up. One more than there are
// is most often a function that belongs into another file.
func TestTheCoreReadsFromTopToBottom(t *testing.T) {
	var core []*ast.File
	set := token.NewFileSet()
	files, err := filepath.Glob(filepath.Join("..", "..", "supervisor", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		core = append(core, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// What other packages have is not known, which is an error wherever they are named.
	checks := types.Config{Importer: nothing{}, Error: func(error) {}}
	pkg, _ := checks.Check("supervisor", set, core, info)
	down := arrows{}
	for name, is := range info.Uses {
		variable, _ := is.(*types.Var)
		if is.Pkg() != pkg || is.Parent() != nil && is.Parent() != pkg.Scope() || variable != nil && variable.IsField() {
			continue
		}
		from, to := set.Position(name.Pos()).Filename, set.Position(is.Pos()).Filename
		if from != to {
			down.add(filepath.Base(from), filepath.Base(to))
		}
	}
	if back := down.backUp(); len(back) > mostBackUp {
		t.Errorf("%d of %d arrows run back up, %d may: %q", len(back), down.count(), mostBackUp, back)
	} else if len(back) < mostBackUp {
		t.Errorf("%d arrows run back up: let no more than that", len(back))
	}
}

// nothing imports packages that have nothing in them.
type nothing struct{}

func (nothing) Import(of string) (*types.Package, error) {
	p := types.NewPackage(of, path.Base(of))
	p.MarkComplete()
	return p, nil
}

// arrows have for each file those that it names.
type arrows map[string]map[string]bool

func (a arrows) add(from, to string) {
	for _, file := range []string{from, to} {
		if a[file] == nil {
			a[file] = map[string]bool{}
		}
	}
	a[from][to] = true
}

func (a arrows) count() (n int) {
	for _, to := range a {
		n += len(to)
	}
	return n
}

// backUp lays the files out from top to bottom so that few arrows run back up, as Eades, Lin and Smyth do it ("A fast
// and effective heuristic for the feedback arc set problem", 1993), and returns those.
func (a arrows) backUp() (back [][2]string) {
	in, out := map[string]int{}, map[string]int{}
	var left, top, bottom []string
	for from, to := range a {
		left, out[from] = append(left, from), len(to)
		for file := range to {
			in[file]++
		}
	}
	slices.Sort(left)
	for len(left) > 0 {
		next := slices.IndexFunc(left, func(file string) bool { return out[file] == 0 })
		isLowest := next >= 0
		if !isLowest {
			next = slices.IndexFunc(left, func(file string) bool { return in[file] == 0 })
		}
		if next < 0 {
			highest := slices.MaxFunc(left, func(a, b string) int { return cmp.Compare(out[a]-in[a], out[b]-in[b]) })
			next = slices.Index(left, highest)
		}
		file := left[next]
		if left = slices.Delete(left, next, next+1); isLowest {
			bottom = append(bottom, file)
		} else {
			top = append(top, file)
		}
		for _, other := range left {
			if a[file][other] {
				in[other]--
			}
			if a[other][file] {
				out[other]--
			}
		}
	}
	slices.Reverse(bottom)
	order := append(top, bottom...)
	for i, file := range order {
		for _, above := range order[:i] {
			if a[file][above] {
				back = append(back, [2]string{file, above})
			}
		}
	}
	return back
}

func TestArrowsThatRunBackUpAreFound(t *testing.T) {
	a := arrows{}
	for _, arrow := range []string{"ab", "ac", "bc", "bd", "cd", "db"} { // b and d are in a circle, with c and without
		a.add(arrow[:1], arrow[1:])
	}
	if got := a.backUp(); !slices.Equal(got, [][2]string{{"d", "b"}}) {
		t.Errorf("%q", got)
	}
}
