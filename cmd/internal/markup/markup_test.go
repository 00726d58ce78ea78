package markup

import (
	"embed"
	"testing"

	g "maragu.dev/gomponents"
	"maragu.dev/gomponents/html"
)

func TestAnIDIsOneSegmentOfAnAddress(t *testing.T) {
	for id, want := range map[string]string{
		"q-1":                    "/questions/q-1",
		"javascript:alert(1)":    "/questions/javascript:alert%281%29",
		"../../x?y#z":            "/questions/..%2F..%2Fx%3Fy%23z",
		"//evil.example":         "/questions/%2F%2Fevil.example",
		`"><script>`:             "/questions/%22%3E%3Cscript%3E",
		"a\x00b\xff\u202e\r\n\t": "/questions/a%00b%FF%E2%80%AE%0D%0A%09",
		"&amp;":                  "/questions/&amp;amp%3B",
	} {
		if got := String(html.A(PathOf("/questions/", id).Href())); got != `<a href="`+want+`"></a>` {
			t.Errorf("%q is linked to as %s, want %s", id, got, want)
		}
	}
}

func TestAnAddressLeadsToNoOtherSite(t *testing.T) {
	for _, begin := range []constant{"", "//evil.example/", "javascript:", "https://evil.example/", "data:", "\\\\x", " /x", "x"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an address begins with %q", begin)
				}
			}()
			PathOf(begin, "x")
		}()
	}
}

func TestTheValueOfAnAddressIsOneValue(t *testing.T) {
	at := Numbered("?from=", 50).With("q", "a&b=c #\"<").With("end", "")
	if got := String(html.A(at.Href())); got != `<a href="?from=50&amp;q=a%26b%3Dc+%23%22%3C"></a>` {
		t.Errorf("it is linked to as %s", got)
	}
}

func TestTextsAndValuesAreEscaped(t *testing.T) {
	hostile := "\"'<script>`&amp;\x00</title>"
	const want = "&#34;&#39;&lt;script&gt;`&amp;amp;\uFFFD&lt;/title&gt;"
	got := String(html.P(Attribute("data-v", hostile), g.Text(hostile)))
	if got != `<p data-v="`+want+`">`+want+"</p>" {
		t.Error(got)
	}
}

func TestLinesAndDotsStandBetweenWhatIsThere(t *testing.T) {
	nodes := []g.Node{nil, g.Text("a"), g.Group{nil, g.Group{g.Text("b")}, Some("")}, Some("c")}
	if got := String(Lines(nodes...)); got != "\na\nb\nc\n" {
		t.Errorf("the lines are %q", got)
	}
	if got := String(Dotted(nodes...)); got != "a · b · c" {
		t.Errorf("with dots it is %q", got)
	}
}

//go:embed testdata
var testdata embed.FS

func TestAStyleIsTheFile(t *testing.T) {
	want, err := testdata.ReadFile("testdata/sheet.css")
	if err != nil {
		t.Fatal(err)
	}
	if got := String(Style(testdata, "testdata/sheet.css")); got != "<style>\n"+string(want)+"</style>" {
		t.Errorf("the style is %s", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("a style that is none is drawn")
		}
	}()
	Style(testdata, "none.css")
}
