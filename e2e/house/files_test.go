package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A file is one of the program's, in any of its modules and for any system.
type file struct {
	*ast.File
	path   string // from the root of the project
	isTest bool
	set    *token.FileSet
}

// at is a place in the file, as a person goes there.
func (f file) at(pos token.Pos) string { return f.set.Position(pos).String() }

// eachFile calls see with each file of Go.
func eachFile(t *testing.T, see func(file)) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" ||
			entry.Name() == "bin" || entry.Name() == "node_modules"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		see(file{parsed, filepath.ToSlash(rel), strings.HasSuffix(name, "_test.go"), set})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
