package terminal

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestDurationShowsTheTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour:                        "0s",
		999 * time.Millisecond:            "0s",
		59 * time.Second:                  "59s",
		3*time.Minute + 5*time.Second:     "3m 05s",
		time.Hour:                         "1h 00m",
		26*time.Hour + 59*time.Minute:     "1d 2h",
		time.Duration(math.MaxInt64):      "106751d 23h",
		59*time.Minute + 59*time.Second:   "59m 59s",
		23*time.Hour + 59*time.Minute + 1: "23h 59m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestAgoShowsTheLargestUnit(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0:                  "just now",
		5 * time.Second:    "5s ago",
		119 * time.Second:  "1m ago",
		3 * time.Hour:      "3h ago",
		50 * time.Hour:     "2d ago",
		-300 * time.Second: "in 5m",
	} {
		if got := Ago(now.Add(-d), now); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
	if got := Ago(time.Time{}, now); got != "never" {
		t.Errorf("Ago(zero) = %q", got)
	}
}

func TestMoneyAndTokensAreShort(t *testing.T) {
	for usd, want := range map[float64]string{
		0: "$0.00", 0.004: "<$0.01", 0.0099: "<$0.01", 0.01: "$0.01", 0.015: "$0.02", 0.42: "$0.42",
		9.999: "$10.00", 1204: "$1,204.00", -0.5: "-$0.50", math.Inf(1): "$?",
	} {
		if got := Money(usd); got != want {
			t.Errorf("Money(%v) = %q, want %q", usd, got, want)
		}
	}
	if got := Money(math.NaN()); got != "$?" {
		t.Errorf("Money(NaN) = %q", got)
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 12_345: "12.3k", 999_949: "999.9k",
		999_950: "1.0M", 2_500_000: "2.5M"} {
		if got := Tokens(n); got != want {
			t.Errorf("Tokens(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestTableFitsTheWidthByCuttingTheWidestColumn(t *testing.T) {
	got := Table(40, 1, []string{"ID", "STATUS", "REASON"}, [][]string{
		{"r-abcdefgh", "running", "the agent waits for an answer to its question"},
		{"r-数据库", "\x1b[31mparked\x1b[0m", "a\nb"},
		{"r-short"},
	})
	want := strings.Join([]string{
		"ID          STATUS   REASON",
		"r-abcdefgh  running  the agent waits fo…",
		"r-数据库    parked   a b",
		"r-short",
		"",
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTableKeepsItsColumnsHoweverNarrowOrWide(t *testing.T) {
	row := []string{"0123456789", "0123456789", "0123456789", "one cell too many"}
	for _, line := range strings.Split(Table(5, 1, []string{"A", "B", "C"}, [][]string{row}), "\n") {
		if w := ansi.StringWidth(line); w > len(row[0])+2*narrowest+2*gap {
			t.Errorf("%q is %d cells wide", line, w)
		}
	}
	if got := Table(0, 1, []string{"A"}, [][]string{{strings.Repeat("x", 300)}}); !strings.Contains(got,
		strings.Repeat("x", 300)) {
		t.Error("a cell was cut without a limit")
	}
	if got := Table(80, 1, nil, nil); got != "\n" {
		t.Errorf("an empty table is %q", got)
	}
}

func BenchmarkTable(b *testing.B) {
	rows := make([][]string, 50)
	for i := range rows {
		rows[i] = []string{"r-abcdefgh", "parked", "2h 10m", "$0.42",
			"the agent waits for an answer to its question about the database"}
	}
	for b.Loop() {
		Table(80, 1, []string{"RUN", "STATUS", "SINCE", "COST", "REASON"}, rows)
	}
}
