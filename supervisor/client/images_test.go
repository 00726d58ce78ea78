package client

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/images"
)

func TestAnImageThatWasKeptIsLookedAtAnew(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 1))); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	kept := checkpoints.Image{Hash: images.Hash(b.Bytes())}
	path := put(kept.File("a-1"), b.Bytes())
	if _, info, err := ReadImage(path, kept.Hash); err != nil || info != (images.Info{Type: "image/png", Width: 2, Height: 1}) {
		t.Errorf("it is %+v, %v", info, err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	page := []byte("<script>")
	for path, hash := range map[string]string{
		path + "x":         kept.Hash,
		link:               kept.Hash,
		folder:             kept.Hash,
		put("other", page): kept.Hash,
		put("page", page):  images.Hash(page),
	} {
		if _, _, err := ReadImage(path, hash); err == nil {
			t.Errorf("%s is shown", path)
		}
	}
	of := images.Hash(page)
	if (checkpoints.Image{Hash: of}).File("a-1") != "a-1.image-"+of {
		t.Errorf("%q has no file", of)
	}
	for _, hash := range []string{"", "../x", strings.Repeat("/", 64), strings.Repeat("A", 64), strings.ToUpper(of),
		"../" + of} {
		if name := (checkpoints.Image{Hash: hash}).File("a-1"); name != "" {
			t.Errorf("the file of %q is %q", hash, name)
		}
	}
}
