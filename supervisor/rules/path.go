package rules

import (
	"path"
	"slices"
	"strings"
)

// From returns an exact rule about a file in a folder as one from the root, which is the same wherever it is held
// against others.
func (r Rule) From(folder string) Rule {
	if (r.Tool == "Read" || r.Tool == "Edit") && strings.HasPrefix(r.Spec, "/") && !strings.HasPrefix(r.Spec, "//") {
		r.Spec = "/" + path.Join(folder, r.Spec)
	}
	return r
}

// pathCovered reports whether the path of a rule covers that of an exact one, from the root or from the folder. The
// forms are those of gitignore as Claude Code reads them: //from/the/root, /from/the/folder, ./here or here; * stands
// for anything in one name, ** for any number of names, and what ends in a folder's name is all that lies under it.
//
// Less is covered than gitignore would: a name alone is one in the folder and not at any depth, no wildcard stands for
// a name that begins with a dot (.git, .claude, .env), and ~ is left to claude.
func pathCovered(rule, exact, cwd string) bool {
	target, fromRoot := strings.CutPrefix(exact, "/")
	if !fromRoot {
		return false
	}
	if !strings.HasPrefix(target, "/") {
		target = strings.TrimSuffix(cwd, "/") + exact
	}
	if !path.IsAbs(target) || path.Clean(target) != target {
		return false
	}
	switch {
	case strings.HasPrefix(rule, "!"), strings.HasPrefix(rule, "~"), strings.ContainsRune(rule, '\\'):
		return false
	case strings.HasPrefix(rule, "//"):
		rule = rule[1:]
	default:
		if !path.IsAbs(cwd) || strings.ContainsAny(cwd, `*?[\`) {
			return false
		}
		rule = path.Join(cwd, "/") + "/" + strings.TrimPrefix(strings.TrimPrefix(rule, "./"), "/")
	}
	names := strings.Split(strings.Trim(rule, "/"), "/")
	if slices.ContainsFunc(names, func(name string) bool { return name == "" || name == "." || name == ".." }) {
		return false
	}
	return namesCovered(names, strings.Split(target[1:], "/"))
}

// namesCovered holds the names of a rule against those of a path.
func namesCovered(rule, target []string) bool {
	// reached[i]: the rule's names before i are matched by the target's names so far
	reached := make([]bool, len(rule)+1)
	step := func(from []bool) { // ** may be no name at all
		for i, name := range rule {
			if from[i] && name == "**" {
				from[i+1] = true
			}
		}
	}
	reached[0] = true
	step(reached)
	for n, name := range target {
		next := make([]bool, len(rule)+1)
		for i, want := range rule {
			switch {
			case !reached[i]:
			case want == "**":
				next[i] = !isHidden(name)
			case nameCovered(want, name):
				next[i+1] = true
			}
		}
		step(next)
		reached = next
		if reached[len(rule)] && rule[len(rule)-1] != "**" && !slices.ContainsFunc(target[n+1:], isHidden) {
			return true // a folder, and all that lies under it
		}
	}
	return reached[len(rule)]
}

func nameCovered(rule, name string) bool {
	if isHidden(name) && !isHidden(rule) {
		return false
	}
	ok, err := path.Match(rule, name)
	return err == nil && ok
}

// isHidden reports whether a name begins with a dot.
func isHidden(name string) bool { return strings.HasPrefix(name, ".") }
