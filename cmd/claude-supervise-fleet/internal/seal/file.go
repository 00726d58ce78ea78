package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"filippo.io/age"
)

// A sealed file is an age file for the fleet's key, and after it a MAC (HMAC-SHA-256) of its name and the age file. The
// MAC is what says that somebody of the fleet has made it, and as what: age alone says neither.

// ErrForged means that a file was not sealed with this key under this name, or is not whole.
var ErrForged = errors.New("it is not whole, or was not sealed by this fleet under this name")

// File seals what is read, to be kept under a name.
func (k *Key) File(name string, out io.Writer, in io.Reader) error {
	mac := k.mac(name)
	sealed, err := age.Encrypt(io.MultiWriter(out, mac), k.identity.Recipient())
	if err != nil {
		return err
	}
	if _, err := io.Copy(sealed, in); err != nil {
		return err
	}
	if err := sealed.Close(); err != nil {
		return err
	}
	_, err = out.Write(mac.Sum(nil))
	return err
}

func (k *Key) mac(name string) hash.Hash {
	mac := hmac.New(sha256.New, k.files)
	fmt.Fprintf(mac, "%d %s\n", len(name), name)
	return mac
}

// Sealed is what File has written: a file, or a bytes.Reader.
type Sealed interface {
	io.ReaderAt
	io.Seeker
}

// Open writes what a sealed file holds. It writes nothing before it knows that the file is whole and of this fleet.
func (k *Key) Open(name string, out io.Writer, in Sealed) error {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if size -= sha256.Size; size < 0 {
		return ErrForged
	}
	mac := k.mac(name)
	if _, err := io.Copy(mac, io.NewSectionReader(in, 0, size)); err != nil {
		return err
	}
	sum := make([]byte, sha256.Size)
	if _, err := in.ReadAt(sum, size); err != nil {
		return err
	}
	if !hmac.Equal(sum, mac.Sum(nil)) {
		return ErrForged
	}
	plain, err := age.Decrypt(io.NewSectionReader(in, 0, size), k.identity)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, plain)
	return err
}
