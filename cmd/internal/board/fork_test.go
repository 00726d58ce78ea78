package board

import (
	"errors"
	"testing"
)

// A question that was answered is answered differently from the list, once the person has read what that does.
func TestAnAnsweredQuestionIsAnsweredDifferentlyOnTheBoard(t *testing.T) {
	d := newTestBoard(t)
	d.types("A")
	d.shows("A is for a question that was answered")
	d.types("/")
	d.types(letters("q-old")...)
	d.types("enter", "A")
	d.shows("instead of Red:")
	d.types("enter")
	d.shows("Nothing was started.")
	d.types("A")
	d.types(letters("Green")...)
	d.types("enter")
	d.shows("A new run continues from q-old.", "y does it")
	d.did("look again q-old Green")
	d.types("n")
	d.did()
	d.types("A", "2", "enter", "y")
	d.shows("r-new continues from q-old in the background. There = compares, K keeps.")
	d.did("look again q-old 2", "again q-old 2")
	d.actions.refuse = errors.New("its moment is gone")
	d.types("A", "2", "enter")
	d.shows("! its moment is gone")
}

// What happened since the person left counts as told once they leave it.
func TestWhatHappenedMeanwhileIsReadOnTheBoard(t *testing.T) {
	d := newTestBoard(t)
	d.types("S")
	d.shows("since you left: 3", "any other key: back")
	d.did("meanwhile")
	d.types("esc")
	d.shows("r-one")
	d.did("told")
	d.actions.refuse = errors.New("the disk is full")
	d.types("S")
	d.shows("! the disk is full")
}

// A run that continues from a question is compared with the one that asked, and kept once the person has read what that
// does.
func TestAForkIsComparedAndKeptOnTheBoard(t *testing.T) {
	d := newTestBoard(t)
	d.types("end", "=")
	d.shows("= is for a run that continues from a question")
	d.Update(forks(), d.at)
	d.types("=")
	d.shows("[compare] ── r-two", "r-one beside r-two", "Esc back")
	d.did("compare r-one r-two")
	d.types("esc", "d")
	d.shows("[diff] ── r-two", "+new")
	d.types("esc", "K")
	d.shows("Would be taken over from r-two", "y does it")
	d.types("y")
	d.shows("Taken over from r-two")
	d.did("look keep r-two", "keep r-two")
	d.actions.refuse = errors.New("it does not fit: note")
	d.types("K")
	d.shows("! it does not fit: note")
}
