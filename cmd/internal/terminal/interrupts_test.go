package terminal

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSignalsAreAsManyInterruptsAsAPersonMeans(t *testing.T) {
	t.Parallel()
	const soon, later = echoTime / 2, echoTime * 2
	for name, story := range map[string]struct {
		signals []os.Signal
		after   time.Duration
		wishes  string // of each signal
	}{
		"a hang-up":              {[]os.Signal{syscall.SIGHUP, syscall.SIGHUP, syscall.SIGHUP}, later, "1.."},
		"timeout":                {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM}, soon, "1."},
		"a slow timeout":         {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM}, later, "1."},
		"timeout -s INT":         {[]os.Signal{os.Interrupt, os.Interrupt}, soon, "1."},
		"a session that ends":    {[]os.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGHUP}, later, "1.."},
		"two Ctrl-C":             {[]os.Signal{os.Interrupt, os.Interrupt}, later, "11"},
		"a Ctrl-C, then kill":    {[]os.Signal{os.Interrupt, syscall.SIGTERM}, soon, "11"},
		"timeout, then a Ctrl-C": {[]os.Signal{syscall.SIGTERM, syscall.SIGTERM, os.Interrupt}, later, "1.1"},
	} {
		var i Interrupts
		now, got := time.Unix(1, 0), strings.Builder{}
		for _, sig := range story.signals {
			if i.Wish(sig, now) {
				got.WriteString("1")
			} else {
				got.WriteString(".")
			}
			now = now.Add(story.after)
		}
		if got.String() != story.wishes {
			t.Errorf("%s: %s, not %s", name, got.String(), story.wishes)
		}
	}
}
