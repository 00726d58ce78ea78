package runlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claude-supervise/supervisor/view"
)

// A told thing is an entry for people, in a few words.
func entry(agent, text string) Entry {
	return Entry{Remark: view.Remark{Agent: agent, Type: view.RemarkText, Text: text}}
}

func mark(agent string, epoch int) Entry {
	return Entry{Remark: view.Remark{Agent: agent}, Epoch: epoch}
}

func answer(question, text string) Entry {
	by := "ann"
	return Entry{Remark: view.Remark{Agent: "a-1", Type: view.RemarkAnswered, Text: text, Question: &question, By: &by}}
}

// reads reads a log, and gives what of it is new to people.
func (p *Place) reads(log []Entry) (texts []string) {
	r := p.Reading()
	for _, e := range log {
		if r.Takes(e) && e.Epoch == 0 {
			texts = append(texts, e.Text)
		}
	}
	return texts
}

func TestNothingOfALogIsReadTwiceOrLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		logs [][]Entry
		want []string // of each log
	}{
		"one that grows": {[][]Entry{
			{entry("a-1", "1")},
			{entry("a-1", "1"), entry("a-2", "2"), entry("a-1", "3")},
		}, []string{"1", "2 3"}},
		"one that goes on elsewhere, and has lost nothing": {[][]Entry{
			{entry("a-1", "1"), entry("a-1", "2")},
			{entry("a-1", "1"), entry("a-1", "2"), mark("a-1", 2), entry("a-1", "3")},
		}, []string{"1 2", "3"}},
		"one that has lost what was read": {[][]Entry{
			{entry("a-1", "1"), entry("a-1", "lost"), entry("a-1", "lost too")},
			{entry("a-1", "1"), mark("a-1", 2), entry("a-1", "2"), entry("a-1", "3"), entry("a-1", "4")},
		}, []string{"1 lost lost too", "2 3 4"}},
		"one that has lost what nobody has read": {[][]Entry{
			{entry("a-1", "1")},
			{entry("a-1", "1"), entry("a-1", "2"), mark("a-1", 2), entry("a-1", "3")},
		}, []string{"1", "2 3"}},
		"one of whose epochs nobody was asked": {[][]Entry{
			{entry("a-1", "1"), entry("a-1", "lost"), entry("a-1", "lost too")},
			{entry("a-1", "1"), mark("a-1", 2), entry("a-1", "2"), entry("a-1", "3"), mark("a-1", 3), entry("a-1", "4")},
		}, []string{"1 lost lost too", "2 3 4"}},
		"one of whose epochs one is in no later log": {[][]Entry{
			{entry("a-1", "1"), mark("a-1", 2), entry("a-1", "lost")},
			{entry("a-1", "1"), mark("a-1", 3), entry("a-1", "2"), entry("a-1", "3")},
		}, []string{"1 lost", "2 3"}},
		"one whose agent begins in a lost epoch and again in the next": {[][]Entry{
			{entry("a-1", "1"), entry("a-2", "lost")},
			{entry("a-1", "1"), mark("a-1", 2), entry("a-3", "2")},
		}, []string{"1 lost", "2"}},
		"an answer that is given again elsewhere": {[][]Entry{
			{entry("a-1", "1"), answer("q-1", "yes")},
			{entry("a-1", "1"), mark("a-1", 2), answer("q-1", "yes"), answer("q-2", "no")},
		}, []string{"1 yes", "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			var p Place
			for i, log := range c.logs {
				if got := strings.Join(p.reads(log), " "); got != c.want[i] {
					t.Errorf("log %d: %q, not %q", i+1, got, c.want[i])
				}
				if again := p.reads(log); again != nil {
					t.Errorf("log %d is read again: %q", i+1, again)
				}
			}
		})
	}
}

// Workers have a run one after the other, are lost, and leave snapshots; a reader asks now and then, to some place in
// the middle. It reads what each epoch adds that it asks, once, and all of what the last log holds.
func TestAReaderFollowsFromWorkerToWorker(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var p Place
		var read []string
		snapshot := []Entry{} // what the next worker goes on from
		var log []Entry
		for epoch, n := 1, 0; epoch <= 6; epoch++ {
			log = slices.Clone(snapshot)
			if epoch > 1 {
				for _, agent := range []string{"a-1", "a-2"} {
					log = append(log, mark(agent, epoch))
				}
			}
			for range rng.IntN(6) {
				n++
				log = append(log, entry([]string{"a-1", "a-2"}[rng.IntN(2)], fmt.Sprint(n)))
				if rng.IntN(3) == 0 {
					snapshot = slices.Clone(log)
				}
				if rng.IntN(3) == 0 { // only a part of what there is comes through
					r := p.Reading()
					for _, e := range log[:rng.IntN(len(log)+1)] {
						if r.Takes(e) && e.Epoch == 0 {
							read = append(read, e.Text)
						}
					}
				}
			}
		}
		read = append(read, p.reads(log)...)
		seen := map[string]bool{}
		for _, text := range read {
			if seen[text] {
				t.Fatalf("seed %d: %s is read twice: %q", seed, text, read)
			}
			seen[text] = true
		}
		for _, e := range log {
			if e.Epoch == 0 && !seen[e.Text] {
				t.Fatalf("seed %d: %s is never read: %q", seed, e.Text, read)
			}
		}
	}
}
