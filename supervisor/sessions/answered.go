package sessions

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// AnsweredSince returns the asks that were answered here after a moment, the oldest answer first.
func AnsweredSince(d checkpoints.Dirs, since time.Time) []*Ask {
	all := slices.DeleteFunc(WrittenSince(d, since), func(a *Ask) bool {
		at := a.Questions[0].AnsweredAt
		return a.State != Answered || at == nil || !at.After(since)
	})
	slices.SortFunc(all, func(a, b *Ask) int { return a.Questions[0].AnsweredAt.Compare(*b.Questions[0].AnsweredAt) })
	return all
}

// WrittenSince returns the asks of which something was written after a moment, closed or not, by their ids. It reads
// only those. What cannot be read is left out.
func WrittenSince(d checkpoints.Dirs, since time.Time) (all []*Ask) {
	for _, folder := range []string{Folder(d), closed(d)} {
		names, _ := idsIn(folder) // that they cannot be listed, lists say
		for _, id := range names {
			if file, err := os.Lstat(filepath.Join(folder, id+".json")); err != nil || file.ModTime().Before(since) {
				continue
			}
			a, err := loadIn(folder, id)
			if err != nil {
				continue
			}
			a.conclude(d)
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b *Ask) int { return cmp.Compare(a.ID, b.ID) })
	return slices.CompactFunc(all, func(a, b *Ask) bool { return a.ID == b.ID }) // one may have been closed meanwhile
}
