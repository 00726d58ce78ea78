package service

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Misfilled refuses a start for what is in one of its fields.
func Misfilled(field, format string, args ...any) error {
	return &Refusal{Reason: Unfit, Field: field,
		Text: fmt.Sprintf(format+"; nothing was started", args...)}
}

// requestOf is where the folder of a run with a key says what it was started with: a link, which is made whole or not
// at all, and leads nowhere.
func requestOf(folder string) string { return filepath.Join(folder, "request") }

// Claim has the run of a key, whose folder this is, stand for a request; a *Refusal if it stands for another.
func (r Start) Claim(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(text))
	if err = os.Symlink(sum, requestOf(folder)); !errors.Is(err, fs.ErrExist) {
		return err
	}
	if before, err := os.Readlink(requestOf(folder)); err != nil || before == sum {
		return err
	}
	return Refused("this Idempotency-Key came with another request before; give a new request a new key; " +
		"nothing was started")
}

// Release has the key of a run that was not started free for another request.
func Release(folder string) { _ = os.Remove(requestOf(folder)) }
