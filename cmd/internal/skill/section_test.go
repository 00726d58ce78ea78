package skill

import (
	"strings"
	"testing"
)

// documents are what a person may have in CLAUDE.md.
var documents = []string{
	"", "x", "# Project\n", "# Project\n\n", "# Project\n\n\n\n", "\n", "\n\n", " ", "a\r\nb\r\n",
	"a\r\nb", "a\r\nb\n", "\r\n", "\ufeff# P\n",
	"```\nan open fence", "<!-- a comment -->", "before claude-supervise:begin after\n",
}

func TestTakenOutAgainTheSectionLeavesTheFileAsItWas(t *testing.T) {
	for _, text := range documents {
		with, standing := put(t, Section, text)
		if standing != Absent || !strings.HasPrefix(with, text) || with == text {
			t.Errorf("put into %q (%d) gives %q", text, standing, with)
		}
		if left, standing := take(t, Section, with); left != text || standing != Current {
			t.Errorf("of %q is left %q (%d)", text, left, standing)
		}
		if again, standing := put(t, Section, with); again != with || standing != Current {
			t.Errorf("put a second time into %q it changes", text)
		}
	}
}

func TestTheSectionIsSetApartFromTheTextBeforeIt(t *testing.T) {
	for _, text := range documents {
		with, _ := put(t, Section, text)
		before, _, _ := strings.Cut(with, begin)
		nl := lineEnd(text)
		if before != "" && !strings.HasSuffix(before, nl+nl) {
			t.Errorf("%q comes right after %q", begin, before)
		}
		if nl == "\r\n" && strings.Count(with[len(before):], "\n") != strings.Count(with[len(before):], "\r\n") {
			t.Errorf("the section's lines end unlike those of %q", text)
		}
	}
}

func TestTheSectionStaysWhereAPersonHasPutIt(t *testing.T) {
	own := begin + "\nAsk.\n" + seal("Ask.\n", "-1") + "\n" + end + "\n"
	with, standing := put(t, Section, "# A\n\n"+own+"\n# B\n")
	if standing != Older || !strings.HasPrefix(with, "# A\n\n"+begin) || !strings.HasSuffix(with, end+"\n\n# B\n") {
		t.Errorf("(%d) it becomes %q", standing, with)
	}
	if left, _ := take(t, Section, with); left != "# A\n\n\n# B\n" {
		t.Errorf("taken out of the middle, %q is left", left)
	}
}

func TestWhatWasWrittenBehindTheSectionStaysApartFromWhatIsBeforeIt(t *testing.T) {
	with, _ := put(t, Section, "# A")
	if left, _ := take(t, Section, with+"# B\n"); left != "# A\n\n# B\n" {
		t.Errorf("%q is left", left)
	}
}

func TestASectionWithEditsIsKnown(t *testing.T) {
	with, _ := put(t, Section, "# A\n")
	for name, text := range map[string]string{
		"a word":            strings.Replace(with, "Do not", "Do", 1),
		"a line at the end": strings.Replace(with, end, "Never.\n"+end, 1),
		"the seal gone":     sealed().ReplaceAllString(with, ""),
		"all gone":          "# A\n\n" + begin + "\n" + end + "\n",
	} {
		if _, standing := put(t, Section, text); standing != Edited {
			t.Errorf("%s: put finds it %d", name, standing)
		}
		left, standing := take(t, Section, text)
		if standing != Edited || strings.Contains(left, begin) || !strings.HasPrefix(left, "# A\n") {
			t.Errorf("%s: taken out (%d), %q is left", name, standing, left)
		}
	}
}

func TestASectionThatIsBrokenIsNotTouched(t *testing.T) {
	for _, text := range []string{
		begin, begin + "\nx", end, "x\n" + end + "\n" + begin, begin + "\n" + begin + "\n" + end,
		begin + "\n" + end + "\n" + begin + "\n" + end, begin + "\n" + end + "\n" + end,
	} {
		if _, _, err := Section.Put(text); err == nil {
			t.Errorf("put into %q", text)
		}
		if left, _, err := Section.Take(text); err == nil || left != text {
			t.Errorf("taken out of %q: %q", text, left)
		}
	}
}

func FuzzSection(f *testing.F) {
	for _, text := range documents {
		f.Add(text)
	}
	f.Add("# A\n\n" + begin + "\nx\n" + seal("x\n", "-9") + "\n" + end + "\nB")
	f.Fuzz(func(t *testing.T, text string) {
		from, to, err := find(text)
		with, _, putErr := Section.Put(text)
		if (err == nil) != (putErr == nil) {
			t.Fatalf("found: %v, put: %v", err, putErr)
		}
		if err != nil {
			return
		}
		left, standing, err := Section.Take(with)
		if err != nil || standing != Current {
			t.Fatalf("taken out: %d, %v", standing, err)
		}
		if from == to && left != text {
			t.Fatalf("of %q is left %q", text, left)
		}
		if again, _, err := Section.Put(with); err != nil || again != with {
			t.Fatalf("put twice: %q (%v)", again, err)
		}
	})
}
