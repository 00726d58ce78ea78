package checkpoints

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"claude-supervise/checkpoints/files"

	"golang.org/x/sys/unix"
)

// A Waker tells a supervisor that somebody has left something in the inbox of its run. It is a hint and carries
// nothing: a ring may be lost, and anyone who can reach the socket may ring.
type Waker struct {
	path      string
	conn      *net.UnixConn
	woken     chan struct{}
	listening sync.WaitGroup

	slots  chan struct{} // one value for each of pipes
	waits  sync.WaitGroup
	mu     sync.Mutex
	pipes  map[*os.File]bool // of those that leave something now
	closed bool
}

// Listen hangs up the wake-up socket of a run. Only the run's owner may: a socket that is there already is taken for a
// dead supervisor's and replaced. Listen before the inbox is read for the first time, so that no note is missed.
// Where another user has taken the folder's name, as anyone can in /tmp, the socket is in the state folder instead.
func (d Dirs) Listen(run string) (*Waker, error) {
	if !PlainID(run) {
		return nil, fmt.Errorf("listen for run %q: not an id", files.Shorten(run))
	}
	path, err := d.placeWaker(run)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", d.wakerPath(run), err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", path, err)
	}
	b := &Waker{path: path, conn: conn, woken: make(chan struct{}, 1),
		slots: make(chan struct{}, maxAhead), pipes: map[*os.File]bool{}}
	b.listening.Go(b.listen)
	return b, nil
}

// listen ends when Close closes the socket.
func (b *Waker) listen() {
	ring, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*4))
	for {
		_, n, _, _, err := b.conn.ReadMsgUnix(ring, rights)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if !b.ahead(rights[:n]) {
			b.notify()
		}
	}
}

func (b *Waker) notify() {
	select {
	case b.woken <- struct{}{}:
	default: // a ring that has not been read yet says it all
	}
}

// Path is what Ring needs. The run's record keeps it.
func (b *Waker) Path() string { return b.path }

// C returns one value for any number of rings since the last one was received. It is never closed.
func (b *Waker) C() <-chan struct{} { return b.woken }

// Close takes the wake-up socket down and removes its socket.
func (b *Waker) Close() error {
	removed := os.Remove(b.path)
	if errors.Is(removed, fs.ErrNotExist) {
		removed = nil // a cleaner of temporary folders was here before us
	}
	closed := b.conn.Close()
	b.listening.Wait()
	b.closeAhead()
	return errors.Join(removed, closed)
}

// Ring rings the wake-up socket at path. It never blocks, and does not say whether anybody was there: with no
// supervisor there the note waits in the inbox, and one that is behind with its wake-up socket has a ring pending
// already.
func Ring(path string) { send(path, nil) }

// Socket makes the folder of the wake-up sockets, and returns the path of another one there that is called id.
func (d Dirs) Socket(id string) (string, error) {
	if !PlainID(id) {
		return "", fmt.Errorf("a socket for %q: not an id", files.Shorten(id))
	}
	return d.placeWaker(id)
}
