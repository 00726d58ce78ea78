package serving

import (
	"context"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"claude-supervise/cmd/internal/terminal"
	"claude-supervise/supervisor/client"
)

// openPage opens the page in the person's browser, by way of a file in a folder, that only they can read: everybody
// sees the arguments of a process, and the address has the token in it.
func openPage(ctx context.Context, folder, address string) (forget func(), err error) {
	path := filepath.Join(folder, "serve-open.html")
	text := fmt.Sprintf("<!doctype html>\n<meta charset=utf-8>\n<meta name=referrer content=no-referrer>\n"+
		"<meta http-equiv=refresh content=\"0; url=%[1]s\">\n<a href=\"%[1]s\">claude-supervise</a>\n",
		html.EscapeString(address))
	forget = func() { _ = os.Remove(path) } // the next one replaces it
	if err := client.ReplaceFile(path, []byte(text), 0o600); err != nil {
		return forget, err
	}
	if err := OpenOnDesktop(ctx, path); err != nil {
		return forget, err
	}
	return forget, nil
}

// openPatience is how long a desktop may take to open something.
const openPatience = 10 * time.Second

// OpenOnDesktop has the desktop open a file or a folder, by an absolute path, as if the person had clicked it. It waits
// for the program that does so, for a bounded time.
func OpenOnDesktop(ctx context.Context, path string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	ctx, cancel := context.WithTimeout(ctx, openPatience)
	defer cancel()
	if out, err := exec.CommandContext(ctx, program, path).CombinedOutput(); err != nil {
		return fmt.Errorf("%w %s", err, terminal.CleanLine(string(out), 200))
	}
	return nil
}
