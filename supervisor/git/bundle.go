package git

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// MaxEntries bounds the entries of an archive, and the files that git names.
const MaxEntries = 200_000

// A GitManifest says what the uncommitted work belongs to. Head is "" where nothing was committed yet.
type GitManifest struct {
	Head    string            `json:"head,omitempty"`
	Branch  string            `json:"branch,omitempty"` // "" for a detached HEAD
	Remotes map[string]string `json:"remotes,omitempty"`
	Prefix  string            `json:"prefix,omitempty"` // where in the work tree the run's folder is
	Format  string            `json:"object_format"`    // sha1, sha256
}

// IsObjectName reports whether a text is the whole name of an object of git, by SHA-1 or SHA-256.
func IsObjectName(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// PublicURL is an address without what lets one in: the user, the password, the query. It is "" for one that is no
// address to fetch from, such as a command.
func PublicURL(address string) string {
	if !utf8.ValidString(address) || strings.ContainsAny(address, "\n\r\t\x00") || strings.Contains(address, "::") {
		return ""
	}
	if !strings.Contains(address, "://") {
		return address // a path, or HOST:PATH with the name of a user at most
	}
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.User, u.RawQuery, u.Fragment = nil, "", ""; u.Host == "" && u.Scheme != "file" {
		return ""
	}
	return u.String()
}
