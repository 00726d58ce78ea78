package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestNobodyElseIsLetIn(t *testing.T) {
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	with := func(header map[string]string, more ...string) map[string]string {
		all := map[string]string{}
		for name, value := range header {
			all[name] = value
		}
		for i := 0; i < len(more); i += 2 {
			all[more[i]] = more[i+1]
		}
		return all
	}
	answer := call{method: "POST", path: "/api/questions/q-000000/answer", body: `{"value": "x"}`}
	for name, c := range map[string]call{
		"no token, page":             {method: "GET", path: "/", noToken: true, status: 401, says: "claude-supervise serve"},
		"no token, API":              {method: "GET", path: "/api/questions", noToken: true, status: 401, says: `"error"`},
		"no token, events":           {method: "GET", path: "/api/events", noToken: true, status: 401},
		"no token, answer":           {method: answer.method, path: answer.path, body: answer.body, noToken: true, status: 401},
		"no token, form":             {method: "POST", path: "/questions/q-000000", body: "words=x", header: form, noToken: true, status: 401},
		"no token, stop":             {method: "POST", path: "/api/runs/r-aaaaaaaa/stop", noToken: true, status: 401},
		"no token, nothing there":    {method: "GET", path: "/nothing", noToken: true, status: 401},
		"another token":              {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer the-tokem"}, status: 401, says: "token is wrong"},
		"an empty token":             {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer "}, status: 401},
		"the token as a password":    {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Basic " + token}, status: 401},
		"the token as the cookie":    {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-7433=" + token}, noToken: true, status: 401},
		"the cookie of another port": {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-1=" + cookieValue(token)}, noToken: true, status: 401},
		"the cookie as the token":    {method: "GET", path: "/api/questions", header: map[string]string{"Authorization": "Bearer " + cookieValue(token)}, status: 401},
		"the token in the API's URL": {method: "GET", path: "/api/questions?token=" + token, noToken: true, status: 401, says: "needs the token"},
		"a token in a form's URL":    {method: "POST", path: "/questions/q-000000?token=" + token, body: "words=x", header: form, noToken: true, status: 401},
		"a wrong token in the URL":   {method: "GET", path: "/?token=x", noToken: true, status: 401, says: "token is wrong"},
		"a rebound name":             {method: "GET", path: "/", host: "evil.example", status: 421, says: "evil.example"},
		"a rebound name, API":        {method: "POST", path: answer.path, body: answer.body, host: "evil.example:7433", status: 421},
		"a name that begins alike":   {method: "GET", path: "/", host: "localhost.evil.example", status: 421},
		"another machine's address":  {method: "GET", path: "/", host: "10.0.0.1", status: 421},
		"any address":                {method: "GET", path: "/", host: "0.0.0.0", status: 421},
		"another origin":             {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Origin": "https://evil.example"}, status: 403},
		"another site":               {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Sec-Fetch-Site": "cross-site"}, status: 403},
		"another port of this host":  {method: "POST", path: "/questions/q-000000", body: "words=x", header: with(form, "Sec-Fetch-Site", "same-site", "Origin", "http://127.0.0.1:1"), status: 403},
		"a sandboxed page":           {method: "POST", path: answer.path, body: answer.body, header: map[string]string{"Origin": "null"}, status: 403},
		"a body of 2 MiB":            {method: "POST", path: answer.path, body: `{"value": "` + strings.Repeat("x", 2<<20) + `"}`, status: 413},
		"a body of unknown length":   {method: "POST", path: answer.path, body: `{"value": "` + strings.Repeat("x", 2<<20) + `"}`, chunked: true, status: 413},
		"a form of 2 MiB":            {method: "POST", path: "/questions/q-000000", body: "words=" + strings.Repeat("x", 2<<20), header: form, status: 413},
		"a file of ours":             {method: "GET", path: "/static/..%2ftemplates%2fpage.html", status: 404},
		"a file of the machine":      {method: "GET", path: "/static/%2e%2e%2f%2e%2e%2fetc%2fpasswd", status: 404},
		"another method":             {method: "DELETE", path: "/api/questions/q-000000", status: 405},
		"no such question":           {method: "POST", path: "/api/questions/q-none/answer", body: answer.body, status: 404},
		"no such form":               {method: "POST", path: "/questions/q-none", body: "words=x", header: form, status: 404},
		"no JSON":                    {method: "POST", path: answer.path, body: "value=x", status: 400},
		"more than the JSON":         {method: "POST", path: answer.path, body: answer.body + answer.body, status: 400},
		"a field that is none":       {method: "POST", path: answer.path, body: `{"vaule": "x"}`, status: 400, says: "vaule"},
		"two answers in one":         {method: "POST", path: answer.path, body: `{"value": "x", "skip": true}`, status: 422},
		"no answer":                  {method: "POST", path: answer.path, body: `{}`, status: 422},
		"no token, start":            {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/home/me/code"}`, noToken: true, status: 401},
		"a start by another origin":  {method: "POST", path: "/start", body: "prompt=x&folder=/home/me/code", header: with(form, "Origin", "https://evil.example"), status: 403},
		"a start elsewhere":          {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/etc"}`, status: 403, says: `"command":"serve --folder"`},
		"a start elsewhere, form":    {method: "POST", path: "/start", body: "prompt=x&folder=/home/me/code&below=../..", header: form, status: 403, says: "not in /home"},
		"a program in a start":       {method: "POST", path: "/api/runs", body: `{"prompt": "x", "cwd": "/home/me/code", "claude": "/tmp/x"}`, status: 400, says: "claude"},
		"what does not fit":          {method: "POST", path: answer.path, body: `{"value": "bad"}`, status: 422, says: "not one of the options"},
	} {
		t.Run(name, func(t *testing.T) {
			state := newState(1)
			reply, text := c.do(t, serving(t, state))
			if reply.StatusCode != c.status || !strings.Contains(text, c.says) {
				t.Errorf("it gets %d, want %d:\n%s", reply.StatusCode, c.status, text)
			}
			if len(state.given) > 0 || len(state.started) > 0 {
				t.Errorf("it was answered, %v, or started, %v", state.given, state.started)
			}
			if strings.Contains(text+fmt.Sprint(reply.Header), token) {
				t.Errorf("the token is in the reply:\n%v\n%s", reply.Header, text)
			}
			for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'",
				"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
				if !strings.Contains(reply.Header.Get(name), want) {
					t.Errorf("%s is %q", name, reply.Header.Get(name))
				}
			}
		})
	}
}

func TestThePersonIsLetIn(t *testing.T) {
	server := serving(t, newState(1))
	for name, c := range map[string]call{
		"the token":             {method: "GET", path: "/", status: 200},
		"the cookie":            {method: "GET", path: "/", header: map[string]string{"Cookie": "claude-supervise-7433=" + cookieValue(token)}, noToken: true, status: 200},
		"localhost":             {method: "GET", path: "/", host: "localhost:7433", status: 200},
		"IPv6":                  {method: "GET", path: "/", host: "[::1]:7433", status: 200},
		"a name of --host":      {method: "GET", path: "/", host: "Desk.Example.ORG", status: 200},
		"the style, unasked":    {method: "GET", path: "/static/page.css", noToken: true, status: 200},
		"the manifest, unasked": {method: "GET", path: "/manifest.webmanifest", noToken: true, status: 200},
		"a tap in a notice":     {method: "GET", path: "/questions/q-000000", header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, status: 200},
	} {
		if reply, text := c.do(t, server); reply.StatusCode != c.status {
			t.Errorf("%s gets %d:\n%s", name, reply.StatusCode, text)
		}
	}
}

func TestTheTokenLeavesTheAddressForACookie(t *testing.T) {
	server := serving(t, newState(1))
	for path, want := range map[string]string{
		"/?token=" + token:                   "/",
		"/questions/q-1?a=b&token=" + token:  "/questions/q-1?a=b",
		"//evil.example/?token=" + token:     "/evil.example/",
		"/%5Cevil.example/?token=" + token:   "/%5Cevil.example/",
		"/%2F%2Fevil.example?token=" + token: "/%2F%2Fevil.example",
	} {
		reply, _ := call{method: "GET", path: path, noToken: true}.do(t, server)
		cookies := reply.Cookies()
		if reply.StatusCode != http.StatusSeeOther || reply.Header.Get("Location") != want || len(cookies) != 1 {
			t.Errorf("%s gets %d to %q, want %q", path, reply.StatusCode, reply.Header.Get("Location"), want)
			continue
		}
		if c := cookies[0]; !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Secure || c.Value == token {
			t.Errorf("the cookie is %v", c)
		}
	}
}
