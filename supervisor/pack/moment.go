package pack

import (
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
	m, rest, err := beginning(in)
	if err != nil {
		return Moment{}, err
	}
	if m.Snapshot == nil {
		return Moment{}, notPack("it is not a snapshot")
	}
	h, err := rest.Next()
	if err != nil {
		return Moment{}, unreadable(err)
	}
	var run struct {
		Questions []struct {
			ID string `json:"id"`
		} `json:"questions"`
	}
	err = new(archive).document(h, rest, runName, maxRunDocument, &run, func() error { return nil })
	if err != nil {
		return Moment{}, err
	}
	moment := Moment{At: m.Snapshot.At}
	for _, q := range run.Questions {
		moment.Questions = append(moment.Questions, q.ID)
	}
	return moment, nil
}
