package pack

import (
	"archive/tar"
	"compress/gzip"
	"os"
	"time"
)

// A Moment is that of which a snapshot is.
type Moment struct {
	At        time.Time
	Questions []string // the ids of all that the run had asked until then
}

// MomentOf reads of which moment a snapshot is: a file of this machine's own, of which only the beginning is read.
func MomentOf(file string) (Moment, error) {
	in, err := os.Open(file)
	if err != nil {
		return Moment{}, err
	}
	defer func() { _ = in.Close() }() // only read
	z, err := gzip.NewReader(in)
	if err != nil {
		return Moment{}, unreadable(err)
	}
	entries := tar.NewReader(z)
	var m manifest
	var run struct {
		Questions []struct {
			ID string `json:"id"`
		} `json:"questions"`
	}
	for _, of := range []struct {
		name  string
		limit int64
		into  any
		check func() error
	}{
		{manifestName, maxManifest, &m, m.check},
		{runName, maxRunDocument, &run, func() error { return nil }},
	} {
		h, err := entries.Next()
		if err != nil {
			return Moment{}, unreadable(err)
		}
		if err := new(archive).document(h, entries, of.name, of.limit, of.into, of.check); err != nil {
			return Moment{}, err
		}
	}
	if m.Snapshot == nil {
		return Moment{}, notPack("it is not a snapshot")
	}
	moment := Moment{At: m.Snapshot.At}
	for _, q := range run.Questions {
		moment.Questions = append(moment.Questions, q.ID)
	}
	return moment, nil
}
