package claude

import (
	"encoding/json"
	"go/version"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const (
	npmPackage  = "@anthropic-ai/claude-code" // and, with a dash and the platform behind it, that of the native program
	maxManifest = 1 << 20                     // bytes of a package.json that are read
)

// InstalledRelease returns the release of the program at path from where it lies, links resolved, and runs nothing: the
// version of the npm package that it is part of, or its own name where it is versions/X.Y.Z, as the native installer
// has it. It gives "" for what lies elsewhere, a script around the program for one. It blocks for the disk alone.
func InstalledRelease(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	dir, name := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(dir) == "versions" && isVersion(name) {
		return name
	}
	if v := packageVersion(dir); v != "" {
		return v
	}
	return packageVersion(filepath.Dir(dir)) // the program is in bin/
}

// packageVersion returns the version of Claude Code's package in a folder, "" if it is another's or none.
func packageVersion(dir string) string {
	path := filepath.Join(dir, "package.json")
	// what is none may not be opened: a pipe would hold us
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var manifest struct{ Name, Version string }
	if json.NewDecoder(io.LimitReader(f, maxManifest)).Decode(&manifest) != nil || !isVersion(manifest.Version) {
		return ""
	}
	if manifest.Name != npmPackage && !strings.HasPrefix(manifest.Name, npmPackage+"-") {
		return ""
	}
	return manifest.Version
}

// isVersion reports whether a text is one: X.Y.Z.
func isVersion(text string) bool { return strings.Count(text, ".") == 2 && version.IsValid("go"+text) }
