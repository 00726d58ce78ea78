package checkpoints

import (
	"slices"
	"testing"
)

func TestALaunchEntersNoPhaseThatCannotFollow(t *testing.T) {
	for from := range phases {
		for to := range phases {
			legal := from == to || slices.Contains(phases[from], to)
			func() {
				defer func() {
					if refused := recover() != nil; refused == legal {
						t.Errorf("from %s to %s: refused %v", from, to, refused)
					}
				}()
				(&Launch{Phase: from}).Enter(to)
			}()
		}
	}
}

func TestNoLaunchComesBackFromItsEnd(t *testing.T) {
	reached := []LaunchPhase{LaunchIntended}
	for i := 0; i < len(reached); i++ {
		for _, next := range phases[reached[i]] {
			if reached[i].Ended() && !next.Ended() || next == LaunchIntended {
				t.Errorf("%s comes after %s", next, reached[i])
			}
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
		if lives := !reached[i].Ended(); lives && !slices.Contains(phases[reached[i]], LaunchEnded) {
			t.Errorf("a launch that is %s cannot end", reached[i])
		}
	}
	if len(reached) != len(phases) {
		t.Errorf("only %v are reached", reached)
	}
}
