package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// A printer is output in which each part is one read, and "" a silence until what is awaited.
type printer struct {
	parts []string
	until time.Time
}

func (p *printer) Read(b []byte) (int, error) {
	if len(p.parts) == 0 {
		return 0, io.EOF
	}
	part := p.parts[0]
	if part == "" {
		p.parts = p.parts[1:]
		if p.until.IsZero() { // nobody waits: it goes on some time
			return p.Read(b)
		}
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(b, part)
	if p.parts[0] = part[n:]; p.parts[0] == "" {
		p.parts = p.parts[1:]
	}
	return n, nil
}

// pieces returns the texts in which parts are handed over.
func pieces(parts ...string) (texts []string) {
	p := &printer{parts: parts}
	readRaw(p, &p.until, func(text string) { texts = append(texts, text) })
	return texts
}

func TestOutputIsHandedOverInWholeLinesAndRunes(t *testing.T) {
	long := strings.Repeat("x", maxRaw)
	for _, c := range []struct {
		name        string
		parts, want []string
	}{
		{"nothing", nil, nil},
		{"lines as they come", []string{"a\nb\n", "c\n"}, []string{"a\nb\n", "c\n"}},
		{"a line in parts", []string{"a", "b", "\nc\n"}, []string{"ab\nc\n"}},
		{"its end after a line", []string{"a\nb", "c\n"}, []string{"a\n", "bc\n"}},
		{"a question", []string{"a\nwell? ", "", "yes\n"}, []string{"a\n", "well? ", "yes\n"}},
		{"silence between lines", []string{"a\n", "", "b\n"}, []string{"a\n", "b\n"}},
		{"no last newline", []string{"a"}, []string{"a"}},
		{"a rune in parts", []string{"\xe2", "\x82", "\xac\n"}, []string{"€\n"}},
		{"silence in a rune", []string{"a\xe2\x82", "", "\xac", "", "b\n"}, []string{"a", "€", "b\n"}},
		{"half a rune at the end", []string{"a\xe2\x82"}, []string{"a\uFFFD"}},
		{"silence after half a rune", []string{"\xe2", "", "\n"}, []string{"\uFFFD\n"}},
		{"no UTF-8", []string{"\xff\xfe\xfd\xfc", "", "\n"}, []string{"\uFFFD", "\n"}},
		{"carriage returns", []string{"10%\r", "20%\r", "\r\n", "\r", "\n"}, []string{"10%\r20%\r\r\n", "\r\n"}},
		{"NUL and escapes", []string{"\x00\x1b[2J\n"}, []string{"\x00\x1b[2J\n"}},
		{"a line that is too long", []string{long + "y\n"}, []string{long, "y\n"}},
		{"that ends in a rune", []string{long[1:] + "€\n"}, []string{long[1:], "€\n"}},
		{"a long output without lines", []string{long, long, ""}, []string{long, long}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := pieces(c.parts...); !slices.Equal(got, c.want) {
				t.Errorf("got  %.200q\nwant %.200q", got, c.want)
			}
		})
	}
}

func TestTheBeginningOfALineIsNotWaitedForAgainAndAgain(t *testing.T) {
	p := &printer{parts: []string{"a", "b", "c\nd", "\n"}}
	var untils []time.Time
	in := readerFunc(func(b []byte) (int, error) {
		untils = append(untils, p.until)
		return p.Read(b)
	})
	readRaw(in, &p.until, func(string) {})
	if len(untils) != 5 {
		t.Fatalf("%d reads", len(untils))
	}
	if !untils[0].IsZero() || untils[1].IsZero() || untils[2] != untils[1] || !untils[3].After(untils[1]) ||
		!untils[4].IsZero() {
		t.Errorf("until %v", untils)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestTheStreamProtocolIsKnownByTheFirstLine(t *testing.T) {
	for _, c := range []struct {
		name, first string
		want        bool
	}{
		{"a conversation", `{"type":"system","subtype":"init","session_id":"s"}`, true},
		{"its type last", `{"subtype":"init","session_id":"s","type":"system"}`, true},
		{"a result alone", `{"type":"result","subtype":"error_during_execution","errors":["No conversation found"]}`, true},
		{"words of the assistant", `{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]}}`, true},
		{"a member of another form", `{"type":"user","message":{"content":"hi"},"uuid":5}`, true},
		{"a long one", `{"type":"system","subtype":"init","tools":["` + strings.Repeat("x", 100<<10) + `"]}`, true},
		{"too long a one", `{"type":"system","subtype":"init","tools":["` + strings.Repeat("x", 2*maxFirst) + `"]}`, false},
		{"after something else", "npm warn\n" + `{"type":"system","subtype":"init"}`, false},
		{"after a blank line", "\n" + `{"type":"system","subtype":"init"}`, false},
		{"another program's stream", `{"type":"thread.started","thread_id":"t"}`, false},
		{"a system without a subtype", `{"type":"system","message":"booting"}`, false},
		{"an assistant without a message", `{"type":"assistant","text":"hi"}`, false},
		{"a signal", `{"signal_type":"completion_report","agent_id":"a"}`, false},
		{"half an object", `{"type":"system",`, false},
		{"an object over several lines", "{\n" + `"type":"system","subtype":"init"}`, false},
		{"not an object", `["system"]`, false},
		{"nothing", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			printed := c.first + "\nrest"
			in := bufio.NewReaderSize(strings.NewReader(printed), maxRaw)
			head := headLine(in, new(time.Time))
			if got := speaksStream(head); got != c.want {
				t.Errorf("got %v", got)
			}
			rest, err := io.ReadAll(in)
			if err != nil || string(head)+string(rest) != printed {
				t.Errorf("%d bytes of %d are left (%v)", len(head)+len(rest), len(printed), err)
			}
			if len(head) > maxFirst+maxRaw {
				t.Errorf("%d bytes are kept", len(head))
			}
		})
	}
}

func TestAFirstLineWithoutEndIsNotWaitedForForEver(t *testing.T) {
	p := &printer{parts: []string{`{"signal_type":`, `"clarification_needed"}`, "", "\n"}}
	in := bufio.NewReaderSize(p, maxRaw)
	head := headLine(in, &p.until)
	if string(head) != `{"signal_type":"clarification_needed"}` || speaksStream(head) || !p.until.IsZero() {
		t.Errorf("got %q, until %v", head, p.until)
	}
}

// FuzzRaw: however it comes, what is handed over is what was printed, but for what is no UTF-8.
func FuzzRaw(f *testing.F) {
	f.Add([]byte("plain\r\n\x1b[0m10%\rno newline"), uint8(3), false)
	f.Add([]byte("ä€𝄞\n\xff\xe2\x82"), uint8(1), true)
	f.Add([]byte(`{"type":"system","subtype":"init"}`+"\n{"), uint8(7), false)
	f.Add(bytes.Repeat([]byte("\xe2\x82\xac"), maxRaw/3+5), uint8(255), true)
	f.Fuzz(func(t *testing.T, printed []byte, size uint8, silent bool) {
		p := new(printer)
		for part := range slices.Chunk(printed, 1+int(size)*int(size)) {
			p.parts = append(p.parts, string(part))
			if silent {
				p.parts = append(p.parts, "")
			}
		}
		in := bufio.NewReaderSize(p, maxRaw)
		head := headLine(in, &p.until)
		var got strings.Builder
		readRaw(io.MultiReader(bytes.NewReader(head), in), &p.until, func(text string) {
			if !utf8.ValidString(text) || text == "" || len(text) > maxRaw*utf8.UTFMax {
				t.Fatalf("%d bytes, valid %v", len(text), utf8.ValidString(text))
			}
			got.WriteString(text)
		})
		// A run of broken bytes becomes one replacement, or several if it comes in several parts.
		squeeze := strings.NewReplacer("\uFFFD", "")
		want := strings.ToValidUTF8(string(printed), "\uFFFD")
		if utf8.Valid(printed) && got.String() != want || squeeze.Replace(got.String()) != squeeze.Replace(want) {
			t.Error(cmp.Diff(want, got.String()))
		}
	})
}

func BenchmarkRaw(b *testing.B) {
	for _, c := range []struct{ name, line string }{
		{"lines", strings.Repeat("some output ", 8) + "\n"},
		{"no lines", strings.Repeat("some output ", 8)},
		{"no UTF-8", strings.Repeat("\xff\n", 48)},
	} {
		b.Run(c.name, func(b *testing.B) {
			printed := []byte(strings.Repeat(c.line, 16<<20/len(c.line)))
			b.SetBytes(int64(len(printed)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				readRaw(bytes.NewReader(printed), new(time.Time), func(text string) { n += len(text) })
				if n < len(printed) {
					b.Fatal(fmt.Sprint(n, " bytes"))
				}
			}
		})
	}
}
