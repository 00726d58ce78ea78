package pack

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"claude-supervise/checkpoints"
	"claude-supervise/supervisor/text"
)

// Whatever is in a pack file, reading it ends, and what is read once is written and read again the same.
func FuzzReadArchive(f *testing.F) {
	f.Add(forged(f, func(es []forgedEntry) []forgedEntry { return es }))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			return
		}
		first, err := readChain(&progress{}, bytes.NewReader(file), "-", t.TempDir(), 1<<20)
		if err != nil {
			return
		}
		putInPlace(t, first)
		var again bytes.Buffer
		p := newPacker(&again, time.Unix(0, 0))
		if err := errors.Join(p.document(manifestName, first.manifest), p.document(runName, first.run)); err != nil {
			t.Fatal(err)
		}
		for _, e := range first.entries {
			h := &tar.Header{Typeflag: e.kind, Name: e.name, Linkname: e.link, Mode: 0o600, Size: e.size}
			if err := p.header(h); err != nil {
				t.Fatal(err)
			}
			if e.kind == tar.TypeReg {
				content, err := os.ReadFile(first.path(e))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.tar.Write(content); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := p.close(); err != nil {
			t.Fatal(err)
		}
		second, err := readChain(&progress{}, &again, "-", t.TempDir(), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := json.Marshal([]any{first.manifest, first.run})
		two, _ := json.Marshal([]any{second.manifest, second.run})
		if !bytes.Equal(one, two) || !slices.EqualFunc(first.entries, second.entries, func(a, b entry) bool {
			return a.name == b.name && a.kind == b.kind && a.link == b.link && a.size == b.size
		}) {
			t.Error("it is read as something else the second time")
		}
	})
}

// Whatever the records in a pack file are, nothing that they grant is granted.
func FuzzUnpackedRecords(f *testing.F) {
	p, err := readChain(&progress{}, bytes.NewReader(attacked(f)), "-", f.TempDir(), 1<<20)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(text.JSON(p.run)))
	for i := range p.run.Questions { // and each attack by itself
		one := p.run
		one.Questions, one.Deliveries, one.Notes = p.run.Questions[i:i+1], nil, nil
		f.Add([]byte(text.JSON(one)))
	}
	f.Fuzz(func(t *testing.T, records []byte) {
		var e checkpoints.Exported
		if len(records) > 1<<16 || json.Unmarshal(records, &e) != nil || e.Check() != nil {
			return
		}
		before, err := stateOf(e)
		if err != nil || checkRecords(before) != nil {
			return
		}
		u := unpacking{archive: &archive{run: e}, cwd: "/new"}
		if err := u.step(before); err != nil {
			return
		}
		u.notes, u.less = withheld(&u, before)
		after := u.exported()
		if err := after.Check(); err != nil {
			t.Errorf("what is imported is refused: %v", err)
		}
		s, err := stateOf(after)
		if err != nil {
			t.Fatal(err)
		}
		if what := granted(s); what != "" {
			t.Errorf("granted is %s", what)
		}
		if len(after.Notes) != len(e.Notes) {
			t.Errorf("of %d notes %d are left", len(e.Notes), len(after.Notes))
		}
		u.result()
	})
}
