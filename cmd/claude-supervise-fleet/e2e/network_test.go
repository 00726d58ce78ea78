package e2e

import (
	"errors"
	"io"
	"net"
	"sync"
)

// A network is between a worker and the server, and can be cut: what is sent then arrives when it is mended, as over a
// link that comes back before anybody has given up.
type network struct {
	address string // for the worker

	mu   sync.Mutex
	open chan struct{} // closed while it lets through
}

// network returns one to the server of the site.
func (s *site) network() *network {
	s.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	n := &network{address: l.Addr().String(), open: make(chan struct{})}
	close(n.open)
	server := s.server().Address
	var all sync.WaitGroup
	all.Go(func() {
		for {
			worker, err := l.Accept()
			if err != nil {
				if !errors.Is(err, net.ErrClosed) {
					s.t.Error(err)
				}
				return
			}
			there, err := net.Dial("tcp", server)
			if err != nil { // it has ended with the test
				_ = worker.Close()
				continue
			}
			all.Go(func() { n.carries(there, worker) })
			all.Go(func() { n.carries(worker, there) })
		}
	})
	s.t.Cleanup(func() { // before the processes end: they close what is carried
		n.mends()
		_ = l.Close()
	})
	return n
}

// carries carries what is sent until one side ends.
func (n *network) carries(to io.WriteCloser, from io.ReadCloser) {
	defer func() { _, _ = to.Close(), from.Close() }() // both ends have seen it
	packet := make([]byte, 32<<10)
	for {
		size, err := from.Read(packet)
		if err != nil {
			return
		}
		n.mu.Lock()
		open := n.open
		n.mu.Unlock()
		<-open
		if _, err := to.Write(packet[:size]); err != nil {
			return
		}
	}
}

func (n *network) cuts() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = make(chan struct{})
}

func (n *network) mends() {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.open:
	default:
		close(n.open)
	}
}
