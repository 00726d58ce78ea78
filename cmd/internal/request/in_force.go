package request

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"claude-supervise/cmd/internal/config"
	"claude-supervise/supervisor/doctor"
)

// FromDefault says of a setting that nobody has set it.
const FromDefault = "default"

// InForce is what doctor has to say of the person's own config: the value of each default of a run in this folder, and
// where it comes from. flags are those of run.
func InForce(claude string, flags *pflag.FlagSet) doctor.Finding {
	f := doctor.Finding{Name: "config", OK: true}
	c, err := config.Load(os.Environ())
	var defaults []config.Default
	if err == nil {
		var cwd string
		if cwd, err = os.Getwd(); err == nil {
			defaults, err = c.For(cwd)
		}
	}
	if err != nil {
		f.OK, f.Text = false, err.Error()
		return f
	}
	switch path := config.Path(os.Environ()); {
	case c.Path != "":
		f.Text = c.Path
	case path == "":
		f.Text = "none is read here"
	default:
		f.Text = fmt.Sprintf("none (%s)", path)
	}
	for _, flag := range config.Flags() {
		own := slices.DeleteFunc(slices.Clone(defaults), func(d config.Default) bool { return d.Flag != flag })
		if flag == "claude" && claude != "" {
			own = []config.Default{{Flag: flag, Value: claude, From: "flag"}}
		}
		if len(own) == 0 {
			own = []config.Default{{Flag: flag, Value: strings.Trim(flags.Lookup(flag).DefValue, "[]"), From: FromDefault}}
		}
		for _, d := range own {
			f.Settings = append(f.Settings, doctor.Setting(d))
		}
	}
	for _, s := range c.Others() {
		f.Settings = append(f.Settings, doctor.Setting(s))
	}
	return f
}
