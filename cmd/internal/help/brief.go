package help

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// briefExamples is how many examples --help has.
const briefExamples = 5

// Brief is the help of a command as --help has it: what it is for in two lines, its usage, some examples, its flags;
// and which command tells the rest, if it is not "".
func Brief(cmd *cobra.Command, rest string) string {
	same := *cmd
	same.Example = firstExamples(cmd.Example)
	text := lead(cmd) + "\n\n" + same.UsageString()
	if rest != "" {
		text = strings.TrimRight(text, "\n") + "\n\nMore: " + rest + "\n"
	}
	return text
}

// Whole is all that there is to say of a command.
func Whole(cmd *cobra.Command) string {
	long := cmd.Long
	if long == "" {
		long = sentence(cmd.Short)
	}
	return strings.TrimSpace(long) + "\n\n" + cmd.UsageString()
}

// lead is as many of the sentences that a command's description begins with as stand on two lines, else what its list
// says of it.
func lead(cmd *cobra.Command) string {
	first, _, _ := strings.Cut(strings.TrimSpace(cmd.Long), "\n\n")
	said := ""
	for sentence := range strings.SplitAfterSeq(strings.Join(strings.Fields(first), " "), ". ") {
		longer := folded(said + sentence)
		if strings.Count(longer, "\n") > 1 {
			break
		}
		said += sentence
	}
	if said = strings.TrimRight(said, ":. "); said == "" {
		return folded(sentence(cmd.Short))
	}
	return folded(said + ".")
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
}

// folded breaks a text between its words at Width.
func folded(text string) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case at > 0 && at+1+n > Width:
			b.WriteString("\n")
			at = 0
		case at > 0:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	return b.String()
}

// firstExamples are the first examples of a command: lines that are no comments.
func firstExamples(all string) string {
	var kept []string
	found := 0
	for line := range strings.SplitSeq(all, "\n") {
		if trimmed := strings.TrimSpace(line); trimmed != "" && trimmed[0] != '#' && !strings.HasPrefix(line, "   ") {
			found++
		}
		if found > briefExamples {
			break
		}
		kept = append(kept, line)
	}
	for len(kept) > 0 {
		if last := strings.TrimSpace(kept[len(kept)-1]); last != "" && last[0] != '#' {
			break
		}
		kept = kept[:len(kept)-1]
	}
	return strings.Join(kept, "\n")
}
