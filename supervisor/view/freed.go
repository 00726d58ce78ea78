package view

import "context"

// A supervisor frees the lock of its run after its last transaction. So a lock that is found free says that the run is
// orphaned only to who reads its record afterwards; what was read before may lack that it has left on purpose.

// freed are the runs without a word of leaving whose lock was found free.
type freed struct {
	runs map[string]bool
	more bool // since the present read of the records began
}

type freedKey struct{}

// asOne reads records by read, which is AsOne of a store, and once more where a lock was found free only after they
// were read. work may be called several times.
func asOne(ctx context.Context, read func(context.Context, func(context.Context) error) error,
	work func(context.Context) error) error {
	if ctx.Value(freedKey{}) != nil { // the read is begun again where it was begun
		return read(ctx, work)
	}
	found := &freed{runs: map[string]bool{}, more: true}
	ctx = context.WithValue(ctx, freedKey{}, found)
	for found.more {
		found.more = false
		if err := read(ctx, work); err != nil {
			return err
		}
	}
	return nil
}

// noteFree notes that the lock of a run is free, by whose record it should not be.
func noteFree(ctx context.Context, run string) {
	if found, is := ctx.Value(freedKey{}).(*freed); is && !found.runs[run] {
		found.runs[run], found.more = true, true
	}
}
