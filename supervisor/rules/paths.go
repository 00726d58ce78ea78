package rules

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Named gives the words of a command line, wherever they stand in it: arguments, redirections, assignments. Quotes are
// taken off, ~, braces and the variables that env or the line itself sets are put in; a pattern stays one. moves are
// the words behind a program that moves, copies, links or removes files. A word of which a part is decided when it runs
// is left out, and so is a line that cannot be parsed.
func Named(line string, env func(name string) string) (words []string, moves [][]string) {
	if len(line) > maxParsed {
		return nil, nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, nil
	}
	assigned := map[string]string{}
	config := &expand.Config{NoUnset: true, Env: expand.FuncEnviron(func(name string) string {
		if value, ok := assigned[name]; ok {
			return value
		}
		return env(name)
	})}
	// Braces may stand for any number of words: a line with many, or with a sequence, keeps them.
	braces := strings.Count(line, "{") <= 4 && strings.Count(line, ",") <= 16 && !strings.Contains(line, "..")
	fields := func(w *syntax.Word) (found []string) {
		defer func() {
			if recover() != nil { // the library does so at what it cannot expand
				found = nil
			}
		}()
		var err error
		if braces {
			found, err = expand.Fields(config, w)
		} else {
			found = make([]string, 1)
			found[0], err = expand.Literal(config, w)
		}
		if err != nil {
			return nil
		}
		return found
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Name == nil || n.Value == nil {
				return true
			}
			if value := fields(n.Value); len(value) == 1 && len(value[0]) <= maxParsed {
				assigned[n.Name.Value] = value[0]
			}
		case *syntax.CallExpr:
			var all []string
			for _, w := range n.Args {
				all = append(all, fields(w)...)
			}
			if len(all) > 1 && moving[path.Base(all[0])] {
				moves = append(moves, all[1:])
			}
		case *syntax.Word:
			words = append(words, fields(n)...)
		}
		return len(words) < maxNamed
	})
	return words, moves
}

// maxNamed bounds the words of a line that are looked at.
const maxNamed = 1000

// moving are the programs that put files in another place, or take them away.
var moving = map[string]bool{"mv": true, "cp": true, "ln": true, "rm": true, "rmdir": true, "rsync": true,
	"install": true}
