package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"claude-supervise/supervisor/service"
)

// Who is let in. In this order: 421 for a Host that is none of ours (a page elsewhere whose name was made to point
// here), 403 for what a page of another origin sends, 401 without the token, 413 for a body that is too long. The token
// comes as `Authorization: Bearer`, or, from a browser, as a cookie: the first load of a page whose address has the
// token sets that, and goes on to the same page without it. The cookie is not the token, but what can be made of it:
// browsers send it to every port of the host.

const (
	maxBody   = 1 << 20          // bytes
	maxFollow = 30 * time.Second // how long a reader of a page may take
	maxSend   = 30 * time.Second // how long a body may take to come
	cookieAge = 400 * 24 * time.Hour
)

// policy lets a page load and do nothing but what this server has.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func (s *Server) walled(next http.Handler) http.Handler {
	var origins http.CrossOriginProtection
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		// A stream sets its own for each event. Where that cannot be set, the kernel's bounds do.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(maxFollow))
		switch name := hostName(r.Host); {
		case !s.knows(name):
			s.fail(w, r, &refusal{Status: http.StatusMisdirectedRequest, Text: fmt.Sprintf(
				"this page is not served under the name %q; to have it, start serve with --host %s", name, name)})
			return
		case origins.Check(r) != nil:
			s.fail(w, r, &refusal{Status: http.StatusForbidden,
				Text: "this was sent by a page of another origin; nothing was done"})
			return
		case s.open(r): // a public text
		case presses(r): // its address is its token
		case s.enters(w, r):
			s.connections.use(r.Context())()
			return
		case !s.known(r):
			h.Set("WWW-Authenticate", "Bearer")
			s.fail(w, r, s.unknown(r))
			return
		}
		most, takes, longer := bodyOf(r)
		if r.ContentLength > most {
			if hasParts(r) {
				drain(w, r)
			}
			s.fail(w, r, longer)
			return
		}
		if s.known(r) {
			defer s.connections.use(r.Context())()
		}
		if to, is := r.Context().Value(http.LocalAddrContextKey).(net.Addr); is { // an agent may have found the token
			r = r.WithContext(service.SentFrom(r.Context(), r.RemoteAddr, to))
		}
		r.Body = boundedBody{http.MaxBytesReader(w, r.Body, most), longer}
		if r.ContentLength != 0 {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(takes))
		}
		next.ServeHTTP(w, r)
	})
}

var errTooLong = &refusal{Status: http.StatusRequestEntityTooLarge,
	Text: "what was sent is longer than 1 MiB; put it into a file, and name that; nothing was done"}

// A boundedBody is the body of a request: who reads beyond its bound is told so.
type boundedBody struct {
	io.ReadCloser
	longer *refusal
}

// Read implements io.Reader.
func (b boundedBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if _, is := errors.AsType[*http.MaxBytesError](err); is {
		err = b.longer
	}
	return n, err
}

func refused(err error) bool {
	_, is := errors.AsType[*refusal](err)
	return is
}

// hostName is the name in a Host header.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

func (s *Server) knows(name string) bool {
	if ip := net.ParseIP(name); ip != nil && ip.IsLoopback() || name == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.config.Hosts, func(own string) bool { return hostName(own) == name })
}

// open reports whether a request is for what everybody may have: it is in every copy of the program.
func (s *Server) open(r *http.Request) bool {
	return r.Method == http.MethodGet && (strings.HasPrefix(r.URL.Path, "/static/") || r.URL.Path == "/icon.svg" ||
		r.URL.Path == "/manifest.webmanifest")
}

func pathOfAPI(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/api/") }

// enters takes the token out of the address of a page, and reports whether it has answered the request.
func (s *Server) enters(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if r.Method != http.MethodGet || pathOfAPI(r) || !same(query.Get("token"), s.config.Token) {
		return false
	}
	http.SetCookie(w, &http.Cookie{
		Name: s.cookie, Value: cookieValue(s.config.Token), Path: "/", MaxAge: int(cookieAge.Seconds()),
		HttpOnly: true, Secure: s.config.Secure, SameSite: http.SameSiteLaxMode,
	})
	query.Del("token")
	// Not r.URL, which may name another host: a path alone, that begins with one slash.
	to := "/" + strings.TrimLeft(r.URL.EscapedPath(), "/\\")
	if rest := query.Encode(); rest != "" {
		to += "?" + rest
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
	return true
}

// known reports whether a request has the token, or the cookie.
func (s *Server) known(r *http.Request) bool {
	if kind, token, found := strings.Cut(r.Header.Get("Authorization"), " "); found && strings.EqualFold(kind, "Bearer") {
		return same(token, s.config.Token)
	}
	return slices.ContainsFunc(r.CookiesNamed(s.cookie), func(c *http.Cookie) bool {
		return same(c.Value, cookieValue(s.config.Token))
	})
}

// unknown says what is wrong to who has no token, or another than that of this server.
func (s *Server) unknown(r *http.Request) error {
	u := &refusal{Status: http.StatusUnauthorized, Text: "this needs the token"}
	given := r.URL.Query().Get("token")
	if given != "" && !same(given, s.config.Token) || r.Header.Get("Authorization") != "" ||
		len(r.CookiesNamed(s.cookie)) > 0 {
		u.Text, u.Field = "the token is wrong: it is not that of this page, or no longer", "token"
	}
	u.Text += fmt.Sprintf("; open the address that `%s serve` has printed, or send the token in it as "+
		"Authorization: Bearer", s.config.Program)
	return u
}

func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// cookieName is for one port: a browser has one set of cookies for all ports of a host.
func cookieName(port int) string { return fmt.Sprintf("claude-supervise-%d", port) }

func cookieValue(token string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("cookie")) // which never fails
	return hex.EncodeToString(mac.Sum(nil))
}
