package web

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/client"
)

const (
	tokenFile  = "serve.token"
	tokenBytes = 32
)

// Token returns the token that is kept in a folder, which must exist, and makes one if there is none, or another is
// wanted. It stays the same, so that a bookmark lasts; another makes all that have the old one useless. program is how
// a person calls the program that serves.
func Token(folder, program string, another bool) (string, error) {
	path := filepath.Join(folder, tokenFile)
	if !another {
		kept, err := readToken(path, program)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return kept, err
		}
	}
	random := make([]byte, tokenBytes)
	_, _ = rand.Read(random) // never fails
	token := base64.RawURLEncoding.EncodeToString(random)
	if err := client.ReplaceFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("the token of the page cannot be kept: %w; nothing is served", err)
	}
	return token, nil
}

// readToken reads a token that nobody else can have read or written.
func readToken(path, program string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(text))
	random, err := base64.RawURLEncoding.DecodeString(token)
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || err != nil || len(random) != tokenBytes {
		return "", fmt.Errorf("%s is not a token that only you can read; nothing is served: `%s serve "+
			"--new-token` makes another", path, program)
	}
	return token, nil
}
