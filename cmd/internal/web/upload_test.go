package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"claude-supervise/supervisor/images"
)

// parts is a form of parts with these images, by name, in front of its words.
func parts(t *testing.T, words string, pictures map[string]int) call {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, size := range pictures {
		part, err := form.CreateFormFile(imagePart, name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(bytes.Repeat([]byte{'x'}, size)); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{"words": words, "do": "answer"} {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	return call{method: http.MethodPost, path: "/questions/q-000000", body: body.String(),
		header: map[string]string{"Content-Type": form.FormDataContentType(), "X-Fragment": "1"}}
}

func TestTheImagesOfAnAnswerComeWithItsForm(t *testing.T) {
	state := newState(1)
	c := parts(t, "Black", map[string]int{"../shot.png": 7, "": 0})
	if reply, text := c.do(t, serving(t, state)); reply.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", reply.Status, text)
	}
	a := state.given["q-000000"]
	if len(a.Images) != 1 || a.Images[0].Name != "shot.png" || string(a.Images[0].Data) != "xxxxxxx" || a.Form.Words != "Black" {
		t.Errorf("given is %+v, %+v", a.Form, a.Images)
	}
}

// What an answer cannot have is refused with the reason; the words are there again, and nothing is answered.
func TestImagesThatAreTooManyOrTooLargeLoseNoWords(t *testing.T) {
	nine := map[string]int{}
	for i := range images.MaxMany + 1 {
		nine[fmt.Sprintf("%d.png", i)] = 1
	}
	for name, c := range map[string]struct {
		pictures map[string]int
		status   int
		says     string
	}{
		"a large one": {map[string]int{"l.png": images.MaxBytes + 250_001}, 422,
			"the image l.png: it has 4.0 MB, and 3.75 MB are the most"},
		"nine":   {nine, 422, "an answer has 8 images at most"},
		"100 MB": {map[string]int{"h.png": 100_000_000}, 413, "longer than 15 MB"},
	} {
		for _, chunked := range []bool{false, true} {
			if name == "100 MB" && chunked {
				continue // the connection is closed while it is sent
			}
			t.Run(fmt.Sprintf("%s, chunked %v", name, chunked), func(t *testing.T) {
				state := newState(1)
				call := parts(t, "these words", c.pictures)
				call.chunked = chunked
				reply, text := call.do(t, serving(t, state))
				if reply.StatusCode != c.status || !strings.Contains(text, c.says) {
					t.Errorf("%s: %s", reply.Status, text)
				}
				if c.status == 422 && !strings.Contains(text, ">these words</textarea>") {
					t.Errorf("the words are gone: %s", text)
				}
				if len(state.given) > 0 {
					t.Error("it is answered")
				}
			})
		}
	}
	words := parts(t, strings.Repeat("w", maxBody+1), nil)
	if reply, text := words.do(t, serving(t, newState(1))); reply.StatusCode != 413 || !strings.Contains(text, "1 MiB") {
		t.Errorf("long words: %s: %s", reply.Status, text)
	}
}
