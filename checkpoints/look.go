package checkpoints

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"modernc.org/sqlite"
)

// inspect refuses a database that is not ours to open, as far as the file alone tells: a newer one, another program's,
// a damaged one. SQLite would leave a log and its index beside each of them. It looks twice, for a checkpoint of
// another process that is under way can look like damage for an instant. It tells, too, whether there is a log with
// something in it.
func inspect(path string) (logged bool, err error) {
	if logged, err = look(path); err == nil {
		return logged, nil
	}
	return look(path)
}

// look reads the file without its log and without a lock. Only SQLite may open it: its locks are the process's, and
// closing the file by other means would give back those of another store in this process.
func look(path string) (logged bool, err error) {
	corrupt := func(why error) error {
		return &databaseError{Path: path, Doing: "open", Problem: errCorrupt, Err: why}
	}
	info, err := os.Stat(path)
	if err != nil {
		return false, &databaseError{Path: path, Doing: "open", Problem: errUnwritable, Err: err}
	}
	if logged, err = readLog(path + "-wal"); err != nil {
		return false, corrupt(err)
	}
	s, err := dial(path, immutable)
	if err != nil {
		return false, err
	}
	err = errors.Join(s.refuse(), s.Close())
	switch {
	case errors.Is(err, ErrNewer):
		return false, err
	case info.Size() < pageSize: // SQLite would take it for a new database, and delete its log
		if logged {
			err = corrupt(fmt.Errorf("it has %d bytes, and its log %s-wal holds more: copy that before anything else opens it",
				info.Size(), path))
		} else if !errors.As(err, new(*sqlite.Error)) {
			err = corrupt(fmt.Errorf("it has %d bytes, fewer than this program ever leaves", info.Size()))
		}
		return false, err
	case logged:
		return true, nil // if something is amiss, the power went in a checkpoint, and the log has what is missing here
	case err == nil && info.Size()%pageSize != 0:
		err = corrupt(errors.New("it ends within a page"))
	}
	return false, err
}

// readLog reports whether a write-ahead log holds anything. One that holds something under a header that is none would
// be ignored by SQLite, with all that it holds. A power cut leaves no such log: the header is on the disk before
// anything else is written ("WAL File Format" in SQLite's documentation).
func readLog(path string) (holds bool, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	text := make([]byte, 32+1)
	switch _, err := io.ReadFull(f, text); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return false, nil
	case err != nil:
		return false, err
	}
	const littleEndian, bigEndian = 0x377f0682, 0x377f0683
	magic := binary.BigEndian.Uint32(text)
	var order binary.ByteOrder = binary.LittleEndian
	if magic == bigEndian {
		order = binary.BigEndian
	}
	var sum1, sum2 uint32
	for at := 0; at < 24; at += 8 {
		sum1 += order.Uint32(text[at:]) + sum2
		sum2 += order.Uint32(text[at+4:]) + sum1
	}
	if magic != littleEndian && magic != bigEndian ||
		sum1 != binary.BigEndian.Uint32(text[24:]) || sum2 != binary.BigEndian.Uint32(text[28:]) {
		return false, fmt.Errorf("its log %s has no valid header", path)
	}
	return true, nil
}
