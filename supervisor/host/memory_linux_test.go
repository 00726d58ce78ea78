package host

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// While a machine reads more files than its cache holds, tasks are stalled though most of its memory is available.
// Where a cgroup limits the memory, that much is available says nothing.
func TestAStallMeansAShortageWhereLittleIsAvailableOrACgroupLimitsIt(t *testing.T) {
	const whole, half = "9223372036854771712", "500000000"
	for name, c := range map[string]struct {
		available int // of 1000000 KiB
		cgroup    string
		limits    map[string]string
		short     bool
	}{
		"plenty":   {available: 900_000, cgroup: "0::/\n"},
		"little":   {available: 400_000, cgroup: "0::/\n", short: true},
		"not said": {available: -1, cgroup: "0::/\n", short: true},
		"no limit": {available: 900_000, cgroup: "0::/a/b\n",
			limits: map[string]string{"a/b/memory.max": "max\n"}},
		"limited": {available: 900_000, cgroup: "0::/a/b\n",
			limits: map[string]string{"a/b/memory.max": half}, short: true},
		"limited above": {available: 900_000, cgroup: "0::/a/b\n",
			limits: map[string]string{"a/memory.max": half}, short: true},
		"limited as a whole": {available: 900_000, cgroup: "0::/\n",
			limits: map[string]string{"memory.max": half}, short: true},
		"limited for another": {available: 900_000, cgroup: "0::/a\n",
			limits: map[string]string{"b/memory.max": half}},
		"no limit of version 1": {available: 900_000, cgroup: "4:cpu,memory:/a\n0::/\n",
			limits: map[string]string{"memory/a/memory.limit_in_bytes": whole}},
		"limited by version 1": {available: 900_000, cgroup: "9:name=systemd:/\n4:cpu,memory:/a\n0::/\n",
			limits: map[string]string{"memory/a/memory.limit_in_bytes": half}, short: true},
	} {
		t.Run(name, func(t *testing.T) {
			proc, cgroups := t.TempDir(), t.TempDir()
			files := map[string]string{filepath.Join(proc, "self/cgroup"): c.cgroup}
			if c.available >= 0 {
				files[filepath.Join(proc, "meminfo")] = fmt.Sprintf("MemTotal: 1000000 kB\nMemFree: 10 kB\nMemAvailable: %d kB\n",
					c.available)
			}
			for path, content := range c.limits {
				files[filepath.Join(cgroups, path)] = content
			}
			for path, content := range files {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if short := stallMeansShort(proc, cgroups); short != c.short {
				t.Errorf("it means a shortage: %v", short)
			}
		})
	}
}
