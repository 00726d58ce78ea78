// Package images says what is a picture that an agent can be shown: by its bytes alone, whatever its name. It does no
// I/O, and decodes no pixel: the sizes that a picture states are read, and its parts are walked to its end, so that one
// that is cut off, or is none, is refused here and not by the API, in the middle of a conversation.
package images

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"strings"
)

// The bounds of pictures. The API takes 5 MB of a picture, as base64, and 8000 pixels each way; of a request it takes
// 32 MB.
const (
	MaxBytes = 3_750_000  // of one
	MaxSum   = 15_000_000 // of those of one answer
	MaxMany  = 8          // in one answer
	MaxSide  = 8000       // pixels
)

// An Info is what is known of a picture.
type Info struct {
	Type          string // its media type
	Width, Height int    // pixels
}

// Kind is the name of the type of a picture, for people.
func Kind(mediaType string) string { return strings.ToUpper(strings.TrimPrefix(mediaType, "image/")) }

// A format is one of the types of pictures that the API takes.
type format struct {
	mediaType string
	begins    func(data []byte) bool
	read      func(data []byte) (image.Config, error)
	whole     func(data []byte) bool // it is there to its end
}

var formats = []format{
	{"image/png", begins("\x89PNG\r\n\x1a\n"), config(png.DecodeConfig), wholePNG},
	{"image/jpeg", begins("\xff\xd8\xff"), config(jpeg.DecodeConfig), wholeJPEG},
	{"image/gif", func(data []byte) bool { return begins("GIF87a")(data) || begins("GIF89a")(data) },
		config(gif.DecodeConfig), wholeGIF},
	{"image/webp", func(data []byte) bool {
		return len(data) >= 16 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP"
	}, readWebP, wholeWebP},
}

// Types returns the media types that Check takes.
func Types() (types []string) {
	for _, f := range formats {
		types = append(types, f.mediaType)
	}
	return types
}

func begins(with string) func([]byte) bool {
	return func(data []byte) bool { return bytes.HasPrefix(data, []byte(with)) }
}

func config(read func(io.Reader) (image.Config, error)) func([]byte) (image.Config, error) {
	return func(data []byte) (image.Config, error) { return read(bytes.NewReader(data)) }
}

// Check reads what a picture is. The error says why it is none that an agent can be shown.
func Check(data []byte) (Info, error) {
	if len(data) > MaxBytes {
		return Info{}, TooLarge(int64(len(data)))
	}
	for _, f := range formats {
		if !f.begins(data) {
			continue
		}
		c, err := f.read(data)
		switch name := Kind(f.mediaType); {
		case err != nil:
			return Info{}, fmt.Errorf("it is no whole %s: %w", name, err)
		case c.Width < 1 || c.Height < 1:
			return Info{}, fmt.Errorf("it is a %s without a pixel", name)
		case c.Width > MaxSide || c.Height > MaxSide:
			return Info{}, fmt.Errorf("it is a %s of %d×%d pixels, and %d each way are the most", name, c.Width, c.Height,
				MaxSide)
		case !f.whole(data):
			return Info{}, fmt.Errorf("it is no whole %s", name)
		}
		return Info{f.mediaType, c.Width, c.Height}, nil
	}
	return Info{}, errors.New("it is no PNG, JPEG, GIF or WebP")
}

// TooLarge says that a picture has too many bytes.
func TooLarge(size int64) error {
	return fmt.Errorf("it has %.1f MB, and %.2f MB are the most", float64(size)/1e6, float64(MaxBytes)/1e6)
}

// Hash is the name of a picture: that of its bytes.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// wholePNG walks the chunks.
func wholePNG(data []byte) bool {
	const sign, around = 8, 12
	for rest := data[sign:]; len(rest) >= around; {
		size := int(binary.BigEndian.Uint32(rest))
		if size > len(rest)-around || crc32.ChecksumIEEE(rest[4:8+size]) != binary.BigEndian.Uint32(rest[8+size:]) {
			return false
		}
		if string(rest[4:8]) == "IEND" {
			return true
		}
		rest = rest[around+size:]
	}
	return false
}

// wholeJPEG looks for the mark of its end behind the mark of its pixels.
func wholeJPEG(data []byte) bool {
	at := bytes.Index(data, []byte{0xff, 0xda})
	return at >= 0 && bytes.Contains(data[at:], []byte{0xff, 0xd9})
}

// wholeGIF walks the blocks.
func wholeGIF(data []byte) bool {
	colours := func(flags byte) int {
		if flags&0x80 == 0 {
			return 0
		}
		return 3 << (flags&7 + 1)
	}
	at := 13 + colours(data[10])
	blocks := func() {
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		at++
	}
	for pixels := false; at < len(data); {
		switch data[at] {
		case ';':
			return pixels
		case '!':
			at += 2
		case ',':
			if at+10 >= len(data) {
				return false
			}
			pixels = true
			at += 10 + colours(data[at+9]) + 1
		default:
			return false
		}
		blocks()
	}
	return false
}

// wholeWebP looks whether all that its header speaks of is there.
func wholeWebP(data []byte) bool {
	return int64(binary.LittleEndian.Uint32(data[4:]))+8 <= int64(len(data))
}

var errWebP = errors.New("its first chunk is cut off")

// readWebP reads the first chunk (RFC 9649).
func readWebP(data []byte) (c image.Config, err error) {
	if len(data) < 30 {
		return c, errWebP
	}
	body := data[20:]
	u24 := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
	switch kind := string(data[12:16]); {
	case kind == "VP8X":
		c.Width, c.Height = u24(body[4:])+1, u24(body[7:])+1
	case kind == "VP8L" && body[0] == 0x2f:
		bits := binary.LittleEndian.Uint32(body[1:])
		c.Width, c.Height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case kind == "VP8 " && body[3] == 0x9d && body[4] == 0x01 && body[5] == 0x2a:
		c.Width = int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff)
		c.Height = int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
	default:
		return c, fmt.Errorf("its first chunk is %q", kind)
	}
	return c, nil
}
