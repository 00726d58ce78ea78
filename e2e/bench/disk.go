package main

import (
	"errors"
	"net"
	"os"
	"path/filepath"
)

// frames is about what SQLite adds to its log for one event of a run, in bytes: the pages of its tables.
const frames = 5 * 4096

// A disk is the floor of all that must last and be told: a file that is appended to, and a socket that is rung.
type disk struct {
	file        *os.File
	waker, hand *net.UnixConn
	written, in []byte
}

func newDisk(dir string) (*disk, error) {
	file, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	address := &net.UnixAddr{Name: filepath.Join(dir, "waker"), Net: "unixgram"}
	waker, err := net.ListenUnixgram("unixgram", address)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	hand, err := net.DialUnix("unixgram", nil, address)
	if err != nil {
		return nil, errors.Join(err, file.Close(), waker.Close())
	}
	return &disk{file: file, waker: waker, hand: hand, written: make([]byte, frames), in: make([]byte, 1)}, nil
}

// write appends, and waits until it would outlive a power cut.
func (d *disk) write() error {
	if _, err := d.file.Write(d.written); err != nil {
		return err
	}
	return d.file.Sync()
}

// ring sends a datagram and takes it in.
func (d *disk) ring() error {
	if _, err := d.hand.Write(d.in); err != nil {
		return err
	}
	_, err := d.waker.Read(d.in)
	return err
}

func (d *disk) close() error {
	return errors.Join(d.file.Close(), d.hand.Close(), d.waker.Close())
}
