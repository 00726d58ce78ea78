package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"claude-supervise/supervisor/text"
)

// window reads which part of a list is wanted.
func window(r *http.Request) (skip, most int, err error) {
	most = maxListed
	for name, to := range map[string]*int{"offset": &skip, "limit": &most} {
		if text := r.URL.Query().Get(name); text != "" {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 {
				return 0, 0, &refusal{Status: http.StatusBadRequest, Text: fmt.Sprintf("%s takes a number, not %q", name, text)}
			}
			*to = n
		}
	}
	return skip, min(max(most, 1), maxListed), nil
}

// read reads the one JSON object of a request.
func read(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("there is more behind it")
		}
	}
	why := text.Misread(err)
	switch {
	case refused(err):
		return err
	case errors.Is(err, io.EOF):
		why = "there is none"
	case errors.Is(err, io.ErrUnexpectedEOF):
		why = "it ends in the middle"
	}
	return &refusal{Status: http.StatusBadRequest, Text: "the body is not the JSON object that this takes: " +
		strings.TrimPrefix(why, "json: ") + "; nothing was done"}
}

// readForm reads the form of a request.
func readForm(r *http.Request) error {
	const kind = "application/x-www-form-urlencoded"
	if given, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); given != kind {
		return &refusal{Status: http.StatusUnsupportedMediaType,
			Text: "this takes a form as browsers send it (" + kind + "); programs use /api/; nothing was done"}
	}
	err := r.ParseForm()
	if err == nil || refused(err) {
		return err
	}
	return &refusal{Status: http.StatusBadRequest,
		Text: fmt.Sprintf("the form cannot be read: %v; nothing was done", err)}
}
