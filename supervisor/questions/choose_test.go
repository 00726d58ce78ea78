package questions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"claude-supervise/supervisor/text"
)

func options(labels ...string) []Option {
	list := make([]Option, len(labels))
	for i, label := range labels {
		list[i] = Option{Label: label}
	}
	return list
}

// in is a folder of this machine, as a person answers from it.
func in(dir string) Place {
	return Place{Dir: dir, Stat: func(path string) error { _, err := os.Stat(path); return err }}
}

var here = in(".")

func TestChooseTakesWhatAPersonTypes(t *testing.T) {
	databases := Terms{Options: options("PostgreSQL", "SQLite", "Postfix spool")}
	several := Terms{Options: options("Red", "Green", "Blue, dark", "Blue"), MultiSelect: true}
	ports := Terms{Options: options("8080", "3000", "1080")}
	counts := Terms{Options: options("3", "5", "1")}
	permission := Terms{Kind: "permission", Options: options("allow", "allow-run", "deny", "deny-stop")}
	stop := Terms{Kind: "blocker", Options: options("run: npm install", "Skip the file", "skip", "give up")}
	for name, test := range map[string]struct {
		q           Terms
		typed, want string
	}{
		"an option with words":                  {stop, "2: the vendored folder", "Skip the file: the vendored folder"},
		"an option with words and no colon":     {stop, "2 the vendored\nfolder", "Skip the file: the vendored\nfolder"},
		"an option of a list with words":        {stop, "3) only a.js", "skip: only a.js"},
		"a letter with words":                   {stop, "b: a.js", "Skip the file: a.js"},
		"a sentence that begins with a letter":  {stop, "b is done", "b is done"},
		"a number that no option has, in words": {stop, "30 files are mended", "30 files are mended"},
		"a number in words to no stop":          {databases, "2 or none", "2 or none"},
		"a number":                              {databases, "2", "SQLite"},
		"a number as in a list":                 {databases, " 2) ", "SQLite"},
		"a letter":                              {databases, "b", "SQLite"},
		"a letter in capitals with its bracket": {databases, "(B)", "SQLite"},
		"a label":                               {databases, "SQLite", "SQLite"},
		"a label in another case":               {databases, "sqlITE", "SQLite"},
		"a start of a label":                    {databases, "postg", "PostgreSQL"},
		"a label over two lines":                {databases, "Postfix\n  spool", "Postfix spool"},
		"own words":                             {databases, "neither, use a file", "neither, use a file"},
		"own words that look like a start":      {databases, `"""postg"""`, "postg"},
		"own words that look like a number":     {databases, `"""2"""`, "2"},
		"own words over lines":                  {databases, "\"\"\"\nfirst\n  second\n\"\"\"", "first\n  second"},
		"own words without options":             {Terms{}, " as you like \n", "as you like"},
		"one letter without options":            {Terms{}, "x", "x"},
		"a multi-line paste":                    {Terms{}, "one\r\ntwo\rthree", "one\ntwo\nthree"},
		"escapes in what was typed":             {Terms{}, "\x1b[200~text\x1b[201~\x1b[A", "text"},
		"invalid UTF-8":                         {Terms{}, "caf\xe9", "caf\uFFFD"},

		"a label that is a number":             {counts, "3", "3"},
		"a label that is another one's number": {counts, "1", "1"},
		"a letter beside labels of numbers":    {counts, "b", "5"},
		"a number that no label begins with":   {ports, "2", "3000"},
		"a start of a number":                  {ports, "80", "8080"},
		"another number beside numbers":        {ports, "9999", "9999"},
		"the label before the start":           {Terms{Options: options("Allow always", "Allow")}, "allow", "Allow"},
		"the label in its own case":            {Terms{Options: options("yes", "YES")}, "YES", "YES"},
		"letter and start agree":               {Terms{Options: options("Abort", "Continue")}, "a", "Abort"},
		"a letter that no option has":          {Terms{Options: options("Proceed", "Abort")}, "p", "Proceed"},
		"the same label twice":                 {Terms{Options: options("Go", "Go")}, "go", "Go"},
		"a label with escapes, as it was given": {Terms{Options: options("\x1b[31mRed\x1b[0m", "Green")},
			"red", "\x1b[31mRed\x1b[0m"},

		"several numbers":            {several, "1,2", "Red, Green"},
		"several by blanks":          {several, "1 4", "Red, Blue"},
		"several labels by blanks":   {several, "Red gree red", "Red, Green"},
		"words beside options":       {several, "Red and more", "Red and more"},
		"a list of values":           {ports, "1,9", "1,9"},
		"numbers between quotes":     {databases, `"""1,9"""`, "1,9"},
		"numbers without options":    {Terms{}, "1 9", "1 9"},
		"an amount":                  {databases, "1,000", "1,000"},
		"numbers where one is meant": {counts, "3, then 5", "3, then 5"},
		"several in any form":        {several, "d, red ,2", "Blue, Red, Green"},
		"one twice":                  {several, "1,red", "Red"},
		"empty places":               {several, "1,,2,", "Red, Green"},
		"a label that has a comma":   {several, "Red, Blue, dark", "Red, Blue, dark"},
		"one of several":             {several, "green", "Green"},
		"own words with a comma":     {several, "yellow, mostly", "yellow, mostly"},

		"choice":                        {Terms{Validate: "choice", Options: options("Red", "Green")}, "g", "Green"},
		"choice without options":        {Terms{Validate: "choice"}, "anything", "anything"},
		"choice in triple quotes":       {Terms{Validate: "choice", Options: options("Red")}, `"""Red"""`, "Red"},
		"regex":                         {Terms{Validate: `regex:^v\d+\.\d+$`}, "v1.20", "v1.20"},
		"regex, unanchored as in bash":  {Terms{Validate: `regex:\d`}, "v1", "v1"},
		"regex, an offered label":       {Terms{Validate: `regex:^\d+$`, Options: options("latest")}, "1", "latest"},
		"regex that is none":            {Terms{Validate: `regex:([`}, "anything", "anything"},
		"integer":                       {Terms{Validate: "integer"}, "-12", "-12"},
		"integer, no number of options": {Terms{Validate: "integer", Options: options("4", "8")}, "2", "2"},
		"integer, a label":              {Terms{Validate: "integer", Options: options("4", "8")}, "8", "8"},
		"yes":                           {Terms{Validate: "yes_no"}, "Y", "yes"},
		"no":                            {Terms{Validate: "yes_no"}, "No", "no"},
		"yes as an option": {Terms{Validate: "yes_no", Options: options("Yes, continue", "No")},
			"y", "Yes, continue"},
		"a rule nobody knows": {Terms{Validate: "email"}, "a@b", "a@b"},

		"a decision":                    {permission, "allow", "allow"},
		"a decision with its reason":    {permission, "deny too risky", "deny too risky"},
		"a decision by number, and why": {permission, "3 too  risky", "deny too  risky"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.q.Choose(test.typed, here)
			if err != nil || got != test.want {
				t.Errorf("Choose(%q) = %q, %v; want %q", test.typed, got, err, test.want)
			}
		})
	}
}

func TestChooseRefusesAndSaysWhatIsPossible(t *testing.T) {
	databases := Terms{Options: options("PostgreSQL", "SQLite", "Postfix")}
	chosen := Terms{Options: options("Red", "Green"), Validate: "choice", MultiSelect: true}
	permission := Terms{Kind: "permission", Options: options("allow", "deny")}
	for name, test := range map[string]struct {
		q     Terms
		typed string
		why   Reason
		says  string
	}{
		"words beside a command": {Terms{Kind: "blocker", Options: options("run: make", "give up")}, "1 with -j", NotOffered,
			`type 1 alone`},
		"words beside the end": {Terms{Kind: "blocker", Options: options("run: make", "give up")}, "2 tests fail", NotOffered,
			`"give up" takes no words beside it: type 2 alone`},
		"nothing":                {databases, " \n\t", Empty, "type 1 for \"PostgreSQL\""},
		"nothing but escapes":    {Terms{}, "\x1b[A\x1b[B", Empty, "your own words"},
		"nothing between quotes": {Terms{}, `""""""`, Empty, "your own words"},
		"a start of two":         {databases, "post", Ambiguous, `"PostgreSQL" (1) or "Postfix" (3)`},
		"a letter that starts another": {Terms{Options: options("Continue", "Abort")}, "a",
			Ambiguous, `"Continue" (1) or "Abort" (2)`},
		"a number that starts another": {Terms{Options: options("8080", "1080")}, "1", Ambiguous,
			`"8080" (a) or "1080" (b)`},
		"labels that differ in case only": {Terms{Options: options("Go", "GO")}, "go", Ambiguous, "more of the label"},
		"a number too high":               {databases, "4", NotOffered, "send it as text"},
		"several where one is taken":      {databases, "1,2", NotOffered, "this question takes one"},
		"several by blanks where one is":  {databases, "1 3", NotOffered, "this question takes one"},
		"several beside numbers":          {Terms{Options: options("80", "90")}, "1,2", NotOffered, "this question takes one"},
		"of several numbers one is none":  {databases, "1 9", NotOffered, "this question takes one"},
		"several by blanks, one is none": {Terms{Options: options("Red", "Green"), MultiSelect: true}, "1 9", NotOffered,
			`"1 9" names no options: type 1 for "Red"`},
		"several by commas, none is one": {Terms{Options: options("Red", "Green"), MultiSelect: true}, "8,9", NotOffered,
			`"8" is not one of the options`},
		"a letter too high":           {databases, "x", NotOffered, "send it as text"},
		"no option, and it has to be": {chosen, "blue", NotOffered, `1 for "Red" or 2 for "Green"`},
		"the same between quotes":     {chosen, `"""blue"""`, NotOffered, `1 for "Red"`},
		"one of several is none":      {chosen, "1,blue", NotOffered, `"blue" is not one`},
		"one of several is ambiguous": {Terms{Options: options("Red", "Rust"), MultiSelect: true},
			"1, r", Ambiguous, `"Red" (1) or "Rust" (2)`},
		"words among numbers": {Terms{Options: options("Red", "Green"), MultiSelect: true},
			"1, yellow", NotOffered, `"yellow"`},
		"a blank option":     {Terms{Options: options("Red", " \x1b[m")}, "2", NotOffered, `"Red"`},
		"no match":           {Terms{Validate: `regex:^v\d+$`}, "1", Invalid, `matches ^v\d+$`},
		"no integer":         {Terms{Validate: "integer"}, "1.5", Invalid, "a whole number"},
		"neither yes nor no": {Terms{Validate: "yes_no"}, "maybe", Invalid, "yes or no"},
		"no such path":       {Terms{Validate: "path"}, "no/such/file", Invalid, "a path that exists"},
		"no such path, offered": {Terms{Validate: "path", Options: options("no/such/file")},
			"1", Invalid, "a path that exists"},
		"no decision": {permission, "sure, continue", NotOffered, "not one of the decisions"},
		"too long":    {Terms{}, strings.Repeat("a", text.MaxClean+1), TooLong, "256 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.q.Choose(test.typed, here)
			var refusal *Refusal
			if !errors.As(err, &refusal) {
				t.Fatalf("Choose(%q) = %q, %v; want a refusal", test.typed, got, err)
			}
			if refusal.Reason != test.why || !strings.Contains(refusal.Message, test.says) {
				t.Errorf("%s: %s; want %s and %q", refusal.Reason, refusal.Message, test.why, test.says)
			}
		})
	}
}

func TestChooseLooksUpPathsInTheFolderOfTheRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "notes.md")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"notes.md", "./notes.md", file} {
		if got, err := (Terms{Validate: "path"}).Choose(typed, in(dir)); err != nil || got != typed {
			t.Errorf("Choose(%q) = %q, %v", typed, got, err)
		}
	}
	if _, err := (Terms{Validate: "path"}).Choose("notes.md/below", in(dir)); err == nil {
		t.Error("a path below a file was taken")
	}
}

func TestARefusalIsSafeToShow(t *testing.T) {
	q := Terms{Options: options("\x1b[2JRed\u202e", "Rust\r\x1b]0;x\x07")}
	_, err := q.Choose("r", here)
	if err == nil {
		t.Fatal("an ambiguous start was taken")
	}
	if safe := text.Clean(err.Error()); safe != err.Error() {
		t.Errorf("%q is not safe to show", err)
	}
}

func TestKeysAreNeverAmbiguous(t *testing.T) {
	for name, test := range map[string]struct {
		q    Terms
		want []string
	}{
		"numbers":                    {Terms{Options: options("Red", "Green")}, []string{"1", "2"}},
		"letters beside numbers":     {Terms{Options: options("3", "5", "1")}, []string{"a", "b", "c"}},
		"numbers beside big numbers": {Terms{Options: options("8080", "9090")}, []string{"1", "2"}},
		"letters for integers":       {Terms{Options: options("4", "8"), Validate: "integer"}, []string{"a", "b"}},
		"none for a blank":           {Terms{Options: options("Red", "\x1b[m", "Blue")}, []string{"1", "", "3"}},
		"neither":                    {Terms{Options: options("2", "1", "b", "a")}, []string{"", "", "", ""}},
		"none":                       {Terms{}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.q.Keys()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func FuzzChoose(f *testing.F) {
	f.Add("Red", "Green", "1", "choice", true)
	f.Add("1", "2", "b", "", false)
	f.Add("a, b", "b", "a, b, b", "", true)
	f.Add("\x1b[31m", "\xff", `"""x"""`, "regex:.", false)
	f.Fuzz(func(t *testing.T, one, two, typed, validate string, multi bool) {
		if validate == "path" {
			return // looks at the disk
		}
		q := Terms{Options: options(one, two), Validate: validate, MultiSelect: multi}
		got, err := q.Choose(typed, here)
		var refusal *Refusal
		switch {
		case errors.As(err, &refusal):
			if text.Clean(refusal.Message) != refusal.Message {
				t.Errorf("%q is not safe to show", refusal.Message)
			}
		case err != nil:
			t.Fatalf("not a refusal: %v", err)
		case got == "":
			t.Fatalf("the answer to %q is empty", typed)
		}
		for i, key := range q.Keys() {
			if key == "" {
				continue
			}
			if got, err := q.Choose(key, here); err != nil || got != q.Options[i].Label {
				t.Errorf("key %q of %q gives %q, %v", key, q.Options[i].Label, got, err)
			}
		}
	})
}

func BenchmarkChoose(b *testing.B) {
	q := Terms{Options: options("PostgreSQL", "SQLite", "MySQL", "Both of them"), MultiSelect: true}
	for b.Loop() {
		if _, err := q.Choose("1, sqlite", here); err != nil {
			b.Fatal(err)
		}
	}
}
