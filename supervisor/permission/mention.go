package permission

import (
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"claude-supervise/supervisor/text"
)

// mention is a reference to a file in a message to claude, as it reads them: @path behind white space, also in quotes.
var mention = text.Lazily(`(^|[\s\p{Z}\x{feff}])@("[^"]*"|[^\s\p{Z}\x{feff}]+)`)

// Unattached writes a message so that claude attaches no file to it from outside the run's folder. It attaches each
// file that a message mentions (@~/notes.md), without a hook before it and without asking anybody, and much of what we
// send was written by agents: tasks, reports, messages. Such a mention becomes code, which claude leaves alone, and the
// agent has to read the file, which a person is asked about. from are the folders from which a path may be meant: the
// run's, and where the agent has gone.
func Unattached(message, home, folder string, from ...string) string {
	if !strings.Contains(message, "@") {
		return message
	}
	return mention().ReplaceAllStringFunc(message, func(found string) string {
		at := strings.IndexByte(found, '@')
		name := strings.Trim(found[at+1:], `"`)
		file, _, _ := strings.Cut(name, "#") // of lines
		for _, path := range uniq([]string{name, file, strings.TrimRightFunc(file, unicode.IsPunct)}) {
			for _, dir := range append(from, folder) {
				if mentionsOutside(path, home, folder, dir) {
					return found[:at] + "`" + found[at:] + "`"
				}
			}
		}
		return found
	})
}

// mentionsOutside reports whether a path leads out of the run's folder, and may be there.
func mentionsOutside(path, home, folder, from string) bool {
	if path == "" {
		return false
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = home + path[1:]
	}
	if !Locate(path, from, folder).outside {
		return false
	}
	_, err := os.Stat(Locate(path, from, folder).Path)
	return err == nil || filepath.IsAbs(path)
}
