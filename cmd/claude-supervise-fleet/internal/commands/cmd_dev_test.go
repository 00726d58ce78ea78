package commands

import (
	"net"
	"path/filepath"
	"strconv"
	"testing"
)

func TestTheServerKeepsItsPortUnlessSomebodyElseHasIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "port")
	if port := keptPort(file); port != 0 {
		t.Errorf("at first it is %d", port)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	if err := keepPort(file, net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err != nil {
		t.Fatal(err)
	}
	if got := keptPort(file); got != 0 {
		t.Errorf("with somebody else on %d it is %d", port, got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := keptPort(file); got != port {
		t.Errorf("it was %d, and is %d", port, got)
	}
}
