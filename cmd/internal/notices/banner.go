package notices

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/gen2brain/beeep"

	"claude-supervise/cmd/internal/terminal"
)

// A Banner is what a desktop shows for a few seconds. Its texts may come from an agent: Show makes them harmless.
type Banner struct {
	Title  string `json:"title"`
	Body   string `json:"body"`
	Urgent bool   `json:"urgent,omitempty"` // it sounds, and stays until it is seen, where the desktop can do that

	// Buttons are what can be chosen in it, where the desktop has buttons. It stands until one is pressed or it is closed.
	Buttons []string `json:"buttons,omitempty"`
}

// maxButtons is how many buttons a banner has at most: desktops show no more.
const maxButtons = 4

// How much of a banner is shown, in terminal cells: what desktops cut by themselves.
const (
	maxTitle  = 80
	maxBody   = 300
	maxButton = 40
)

// hasDesktop reports whether the person of this environment sits at a desktop that shows banners: not one that is
// logged in from elsewhere, and no CI machine. Nothing is tried or started to find it out.
func hasDesktop(getenv func(string) string) bool {
	for _, elsewhere := range []string{"CI", "SSH_CONNECTION", "SSH_TTY"} {
		if value := getenv(elsewhere); value != "" && value != "false" {
			return false
		}
	}
	if runtime.GOOS == "darwin" {
		return true
	}
	return (getenv("WAYLAND_DISPLAY") != "" || getenv("DISPLAY") != "") && sessionBus(getenv) != ""
}

// sessionBus is the address of the bus on which a desktop takes banners; "" if there is none. The library would start
// one.
func sessionBus(getenv func(string) string) string {
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return address
	}
	if folder := getenv("XDG_RUNTIME_DIR"); folder != "" {
		if socket := filepath.Join(folder, "bus"); exists(socket) {
			return "unix:path=" + socket
		}
	}
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// maxBanner bounds a banner as JSON, in bytes: a text of terminal cells has many times fewer.
const maxBanner = 64 << 10

// Show reads a banner as JSON, as Send and Ask write it, and shows it on the desktop. It blocks for as long as the
// desktop does. One with buttons stands until one of them is pressed, whose number it prints, from 0 on, or until there
// is nothing more to read. It may ring a bell for an urgent one: it is for a process of its own, whose output nobody
// sees and that can be ended.
func Show(from io.Reader, to io.Writer) error {
	var b Banner
	if err := json.NewDecoder(io.LimitReader(from, maxBanner)).Decode(&b); err != nil {
		return fmt.Errorf("a banner is one JSON object: %w", err)
	}
	if bus := sessionBus(os.Getenv); bus != "" {
		if err := os.Setenv("DBUS_SESSION_BUS_ADDRESS", bus); err != nil {
			return err
		}
	}
	if len(b.Buttons) > 0 || b.Urgent {
		if program := notifySend(context.Background()); program != "" {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if len(b.Buttons) > 0 {
				// Not waited for: a read of the input cannot be called off.
				go func() {
					_, _ = io.Copy(io.Discard, from) // that it fails is an end, too
					cancel()
				}()
			}
			return b.send(ctx, program, to)
		}
	}
	beeep.AppName = "claude-supervise"
	show := beeep.Notify
	if b.Urgent {
		show = beeep.Alert
	}
	return show(plain(b.Title, maxTitle), plain(b.Body, maxBody), "")
}

// fitsButton reports whether a text stands on a button as it is.
func fitsButton(text string) bool { return text != "" && plain(text, maxButton) == text }

// notifySend is the program of libnotify that has buttons and sounds (0.7.10 and later); "" where there is none.
func notifySend(ctx context.Context) string {
	program, err := exec.LookPath("notify-send")
	if err != nil {
		return ""
	}
	help, err := exec.CommandContext(ctx, program, "--help").Output()
	if err != nil || !bytes.Contains(help, []byte("--action")) || !bytes.Contains(help, []byte("--wait")) {
		return ""
	}
	return program
}

// takesAway is how long notify-send has to take its banner from the desktop.
const takesAway = time.Second / 2

// send shows a banner by notify-send, which prints what was pressed. When ctx is done it is interrupted: then it takes
// the banner away; otherwise that would stand, with buttons that do nothing.
func (b Banner) send(ctx context.Context, program string, to io.Writer) error {
	args := []string{"--app-name=claude-supervise"}
	if b.Urgent {
		args = append(args, "--urgency=critical", "--hint=string:sound-name:dialog-warning")
	}
	if len(b.Buttons) > 0 {
		args = append(args, "--wait")
	}
	for i, label := range b.Buttons[:min(len(b.Buttons), maxButtons)] {
		args = append(args, fmt.Sprintf("--action=%d=%s", i, plain(label, maxButton)))
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--", plain(b.Title, maxTitle), plain(b.Body, maxBody))...)
	cmd.Stdout, cmd.WaitDelay = to, takesAway
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return cmd.Run()
}

// plain makes a line that every way to a desktop shows as it is. Between us and the screen the text may be read as
// markup (the D-Bus service), as options or with backslashes (notify-send), as a property list (terminal-notifier), as
// rich text (kdialog) or as the source of a script (osascript), and who reads it is not known: so what any of them
// would obey becomes a character that looks like it, and what a script cannot hold a space. The line begins with a
// letter or a digit.
func plain(text string, cells int) string {
	text = strings.Map(func(r rune) rune {
		if r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, lookalikes.Replace(terminal.CleanLine(text, 0)))
	text = strings.TrimLeftFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return terminal.CleanLine(text, cells)
}

var lookalikes = strings.NewReplacer("<", "‹", ">", "›", "&", "＆", `\`, "＼", `"`, "”")
