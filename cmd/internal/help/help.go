// Package help writes the help of commands: flags in groups, all within 80 columns.
//
// It knows no command. A program gives it its root command, and the groups of its flags.
package help

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Width is how many columns a help has.
const Width = 80

// A Group is a part of the flags of a command, in the order of their names, which are separated by spaces.
type Group struct{ Title, Names string }

// A Grouping returns the groups in which a command lists its flags. Flags in none of them come first, in one of their
// own.
type Grouping func(*cobra.Command) []Group

// Flags lists the flags of a command, at most width columns wide, as its help and its man page have them.
func (grouping Grouping) Flags(cmd *cobra.Command, width int) string {
	flags, groups := cmd.LocalFlags(), []Group{{Title: "Flags"}}
	if grouping != nil {
		groups = append(groups, grouping(cmd)...)
	}
	named := map[string]bool{}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.Names) {
			named[name] = true
		}
	}
	var lists []string
	for i, g := range groups {
		set := pflag.NewFlagSet(g.Title, pflag.ContinueOnError)
		set.SortFlags = i == 0
		if i == 0 {
			flags.VisitAll(func(f *pflag.Flag) {
				if !named[f.Name] {
					set.AddFlag(f)
				}
			})
		}
		for name := range strings.FieldsSeq(g.Names) {
			if f := flags.Lookup(name); f != nil {
				set.AddFlag(f)
			}
		}
		if set.HasAvailableFlags() {
			lists = append(lists, g.Title+":\n"+set.FlagUsagesWrapped(width))
		}
	}
	return strings.Join(lists, "\n")
}

// SetUsage has a root command, and all below it, write their usage with their flags in groups; last, if it is not "",
// ends that of the root.
func (grouping Grouping) SetUsage(root *cobra.Command, last func() string) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		usage, err := plainUsage(cmd)
		if err != nil {
			return err
		}
		listed := strings.TrimSpace("Flags:\n" + cmd.LocalFlags().FlagUsages())
		usage = strings.Replace(usage, listed, strings.TrimSpace(grouping.Flags(cmd, Width)), 1)
		if at := strings.LastIndex(usage, "\n\nUse \""); at >= 0 {
			end := strings.Replace(usage[at:], " for more information about a command.", " for more information.", 1)
			if last != nil && !cmd.HasParent() {
				end = "\n\n" + last() + end
			}
			usage = usage[:at] + end // within 80 columns
		}
		_, err = io.WriteString(cmd.OutOrStderr(), usage)
		return err
	})
}

// plainUsage is the usage of a command as cobra writes it by itself. Its templates are not for us: with them the linker
// keeps every exported method of the program, 3 MB of them.
func plainUsage(cmd *cobra.Command) (string, error) {
	var usage strings.Builder
	same := *cmd
	same.SetOut(&usage)
	err := new(cobra.Command).UsageFunc()(&same)
	return usage.String(), err
}

// Faults returns what the help of a command and of those below it lacks: an example for each, and lines of at most
// Width columns. Commands that a help does not list are left out.
func Faults(cmd *cobra.Command) (faults []string) {
	cmd.InitDefaultHelpFlag()
	if cmd.Example == "" {
		faults = append(faults, cmd.CommandPath()+" has no example")
	}
	for line := range strings.Lines(cmd.Long + "\n" + cmd.UsageString()) {
		if line = strings.TrimSuffix(line, "\n"); utf8.RuneCountInString(line) > Width || strings.Contains(line, "\x1b") {
			faults = append(faults, cmd.CommandPath()+": "+line)
		}
	}
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() || below.Name() == "help" {
			faults = append(faults, Faults(below)...)
		}
	}
	return faults
}

// Faults returns the flags of a command that its list does not have once, and the lines of that which are not one
// flag's, or are wider than Width.
func (grouping Grouping) Faults(cmd *cobra.Command) (faults []string) {
	cmd.InitDefaultHelpFlag()
	listed := grouping.Flags(cmd, Width)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if strings.Count(listed, "--"+f.Name+" ") != 1 && !f.Hidden {
			faults = append(faults, cmd.CommandPath()+" --help does not list --"+f.Name+" once")
		}
	})
	for line := range strings.Lines(listed) {
		if strings.HasPrefix(line, "  ") && !strings.Contains(line, "--") || len(line) > Width+1 {
			faults = append(faults, cmd.CommandPath()+" --help: not one line: "+line)
		}
	}
	return faults
}
