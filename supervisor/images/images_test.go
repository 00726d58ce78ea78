package images

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color/palette"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
)

// webP is the start of a WebP whose first chunk is this, as long as its header says.
func webP(kind string, body ...byte) []byte {
	data := append([]byte("RIFF\x00\x00\x00\x00WEBP"+kind+"\x0a\x00\x00\x00"), body...)
	data = append(data, make([]byte, 16)...)
	binary.LittleEndian.PutUint32(data[4:], uint32(len(data)-8))
	return data
}

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, 30, 20), palette.Plan9)
	var asPNG, asJPEG, asGIF bytes.Buffer
	for _, err := range []error{png.Encode(&asPNG, picture), jpeg.Encode(&asJPEG, picture, nil),
		gif.EncodeAll(&asGIF, &gif.GIF{Image: []*image.Paletted{picture, picture}, Delay: []int{1, 1}})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return map[string][]byte{"image/png": asPNG.Bytes(), "image/jpeg": asJPEG.Bytes(), "image/gif": asGIF.Bytes(),
		"image/webp": webP("VP8X", 0, 0, 0, 0, 29, 0, 0, 19, 0, 0)}
}

func TestAPictureIsKnownByItsBytes(t *testing.T) {
	for mediaType, data := range samples(t) {
		want := Info{mediaType, 30, 20}
		if info, err := Check(data); err != nil || info != want {
			t.Errorf("%s is %+v, %v", mediaType, info, err)
		}
		for end := range data {
			if info, err := Check(data[:end]); err == nil {
				t.Errorf("the first %d of %d bytes of %s are %+v", end, len(data), mediaType, info)
			}
		}
	}
	for _, data := range [][]byte{webP("VP8L", 0x2f, 29, 0xc0, 4, 0), webP("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 30, 0, 20, 0)} {
		if info, err := Check(data); err != nil || info != (Info{"image/webp", 30, 20}) {
			t.Errorf("%q is %+v, %v", data[12:16], info, err)
		}
	}
}

func TestWhatCannotBeShownIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		why  string
	}{
		"nothing":      {nil, "no PNG, JPEG, GIF or WebP"},
		"a drawing":    {[]byte("<svg/>"), "no PNG, JPEG, GIF or WebP"},
		"too many":     {make([]byte, MaxBytes+1), "3.75 MB are the most"},
		"too wide":     {webP("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 19, 0, 0), "16777216×20 pixels"},
		"another WebP": {webP("ICCP"), `its first chunk is "ICCP"`},
		"no pixel":     {webP("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 0, 0, 20, 0), "without a pixel"},
	} {
		if _, err := Check(c.data); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if info, err := Check(data); err == nil && (info.Width < 1 || info.Width > MaxSide || info.Height > MaxSide) {
			t.Errorf("it is %+v", info)
		}
	})
}
