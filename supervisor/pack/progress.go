package pack

import (
	"io"
	"os"
)

// progress is how much was read of the files that a run is unpacked from, or that are packed.
type progress struct {
	tell        func(done, total int64) // nil: nobody
	done, total int64
}

// expect adds a file that is going to be read.
func (p *progress) expect(path string) {
	if info, err := os.Stat(path); err == nil { // whoever opens it says what is wrong
		p.total += info.Size()
	}
}

// reading returns a reader that tells how much of it was read.
func (p *progress) reading(r io.Reader) io.Reader {
	if p.tell == nil {
		return r
	}
	return &countedReader{r, p}
}

type countedReader struct {
	io.Reader
	of *progress
}

// Read reads, and says so.
func (c *countedReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.of.done += int64(n)
	c.of.tell(c.of.done, c.of.total)
	return n, err
}
