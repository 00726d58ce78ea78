// Package yamlfile reads YAML files that people write: every key is known and there once, every value of its kind, and
// what is wrong is said with its line, all of it at once.
package yamlfile

import (
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// MaxFile bounds a file, in bytes.
const MaxFile = 1 << 20

// ReadFile returns the text of the file at path, as Read does. A pipe that nobody writes to is empty; another is read
// to its end.
func ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return Read(f)
}

// Read returns the text that from holds. It blocks until that has ended. A text of more than 1 MiB is an *Invalid.
func Read(from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err == nil && len(text) > MaxFile {
		err = &Invalid{Problems: []Problem{{Text: fmt.Sprintf(
			"it is larger than %d MiB; put the material in files and name them", MaxFile>>20)}}}
	}
	if err != nil {
		return nil, err
	}
	return text, nil
}

// An Invalid is a file that cannot be meant. After the first dozen or so of its problems no more are looked for.
type Invalid struct{ Problems []Problem }

// A Problem is one reason, in words for people.
type Problem struct {
	Line int // 0: the whole file, or not known
	Text string
}

// MaxTold bounds how many problems are told of at a time.
const MaxTold = 10

// Error gives each problem on its own line.
func (e *Invalid) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == MaxTold {
			lines = append(lines, "and more")
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// String returns the problem with its line.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Text)
}
