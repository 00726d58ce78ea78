package questions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostCompared is how many comparisons with a kind there may be in the program outside of this package. What is meant
// by one is a property: it belongs into the row of the kind, so that the next kind needs no more than a row.
const mostCompared = 5

func TestWhatIsSoOfAKindIsAskedOfItsRow(t *testing.T) {
	names := kindNames(t)
	fset := token.NewFileSet()
	var found []string
	files := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name := entry.Name(); path != "../.." && (strings.HasPrefix(name, ".") || path == "../../supervisor/questions" ||
				name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, at := range compared(file, names) {
			found = append(found, fset.Position(at).String())
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Fatalf("%d files were read: %v", files, err)
	}
	if len(found) > mostCompared {
		t.Errorf("kinds of questions are compared in %d places, of which %d may be:\n%s", len(found), mostCompared,
			strings.Join(found, "\n"))
	}
}

func TestEveryWayToCompareAKindIsFound(t *testing.T) {
	const source = `package p

func f() {
	_ = q.Kind == questions.AskPermission
	_ = questions.AskPermission != kind
	_ = q.Kind == "permission"
	_ = map[Name]bool{questions.AskPermission: true}
	switch q.Kind {
	case questions.AskPermission, "permission":
	}
	_ = q.Text == "permission"
	q.Kind = questions.AskPermission
	ask(questions.AskPermission)
	_ = Asked{Kind: questions.AskPermission}
}
`
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for _, at := range compared(file, kindNames(t)) {
		lines = append(lines, fset.Position(at).Line)
	}
	if !slices.Equal(lines, []int{4, 5, 6, 7, 9, 9}) {
		t.Errorf("found in lines %v", lines)
	}
}

// kindNames returns the names of the kinds, as constants and as they are stored.
func kindNames(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if stored, ok := spec.Values[0].(*ast.BasicLit); ok && strings.HasPrefix(spec.Names[0].Name, "Ask") {
				names = append(names, spec.Names[0].Name, stored.Value)
			}
		}
		return true
	})
	if len(names) != 2*len(kinds) {
		t.Fatalf("%d names of %d kinds", len(names), len(kinds))
	}
	return names
}

// compared finds where a kind is held against one of the names: by an operator, in a switch, as the key of a map.
func compared(file *ast.File, names []string) (at []token.Pos) {
	isKind := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Kind"
	}
	named := func(ofKind bool, all ...ast.Expr) {
		for _, e := range all {
			name := ""
			switch e := e.(type) {
			case *ast.SelectorExpr:
				name = e.Sel.Name
			case *ast.Ident:
				name = e.Name
			case *ast.BasicLit:
				if ofKind {
					name = e.Value
				}
			}
			if slices.Contains(names, name) {
				at = append(at, e.Pos())
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				named(isKind(n.X) || isKind(n.Y), n.X, n.Y)
			}
		case *ast.SwitchStmt:
			for _, s := range n.Body.List {
				if clause, ok := s.(*ast.CaseClause); ok {
					named(n.Tag != nil && isKind(n.Tag), clause.List...)
				}
			}
		case *ast.KeyValueExpr:
			named(false, n.Key)
		}
		return true
	})
	return at
}
