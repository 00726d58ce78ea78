package text

import "path/filepath"

// Under reports whether a path is a folder or lies below it. It looks at the names only.
func Under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Inside returns a path that an agent names as one from its folder; not ok if it leads out of it by its letters. What
// links do, who reads it sees.
func Inside(folder, path string) (rel string, ok bool) {
	if filepath.IsAbs(path) {
		var err error
		if path, err = filepath.Rel(folder, path); err != nil {
			return "", false
		}
	}
	path = filepath.Clean(path)
	return path, filepath.IsLocal(path)
}

// Renamed returns where a path leads, once a folder is found at another than before: what has another name is the
// folder above which both end differently, and all below it moved along.
func Renamed(from, to string) func(path string) string {
	before, now := filepath.Clean(from), filepath.Clean(to)
	for filepath.Base(before) == filepath.Base(now) {
		above, aboveNow := filepath.Dir(before), filepath.Dir(now)
		if above == aboveNow || above == "/" || aboveNow == "/" {
			break
		}
		before, now = above, aboveNow
	}
	return func(path string) string {
		if path == "" || !Under(path, before) {
			return path
		}
		return now + path[len(before):]
	}
}
