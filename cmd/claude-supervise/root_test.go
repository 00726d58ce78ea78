package main

import (
	"testing"

	"github.com/spf13/cobra"
)

// A command line that begins with a command makes that one alone, and it is the same as among all others.
func TestACommandAloneIsTheSame(t *testing.T) {
	all := newRoot()
	for name := range allCommands() {
		alone, _, err := newRootFor([]string{name}).Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		among, _, err := all.Find([]string{name})
		if err != nil || among.Name() != name {
			t.Fatalf("%s is called %s (%v)", name, among.Name(), err)
		}
		if got, want := helpOf(t, alone), helpOf(t, among); got != want {
			t.Errorf("%s alone says\n%s\nwant\n%s", name, got, want)
		}
	}
}

func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	cmd.InitDefaultHelpFlag()
	return cmd.Long + cmd.UsageString()
}

// BenchmarkStart is what a command costs before it begins.
func BenchmarkStart(b *testing.B) {
	b.Run("one", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newRootFor([]string{"version"})
		}
	})
	b.Run("all", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			newRootFor(nil)
		}
	})
}
