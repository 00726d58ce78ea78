package checkpoints

import (
	"errors"
	"io"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// Who is about to leave something sends the end of a pipe ahead, and rings once it is saved; then it writes a byte into
// the pipe. Should it die before, the kernel closes the pipe without that, which rings for it. It costs a supervisor
// nothing while nobody leaves anything, and no second look where nobody dies.

// maxAhead bounds the pipes that a supervisor keeps open.
const maxAhead = 64

// RingAhead has the supervisor at path woken up should this process end before rung is called. Like Ring it never
// blocks, and does not say whether anybody was there.
func RingAhead(path string) (rung func()) {
	theirs, kept, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	send(path, unix.UnixRights(int(theirs.Fd())))
	return func() {
		_, _ = kept.Write([]byte{1}) // theirs is open still: without a reader SIGPIPE would come
		_ = kept.Close()
		_ = theirs.Close()
	}
}

// ahead waits for the other end of a pipe that came with a message, and reports whether there was one.
func (b *Waker) ahead(rights []byte) bool {
	pipes := received(rights)
	for _, fd := range pipes {
		var what unix.Stat_t
		err := unix.Fstat(fd, &what)
		if err != nil || what.Mode&unix.S_IFMT != unix.S_IFIFO || unix.SetNonblock(fd, true) != nil {
			_ = unix.Close(fd) // not ours: a read of anything else might block
			b.notify()
			continue
		}
		pipe := os.NewFile(uintptr(fd), "ahead of a ring")
		select {
		case b.slots <- struct{}{}:
		default:
			_ = pipe.Close()
			b.notify()
			continue
		}
		b.mu.Lock()
		if b.closed {
			b.mu.Unlock()
			_ = pipe.Close()
			return true
		}
		b.pipes[pipe] = true
		b.mu.Unlock()
		b.waits.Go(func() {
			_, err := pipe.Read(make([]byte, 1))
			b.mu.Lock()
			delete(b.pipes, pipe)
			b.mu.Unlock()
			_ = pipe.Close()
			<-b.slots
			if errors.Is(err, io.EOF) {
				b.notify()
			}
		})
	}
	return len(pipes) > 0
}

// received returns the files that came with a message.
func received(rights []byte) (files []int) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		if got, err := unix.ParseUnixRights(&m); err == nil {
			files = append(files, got...)
		}
	}
	return files
}

// closeAhead ends what still waits.
func (b *Waker) closeAhead() {
	b.mu.Lock()
	b.closed = true
	for pipe := range b.pipes {
		_ = pipe.Close() // ends its read
	}
	b.mu.Unlock()
	b.waits.Wait()
}

// send sends a message of one byte, with what comes along, unless the queue is full.
func send(path string, along []byte) {
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	raw, err := conn.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Write(func(fd uintptr) bool { // not conn.Write: that waits while the queue is full
		_ = unix.Sendmsg(int(fd), []byte{1}, along, nil, 0)
		return true
	})
}
