package notices

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestADesktopIsOneWithAScreenAndABusOfThisMachine(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		is   string
		env  map[string]string
		want bool
	}{
		{"X and a bus", map[string]string{"DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus"}, true},
		{"Wayland and the bus of the login", map[string]string{"WAYLAND_DISPLAY": "wayland-0", "XDG_RUNTIME_DIR": folder},
			true},
		{"no screen", map[string]string{"XDG_RUNTIME_DIR": folder}, false},
		{"a screen without a bus", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": t.TempDir()}, false},
		{"a bus that is yet to be started", map[string]string{"DISPLAY": ":0", "DBUS_SESSION_BUS_ADDRESS": "autolaunch:"},
			false},
		{"a login from elsewhere", map[string]string{"DISPLAY": ":10", "XDG_RUNTIME_DIR": folder,
			"SSH_CONNECTION": "::1 1 ::1 22"}, false},
		{"CI", map[string]string{"DISPLAY": ":99", "XDG_RUNTIME_DIR": folder, "CI": "true"}, false},
		{"no CI", map[string]string{"DISPLAY": ":0", "XDG_RUNTIME_DIR": folder, "CI": "false"}, true},
		{"nothing", nil, false},
	} {
		if got := hasDesktop(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%s: %v", c.is, got)
		}
	}
}

// What a banner becomes where the bus does not answer and notify-send shows it.
func TestABannerReachesTheDesktopAsPlainWords(t *testing.T) {
	folder := t.TempDir()
	script := "#!/bin/sh\nfor word; do echo \"$word\"; done > \"$0.said\"\n"
	if err := os.WriteFile(filepath.Join(folder, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(folder, "none"))
	for urgent, want := range map[bool]string{false: "-u\nnormal\n", true: "-u\ncritical\n"} {
		doc, err := json.Marshal(Banner{Title: "asks", Body: "--icon=/x `id` <b>\\n", Urgent: urgent})
		if err != nil {
			t.Fatal(err)
		}
		if err := Show(strings.NewReader(string(doc)), io.Discard); err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(filepath.Join(folder, "notify-send.said"))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(said); !strings.HasPrefix(got, "asks\nicon=/x `id` ‹b›＼n\n-a\nclaude-supervise\n") ||
			!strings.HasSuffix(got, want) {
			t.Errorf("urgent %v: notify-send is called with\n%s", urgent, got)
		}
	}
}

// Where notify-send has buttons they are the options, and the one that is pressed is printed; an urgent banner sounds.
func TestABannerHasButtonsWhereTheDesktopHasThem(t *testing.T) {
	folder := t.TempDir()
	script := `#!/bin/sh
[ "$1" = --help ] && echo '  --action --wait' && exit
for word; do echo "$word"; done > "$0.said"
echo 1
`
	if err := os.WriteFile(filepath.Join(folder, "notify-send"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	doc, err := json.Marshal(Banner{Title: "asks", Body: "Which?", Urgent: true, Buttons: []string{"o<auth>", "--help", "c", "d", "e"}})
	if err != nil {
		t.Fatal(err)
	}
	var pressed strings.Builder
	stands, taken := io.Pipe()
	defer taken.Close()
	if err := Show(io.MultiReader(strings.NewReader(string(doc)), stands), &pressed); err != nil || pressed.String() != "1\n" {
		t.Fatalf("%q is pressed (%v)", pressed.String(), err)
	}
	said, err := os.ReadFile(filepath.Join(folder, "notify-send.said"))
	if want := "--app-name=claude-supervise\n--urgency=critical\n--hint=string:sound-name:dialog-warning\n--wait\n" +
		"--action=0=o‹auth›\n--action=1=help\n--action=2=c\n--action=3=d\n--\nasks\nWhich?\n"; string(said) != want {
		t.Errorf("notify-send is called with (%v)\n%s", err, said)
	}
	if fitsButton("--help") || fitsButton("") || !fitsButton("oauth") {
		t.Error("what a button cannot show whole is offered on one")
	}
}

// Whose question is closed has no use for its banner, nor has one whose supervisor has died.
func TestABannerIsTakenAwayWhenNobodyWaitsForItsButtons(t *testing.T) {
	folder := t.TempDir()
	script := `#!/bin/sh
[ "$1" = --help ] && echo '  --action --wait' && exit
trap 'echo taken away > "$0.said"; exit' INT
echo > "$0.stands"
while :; do sleep 0.02; done
`
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "notify-send"), []byte(script), 0o700),
		syscall.Mkfifo(filepath.Join(folder, "notify-send.stands"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	stands, taken := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- Show(io.MultiReader(strings.NewReader(`{"title": "asks", "buttons": ["oauth"]}`), stands), io.Discard)
	}()
	if _, err := os.ReadFile(filepath.Join(folder, "notify-send.stands")); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		t.Fatalf("it does not stand: %v", err)
	default:
	}
	if err := taken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if said, err := os.ReadFile(filepath.Join(folder, "notify-send.said")); string(said) != "taken away\n" {
		t.Errorf("it was not asked to: %q, %v", said, err)
	}
}
