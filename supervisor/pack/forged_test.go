package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/internal/gittest"
)

// forged packs a run and lets change alter its entries.
func forged(t testing.TB, change func([]forgedEntry) []forgedEntry) []byte {
	t.Helper()
	p := newPC(t)
	folder := t.TempDir()
	gittest.Put(t, filepath.Join(folder, "file"), "text\n")
	p.waiting(folder, conf.Config{})
	z, err := gzip.NewReader(bytes.NewReader(p.mustPack()))
	if err != nil {
		t.Fatal(err)
	}
	var entries []forgedEntry
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		content, readErr := io.ReadAll(r)
		if err = errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		entries = append(entries, forgedEntry{*h, string(content)})
	}
	var file bytes.Buffer
	zw := gzip.NewWriter(&file)
	w := tar.NewWriter(zw)
	for _, e := range change(entries) {
		e.Size = int64(len(e.content))
		e.Format = tar.FormatUnknown
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), zw.Close()); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

type forgedEntry struct {
	tar.Header
	content string
}
