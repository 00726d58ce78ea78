package web

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"claude-supervise/supervisor/client"
	"claude-supervise/supervisor/images"
	"claude-supervise/supervisor/text"
)

// An answer with images is a form of parts (multipart/form-data): its fields, which together are no longer than another
// form, and a part named image for each. All of it is held in memory: what an answer may have, and no more.
const (
	partsKind  = "multipart/form-data"
	imagePart  = "image"
	maxParts   = images.MaxSum + maxBody // bytes
	maxNamed   = 200                     // bytes of the name of an image
	maxSending = 5 * time.Minute         // how long such a body may take to come
	maxDrained = 256 << 20               // bytes of one that is too long, so that who sends it reads why
)

var errImagesTooLong = &refusal{Status: http.StatusRequestEntityTooLarge, Text: fmt.Sprintf(
	"what was sent is longer than %d MB, which the images of an answer may have together; nothing was answered",
	images.MaxSum/1_000_000)}

// hasParts reports whether a request is an answer with images.
func hasParts(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == partsKind && r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, "/questions/")
}

// bodyOf returns how long the body of a request may be, how long it may take, and what is said of a longer one.
func bodyOf(r *http.Request) (most int64, takes time.Duration, longer *refusal) {
	if hasParts(r) {
		return maxParts, maxSending, errImagesTooLong
	}
	return maxBody, maxSend, errTooLong
}

// drain reads the body of a request that is refused: a browser that is still sending would show nothing but that the
// connection is gone.
func drain(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(maxSend))
	_, _ = io.CopyN(io.Discard, r.Body, maxDrained) // who has gone needs no answer
}

// readAnswer reads the form that answers a question, and its images, which are not looked at yet. The error is a
// *client.UnfitImages where all of it was read, and there are more images, or larger ones, than an answer has.
func readAnswer(r *http.Request) (pictures []client.Picture, err error) {
	if !hasParts(r) {
		return nil, readForm(r)
	}
	pictures, err = readParts(r)
	var unfit *client.UnfitImages
	if err == nil || refused(err) || errors.As(err, &unfit) {
		return pictures, err
	}
	return nil, &refusal{Status: http.StatusBadRequest,
		Text: fmt.Sprintf("the form cannot be read: %v; nothing was done", err)}
}

func readParts(r *http.Request) (pictures []client.Picture, err error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	r.PostForm = url.Values{}
	var unfit error
	for left := int64(maxBody); ; {
		part, err := parts.NextPart()
		switch {
		case err == io.EOF: // a wrapped one is that of a form that is cut off
			return pictures, unfit
		case err != nil:
			return nil, err
		case part.FormName() == imagePart && part.FileName() == "": // a field without one
		case part.FormName() == imagePart:
			p, size, err := imageIn(part)
			switch {
			case err != nil:
				return nil, err
			case size > images.MaxBytes:
				unfit = &client.UnfitImages{Err: fmt.Errorf("the image %s: %w", p.Name, images.TooLarge(size))}
			case len(pictures) == images.MaxMany:
				unfit = &client.UnfitImages{Err: fmt.Errorf("an answer has %d images at most", images.MaxMany)}
			default:
				pictures = append(pictures, p)
			}
		default:
			value, err := io.ReadAll(io.LimitReader(part, left+1))
			if err != nil {
				return nil, err
			}
			if left -= int64(len(value)); left < 0 {
				return nil, errTooLong
			}
			r.PostForm.Add(part.FormName(), string(value))
		}
	}
}

// imageIn reads an image, and how many bytes it has. Of one that is too large a part is kept.
func imageIn(part *multipart.Part) (p client.Picture, size int64, err error) {
	p.Name = text.Truncate(filepath.Base(part.FileName()), maxNamed)
	if p.Data, err = io.ReadAll(io.LimitReader(part, images.MaxBytes+1)); err != nil {
		return p, 0, err
	}
	more, err := io.Copy(io.Discard, part)
	return p, int64(len(p.Data)) + more, err
}
