package sessions

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"claude-supervise/checkpoints"
)

// AnsweredSince returns the asks that were answered here after a moment, closed or not, the oldest first. It reads only
// what was written since. What cannot be read is left out.
func AnsweredSince(d checkpoints.Dirs, since time.Time) (all []*Ask) {
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
			if at := a.Questions[0].AnsweredAt; a.State == Answered && at != nil && at.After(since) {
				all = append(all, a)
			}
		}
	}
	slices.SortFunc(all, func(a, b *Ask) int { return a.Questions[0].AnsweredAt.Compare(*b.Questions[0].AnsweredAt) })
	return slices.CompactFunc(all, func(a, b *Ask) bool { return a.ID == b.ID }) // one may have been closed meanwhile
}
