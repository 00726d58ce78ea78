package web

import (
	"net/http"
	"strings"
	"testing"
)

// An image is served as what it is and as nothing else, to who may see the page.
func TestAnImageIsServedAsOne(t *testing.T) {
	s := serving(t, newState(1))
	reply, text := call{method: http.MethodGet, path: "/questions/q-000000/image?hash=5e3d"}.do(t, s)
	if reply.StatusCode != http.StatusOK || text != "a picture" {
		t.Fatalf("%s: %s", reply.Status, text)
	}
	for name, want := range map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": pictureRules, "Content-Disposition": "inline", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := reply.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	for path, want := range map[string]int{"/questions/q-000000/image?hash=../x": 404, "/questions/q-000000/image": 404} {
		if reply, text := (call{method: http.MethodGet, path: path}).do(t, s); reply.StatusCode != want {
			t.Errorf("%s: %s: %s", path, reply.Status, text)
		}
	}
	reply, text = call{method: http.MethodGet, path: "/questions/q-000000/image?hash=5e3d",
		noToken: true}.do(t, s)
	if reply.StatusCode != http.StatusUnauthorized || strings.Contains(text, "a picture") {
		t.Errorf("a stranger is given %s: %s", reply.Status, text)
	}
}
