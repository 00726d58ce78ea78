// Package seal encrypts what a fleet gives to others to keep: payloads to the server, snapshots to the blob store. Both
// are bound to the fleet's key, which only workers and those who hand in runs have: what was not sealed with it, or was
// sealed as something else, does not open.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filippo.io/age"
)

// A Key is the fleet's. Its file is an identity as age-keygen makes it.
type Key struct {
	identity *age.X25519Identity
	payloads cipher.AEAD
	files    []byte // authenticates snapshots
	bound    bool   // it opens only what says what it is for (binding.go)
}

// onlyBound is the line in the file of a key that opens nothing of builds which did not say what a payload is for.
const onlyBound = "# only-bound"

// boundSince is when such builds ended: a key that age-keygen has made later opens nothing of theirs either.
var boundSince = time.Date(2026, time.December, 1, 0, 0, 0, 0, time.UTC)

// opensOnlyBound reports whether the file of a key says so.
func opensOnlyBound(file []byte) bool {
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSpace(line)
		made, dated := strings.CutPrefix(line, "# created: ") // as age-keygen writes it
		at, err := time.Parse(time.RFC3339, made)
		if line == onlyBound || dated && err == nil && !at.Before(boundSince) {
			return true
		}
	}
	return false
}

// ErrNoKey means that there is no file of a key.
var ErrNoKey = errors.New("there is no key of a fleet")

// ReadKey reads the key in a file. It refuses one that others can read.
func ReadKey(file string) (*Key, error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w in %s", ErrNoKey, file)
	case err != nil:
		return nil, fmt.Errorf("the fleet's key cannot be read: %w", err)
	case info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("the fleet's key in %s can be read by others, so it may not be secret any more. "+
			"Make a new key or, if nobody has read this one, run: chmod 600 %s", file, file)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the fleet's key cannot be read: %w", err)
	}
	all, err := age.ParseIdentities(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s holds no key of the form that age-keygen makes: %w", file, err)
	}
	identity, ok := all[0].(*age.X25519Identity)
	if !ok || len(all) != 1 {
		return nil, fmt.Errorf("%s must hold one X25519 key, of the form that age-keygen makes", file)
	}
	k, err := newKey(identity)
	if err != nil {
		return nil, err
	}
	k.bound = opensOnlyBound(content)
	return k, nil
}

// MakeKey is ReadKey, and makes the file where it is not there.
func MakeKey(file string) (*Key, error) {
	if k, err := ReadKey(file); !errors.Is(err, ErrNoKey) {
		return k, err
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	out, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return ReadKey(file) // somebody was faster
	}
	if err != nil {
		return nil, fmt.Errorf("the fleet's key cannot be made: %w", err)
	}
	_, err = fmt.Fprintf(out, "# the key of a fleet of claude-supervise\n%s\n%s\n", onlyBound, identity)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return nil, fmt.Errorf("the fleet's key cannot be written: %w", err)
	}
	return ReadKey(file)
}

func newKey(identity *age.X25519Identity) (*Key, error) {
	derive := func(of string) ([]byte, error) {
		return hkdf.Key(sha256.New, []byte(identity.String()), nil, "claude-supervise fleet "+of, 32)
	}
	payloads, err := derive("payloads")
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(payloads)
	if err != nil {
		return nil, err
	}
	k := &Key{identity: identity}
	if k.payloads, err = cipher.NewGCMWithRandomNonce(block); err != nil {
		return nil, err
	}
	k.files, err = derive("snapshots")
	return k, err
}
