package permission

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"claude-supervise/supervisor/rules"
	"claude-supervise/supervisor/text"
)

// The bounds of what is looked at for one command line: the folders from which its words may be meant, the files that
// its patterns may stand for, and the bytes of a path. What is more cannot be taken apart.
const (
	maxFrom    = 32
	maxMatched = 4000
	maxPath    = 4096
)

// A chain is the way to each guarded folder, and the guarded files, as they are at the moment.
type chain struct {
	ways    [][]place // of each folder: the root first, the folder itself last
	files   []place
	unclear bool // something was looked at of which nobody can say whether it is of the config
}

// A place is a path, and what is there; nil if nothing is.
type place struct {
	path string
	info fs.FileInfo
}

func placeAt(path string) place {
	info, _ := os.Stat(path) // nothing is there, or nobody can say
	return place{path, info}
}

// is reports whether another path means the same place: by its name, or as the file system knows it.
func (p place) is(other place) bool {
	return folded(p.path) == folded(other.path) || p.info != nil && other.info != nil && os.SameFile(p.info, other.info)
}

func (g Guarded) chain() *chain {
	c := &chain{}
	for _, folder := range g.Folders {
		var way []place
		for _, dir := range slices.Backward(withAbove(folder)) {
			way = append(way, placeAt(dir))
		}
		c.ways = append(c.ways, way)
		c.files = append(c.files, placeAt(filepath.Join(folder, "config.yaml")))
	}
	for _, file := range g.Files {
		c.files = append(c.files, placeAt(file))
	}
	return c
}

// within reports whether a path is the config or in it; if not, above is each folder on the way to the config that the
// path is. No link is in the path.
func (c *chain) within(real string) (within bool, above []string) {
	at := placeAt(real)
	if slices.ContainsFunc(c.files, at.is) {
		return true, nil
	}
	for _, way := range c.ways {
		folder := way[len(way)-1]
		if text.Under(folded(real), folded(folder.path)) {
			return true, nil
		}
		for dir := real; folder.info != nil; dir = filepath.Dir(dir) {
			if info, err := os.Stat(dir); err == nil && os.SameFile(info, folder.info) {
				return true, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
		for _, step := range way {
			if step.is(at) {
				above = append(above, step.path)
			}
		}
	}
	return false, above
}

// look is within for a path that may have links in it: a shell follows each before a .., a tool perhaps does not.
func (c *chain) look(name string) (within bool, above []string) {
	if len(filepath.Clean(name)) > maxPath {
		return false, nil // the kernel takes no such path
	}
	for _, read := range uniq([]string{name, filepath.Clean(name)}) {
		real, rest, err := walk(read)
		ofAny := filepath.Base(real) == "cwd" || filepath.Base(real) == "root" || len(rest) > 0
		if ofAny && errors.Is(err, errOfProcess) {
			c.unclear = true // a folder of a process, which may be any
		}
		if err != nil {
			continue // the kernel comes to nothing, too
		}
		in, on := c.within(real)
		if in {
			return true, nil
		}
		above = append(above, on...)
	}
	return false, above
}

// names reports whether a text, taken for a path from a folder, is of the config.
func (c *chain) names(name, from string) bool {
	if !filepath.IsAbs(name) {
		name = from + "/" + name
	}
	within, _ := c.look(name)
	return within
}

// matched is look for a pattern: what it could stand for by its names, whether or not it is there, and by the links
// that are there.
func (c *chain) matched(pattern string) (within bool, above []string) {
	names := slices.DeleteFunc(strings.Split(path.Clean(pattern), "/"), func(s string) bool { return s == "" })
	for _, way := range c.ways {
		folder := way[len(way)-1]
		for _, file := range append(c.files, folder) {
			if namesMatch(names, strings.Split(file.path[1:], "/")) {
				return true, nil
			}
		}
		for _, step := range way[1:] {
			if n := strings.Count(step.path, "/"); n == len(names) && namesMatch(names, strings.Split(step.path[1:], "/")) {
				above = append(above, step.path)
			}
		}
	}
	paths, all := expandPattern(names)
	c.unclear = c.unclear || !all
	for _, path := range paths {
		in, on := c.look(path)
		if in {
			return true, nil
		}
		above = append(above, on...)
	}
	return false, above
}

// namesMatch reports whether the first names of a pattern match all of a path's. A ** is any number of names.
func namesMatch(pattern, path []string) bool {
	switch {
	case len(path) == 0:
		return true
	case len(pattern) == 0:
		return false
	case pattern[0] == "**":
		return namesMatch(pattern[1:], path) || nameMatches("**", path[0]) && namesMatch(pattern, path[1:])
	}
	return nameMatches(pattern[0], path[0]) && namesMatch(pattern[1:], path[1:])
}

// nameMatches is path.Match where the file system may not tell cases apart, and with any character for those in
// brackets: shells write them in other ways. A * alone stands for no name that begins with a dot: that is how a shell
// lists a folder.
func nameMatches(pattern, name string) bool {
	if strings.HasPrefix(name, ".") && (pattern == "*" || pattern == "**") {
		return false
	}
	match, err := path.Match(folded(withoutBrackets(pattern)), folded(name))
	return match && err == nil
}

// withoutBrackets writes a * for what is in brackets. A bracket that is not closed is one.
func withoutBrackets(pattern string) string {
	open := strings.IndexByte(pattern, '[')
	if open < 0 || open > 0 && pattern[open-1] == '\\' {
		return pattern
	}
	if end := strings.LastIndexByte(pattern, ']'); end > open+1 {
		return pattern[:open] + "*" + pattern[end+1:]
	}
	return pattern[:open] + `\[` + withoutBrackets(pattern[open+1:])
}

// expandPattern returns the folders and links that a pattern stands for; false if there may be more. A file that is
// none of these is found by its name (namesMatch).
func expandPattern(names []string) (paths []string, all bool) {
	paths = []string{""}
	for _, name := range names {
		if plain, is := unquoted(name); is {
			for i := range paths {
				paths[i] += "/" + plain
			}
			continue
		}
		var next []string
		for _, dir := range paths {
			entries, _ := os.ReadDir(dir + "/") // what cannot be read matches nothing
			for _, e := range entries {
				if (e.IsDir() || e.Type()&fs.ModeSymlink != 0) && nameMatches(name, e.Name()) {
					next = append(next, dir+"/"+e.Name())
				}
			}
			if len(next) > maxMatched {
				return next, false
			}
		}
		paths = next
	}
	return paths, true
}

// unquoted returns the text that a pattern stands for; false if it may stand for several.
func unquoted(pattern string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern):
			i++
		case pattern[i] == '*', pattern[i] == '?', pattern[i] == '[' && strings.IndexByte(pattern[i+1:], ']') > 0:
			return "", false
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), true
}

// folded writes a name so that two are the same if any file system takes one for the other: without regard to case, and
// without characters that cannot be seen, which some leave out.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point,
			unicode.Variation_Selector) {
			return -1
		}
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// whyLine says why a person is asked about a command line: it names the config, or cannot be taken apart; "" if
// neither.
func (g Guarded) whyLine(line, cwd string) string {
	c := g.chain()
	if c.names(".", cwd) || g.spelled(line) {
		return WhyAsked
	}
	named, whole := rules.Named(line, func(name string) string {
		switch name {
		case "HOME":
			return g.Home
		case "PWD":
			return cwd
		case "XDG_CONFIG_HOME":
			return filepath.Dir(g.Folders[0])
		}
		return ""
	})
	if !whole || widensPatterns(line) {
		return WhyUnclear
	}
	if schedulesFrom(cwd).inLine(g, line, named) {
		return WhySchedule
	}
	from, within := c.reached(g.candidates(named.Words), cwd)
	if within || slices.ContainsFunc(named.Moves, func(operands []string) bool {
		return g.moved(c, g.candidates(operands), from)
	}) {
		return WhyAsked
	}
	return c.whyUnclear()
}

func (c *chain) whyUnclear() string {
	if c.unclear {
		return WhyUnclear
	}
	return ""
}

// spelled reports whether a line has the config's path in it, wherever.
func (g Guarded) spelled(line string) bool {
	line = folded(line)
	for _, folder := range g.Folders {
		above, name := path.Split(folder)
		for _, named := range []string{folder, path.Join(path.Base(above), name), path.Join(name, "config.yaml")} {
			if strings.Contains(line, folded(named)) {
				return true
			}
		}
	}
	return false
}

// widensPatterns reports whether a line has a * stand for names that begin with a dot, too.
func widensPatterns(line string) bool {
	line = strings.ToLower(line)
	return strings.Contains(line, "dotglob") || strings.Contains(line, "globdots") || strings.Contains(line, "glob_dots")
}

// candidates returns the paths that words may be, or have in them.
func (g Guarded) candidates(words []string) (all []string) {
	for _, word := range words {
		if flag := strings.HasPrefix(word, "-"); flag && len(word) > 2 {
			all = append(all, g.expanded(word[2:])) // -C.config
		} else if !flag && word != "" {
			all = append(all, word)
		}
		if _, value, ok := strings.Cut(word, "="); ok && value != "" { // of=~/x, --directory=x
			all = append(all, g.expanded(value))
		}
	}
	return uniq(slices.DeleteFunc(all, func(s string) bool { return strings.ContainsRune(s, 0) }))
}

// reached follows words from the folder and from each folder on the way to the config that they name: the line may go
// there first. within: one of them is of the config.
func (c *chain) reached(words []string, cwd string) (from []string, within bool) {
	from = []string{cwd}
	for i := 0; i < len(from); i++ {
		if i == maxFrom {
			c.unclear = true
			break
		}
		for _, word := range words {
			if i > 0 && filepath.IsAbs(word) {
				continue
			}
			in, above := c.word(word, from[i])
			if in {
				return nil, true
			}
			for _, dir := range above {
				if !slices.Contains(from, dir) {
					from = append(from, dir)
				}
			}
		}
	}
	return from, false
}

// word looks at one word of a line from a folder.
func (c *chain) word(word, from string) (within bool, above []string) {
	if plain, is := unquoted(word); is {
		if !filepath.IsAbs(plain) {
			plain = from + "/" + plain
		}
		return c.look(plain)
	}
	if !filepath.IsAbs(word) {
		word = rules.QuotePattern(from) + "/" + word
	}
	return c.matched(word)
}

// moved reports whether a program that moves files is given a folder above the config: one below the home in any case;
// the home or one above it together with something that has the name of the next folder on the way.
func (g Guarded) moved(c *chain, operands, from []string) bool {
	home, _ := follow(g.Home)
	for _, operand := range operands {
		for _, dir := range from {
			_, above := c.word(operand, dir)
			for _, at := range above {
				if g.Home != "" && (at != g.Home && text.Under(at, g.Home) || at != home && text.Under(at, home)) {
					return true
				}
				for _, folder := range g.Folders {
					rest, err := filepath.Rel(at, folder)
					next, _, _ := strings.Cut(rest, "/")
					if err == nil && filepath.IsLocal(rest) && slices.ContainsFunc(operands, func(other string) bool {
						return nameMatches(path.Base(other), next)
					}) {
						return true
					}
				}
			}
		}
	}
	return false
}
