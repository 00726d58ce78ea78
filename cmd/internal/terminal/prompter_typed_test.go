package terminal

import (
	"strings"
	"testing"
)

func TestOwnWordsOverSeveralLines(t *testing.T) {
	t.Run("with backslashes", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1"))
		d.sees("q-1> ")
		d.types("one\\\n")
		d.sees("... ")
		d.types("two\n")
		d.answered(submitted{ID: "q-1", Answer: "one\ntwo"})
	})
	t.Run("between quotes", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1", "Red", "Green"))
		d.sees("q-1> ")
		d.types("\"\"\"\n")
		d.sees("... ")
		d.types("1\n")
		d.sees("... ")
		d.types("\"\"\"\n")
		d.answered(submitted{ID: "q-1", Answer: "1"})
	})
	t.Run("dropped by Ctrl-D", func(t *testing.T) {
		d := enterRaw(t, nil, question("q-1"))
		d.sees("q-1> ")
		d.types("one\\\n")
		d.sees("... ")
		d.types(ctrlD)
		d.sees("Dropped; nothing was sent.")
		d.sees("q-1> ")
		d.types("two\n")
		d.answered(submitted{ID: "q-1", Answer: "two"})
	})
}

func TestAPasteOfManyLinesIsOneAnswer(t *testing.T) {
	d := enterRaw(t, nil, group(question("q-1"), question("q-2", "Red", "Green"))...)
	d.sees("q-1> ")
	d.types("one\n\n2\nfour\nthe last line has no end")
	d.sees("4 lines came together")
	d.sees("... ")
	d.types("\n")
	d.sees("... ")
	d.types("\n")
	d.answered(submitted{ID: "q-1", Answer: "one\n\n2\nfour\nthe last line has no end"})
	d.sees("q-2> ")
	d.types("1\n")
	d.answered(submitted{ID: "q-2", Answer: "Red"})
}

func TestABigPasteArrivesWhole(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	text := strings.TrimSuffix(strings.Repeat(strings.Repeat("x", 100)+"\n", 500), "\n")
	go d.types(text + "\n")
	d.sees("lines came together")
	d.sees("... ")
	d.types("\n")
	d.answered(submitted{ID: "q-1", Answer: text})
}

func TestAPasteThatIsTooBigIsDroppedWhole(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	go d.types(strings.Repeat(strings.Repeat("x", 100)+"\n", maxText/100+2000))
	d.sees("longer than this terminal can take")
	d.sees("q-1> ")
	d.types("short\n")
	d.answered(submitted{ID: "q-1", Answer: "short"})
}

func TestLinesTypedAheadAnswerNothing(t *testing.T) {
	d := enterRaw(t, nil)
	d.types("1\nRed\nhalf")
	d.sees("half") // the terminal's own echo: the keys are in its buffer
	d.prompter.Set([]Question{question("q-1", "Red", "Green"), question("q-2")})
	d.sees("q-1> ")
	d.types("2\n")
	d.answered(submitted{ID: "q-1", Answer: "Green"})
	d.sees("q-2> ")
	d.types("two\n")
	d.answered(submitted{ID: "q-2", Answer: "two"})
}

func TestALineThatTheKernelCutIsNotSent(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	go d.types(strings.Repeat("x", 6000) + "\n")
	d.sees("longer than this terminal can take")
	d.sees("q-1> ")
	d.types("short\n")
	d.answered(submitted{ID: "q-1", Answer: "short"})
}

func TestCtrlDEndsAskingUntilEnter(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"), question("q-2"))
	d.sees("q-1> ")
	d.types(ctrlD)
	d.sees("[q-1] stays open. Answer it with: claude-supervise answer q-1")
	d.sees("[q-2] stays open. Answer it with: claude-supervise answer q-2")
	d.sees("until you press Enter.")
	d.prompter.Set([]Question{question("q-1"), question("q-2"), question("q-3")})
	d.sees("From another terminal: claude-supervise answer q-3")
	d.types("\n")
	d.sees("q-1> ")
	d.types("yes\n")
	d.answered(submitted{ID: "q-1", Answer: "yes"})
}

func TestATerminalThatHangsUpIsNotReadAgain(t *testing.T) {
	d := enterRaw(t, nil, question("q-1"))
	d.sees("q-1> ")
	d.types(ctrlD)
	d.sees("until you press Enter.")
	d.types(ctrlD)
	d.sees("Nothing more is read here.")
	d.prompter.Set([]Question{question("q-1"), question("q-2")})
	d.sees("From another terminal: claude-supervise answer q-2")
}
