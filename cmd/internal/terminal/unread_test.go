package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAPipeThatNobodyReadsAnyMoreIsNoticedWithoutAWrite(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = write.Close() }()
	gone := make(chan struct{})
	stop, err := WhenUnread(write, func() { close(gone) })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	select {
	case <-gone:
		t.Error("gone before it went")
	default:
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	<-gone
}

func TestWhatIsNoPipeIsNotWaitedFor(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	stop, err := WhenUnread(file, func() { t.Error("a file is always there") })
	if err != nil {
		t.Fatal(err)
	}
	stop()
}

func TestTheWaitForAReaderCanBeCalledOff(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = write.Close() }()
	stop, err := WhenUnread(write, func() { t.Error("called after it was called off") })
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
}
