package procs

import (
	"io"
	"os"
	"testing"
	"testing/iotest"
	"time"
)

// A machine that is busy enough lets any time pass between a deadline and the read that it is for.
func TestWhatAProcessHasSaidIsReadHoweverLateWeAre(t *testing.T) {
	r, w, err := os.Pipe()
	noError(t, err)
	defer r.Close()
	defer w.Close() // as if something that the process left behind held it open
	const said = "the last words"
	if _, err := w.WriteString(said); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	close(exited)
	got, err := io.ReadAll(iotest.OneByteReader(&Output{f: r, exited: exited, drain: -time.Second}))
	if err != nil || string(got) != said {
		t.Errorf("read %q (%v), want %q", got, err, said)
	}
}
