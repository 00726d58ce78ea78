// Package capability keeps what lets a button on a phone answer one question: a secret that is in the notice alone. A
// hash of it is kept in the folder of the run, beside the answers that it can give. It is good for as long as its
// question is open (see press in cmd/claude-supervise).
package capability

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"claude-supervise/supervisor/client"
)

// ErrUnknown means that there is no such capability.
var ErrUnknown = errors.New("no such button")

// A grant is what one capability can do.
type grant struct {
	Hash    string   `json:"sha256"`
	Answers []string `json:"answers"`
}

// maxGrants bounds how many a question has: one for each time that it was told.
const maxGrants = 16

// maxFile bounds the file of a question, in bytes.
const maxFile = 1 << 20

// New makes a capability that can give these answers to a question, and keeps its hash in the folder of the run.
func New(folder, question string, answers []string) (string, error) {
	path := file(folder, question)
	grants, err := read(path)
	if err != nil {
		return "", err
	}
	secret := rand.Text()
	grants = append(grants, grant{Hash: hash(secret), Answers: answers})
	text, err := json.Marshal(grants[max(0, len(grants)-maxGrants):])
	if err != nil {
		return "", err
	}
	return question + "." + secret, client.ReplaceFile(path, text, 0o600)
}

// Question is the question that a capability says it is of.
func Question(capability string) string {
	question, _, _ := strings.Cut(capability, ".")
	return question
}

// Answers returns what a capability can answer; ErrUnknown if it is none.
func Answers(folder, capability string) ([]string, error) {
	question, secret, _ := strings.Cut(capability, ".")
	grants, err := read(file(folder, question))
	if err != nil {
		return nil, err
	}
	given := []byte(hash(secret))
	for _, g := range grants {
		if subtle.ConstantTimeCompare(given, []byte(g.Hash)) == 1 {
			return g.Answers, nil
		}
	}
	return nil, ErrUnknown
}

// file is where the hashes of a question's capabilities are.
func file(folder, question string) string {
	return filepath.Join(folder, filepath.Base(question)+".buttons")
}

func read(path string) (grants []grant, err error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && (!info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 || info.Size() > maxFile) {
		err = errors.New("it is not a file that only you can read")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err == nil {
		err = json.Unmarshal(text, &grants)
	}
	if err != nil {
		return nil, fmt.Errorf("the buttons of a question cannot be read: %s: %w", path, err)
	}
	return grants, nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
