package text

import "path/filepath"

// Under reports whether a path is a folder or lies below it. It looks at the names only.
func Under(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}
