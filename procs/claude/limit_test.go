package claude

import (
	"path/filepath"
	"testing"
	"time"

	"claude-supervise/procs"
)

func TestTheEndOfALimitIsReadAsTheCLIWritesIt(t *testing.T) {
	zone := func(name string) *time.Location {
		z, err := time.LoadLocation(name)
		noError(t, err)
		return z
	}
	berlin := zone("Europe/Berlin")
	now := time.Date(2026, 10, 6, 22, 30, 0, 0, berlin) // 20:30 UTC
	soon := now.Add(soonAgain)
	for text, want := range map[string]time.Time{
		"2026-10-07T03:00:00Z":      time.Date(2026, 10, 7, 3, 0, 0, 0, time.UTC),
		"2026-10-07T03:00:00+02:00": time.Date(2026, 10, 7, 1, 0, 0, 0, time.UTC),
		"2026-10-06T20:29:59Z":      soon, // over
		"1791342000":                time.Unix(1791342000, 0),
		"1791300000":                soon,

		"3am":                            time.Date(2026, 10, 7, 3, 0, 0, 0, berlin),
		"11pm":                           time.Date(2026, 10, 6, 23, 0, 0, 0, berlin),
		"11:45PM":                        time.Date(2026, 10, 6, 23, 45, 0, 0, berlin),
		"3:30 pm.":                       time.Date(2026, 10, 7, 15, 30, 0, 0, berlin),
		"3:30\u202fp.m.":                 time.Date(2026, 10, 7, 15, 30, 0, 0, berlin),
		"15:30":                          time.Date(2026, 10, 7, 15, 30, 0, 0, berlin),
		"10:29pm":                        soon, // a minute ago, and not tomorrow
		"10:30pm":                        soon,
		"9pm":                            time.Date(2026, 10, 7, 21, 0, 0, 0, berlin),
		"3am (America/New_York)":         time.Date(2026, 10, 7, 3, 0, 0, 0, zone("America/New_York")),
		"5pm (America/New_York)":         time.Date(2026, 10, 6, 17, 0, 0, 0, zone("America/New_York")),
		"2am (UTC)":                      time.Date(2026, 10, 7, 2, 0, 0, 0, time.UTC),
		"1am (Asia/Kolkata)":             time.Date(2026, 10, 7, 20, 30, 0, 0, time.UTC).Add(-time.Hour),
		"Oct 9, 3am":                     time.Date(2026, 10, 9, 3, 0, 0, 0, berlin),
		"Oct 9 at 3am":                   time.Date(2026, 10, 9, 3, 0, 0, 0, berlin),
		"Nov 24, 4:34pm (UTC)":           time.Date(2026, 11, 24, 16, 34, 0, 0, time.UTC),
		"Feb 20, 2027, 3:04am (Etc/UTC)": time.Date(2027, 2, 20, 3, 4, 0, 0, time.UTC),
		"Feb 20, 2027 at 3:04 AM":        time.Date(2027, 2, 20, 3, 4, 0, 0, berlin),
		"Oct 6, 2pm":                     soon,
		"Jan 2, 3am":                     time.Date(2027, 1, 2, 3, 0, 0, 0, berlin),
	} {
		if got, ok := ResetTime(text, now); !ok || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{
		"", "soon", "tomorrow", "3", "-1791342000", "99999999999999", "25:00", "13pm", "3am (Nowhere/Land)",
		"3am (../../etc/passwd)",
		"Foo 7, 3am", "Feb 31, 3am", "3am and more",
	} {
		if got, ok := ResetTime(text, now); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// A night in which clocks are set back or forward has its times once all the same.
func TestATimeOfDayIsNeverMoreThanADayAway(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	noError(t, err)
	for _, day := range []int{24, 25, 26} { // of October 2026; the 25th has 25 hours
		now := time.Date(2026, 10, day, 1, 0, 0, 0, berlin)
		for hour := range 24 {
			text := time.Date(0, 1, 1, hour, 30, 0, 0, time.UTC).Format("3:04pm")
			at, ok := ResetTime(text, now)
			if !ok || at.After(now.Add(25*time.Hour)) {
				t.Errorf("%s, %v: %v", text, now, at)
			}
		}
	}
}

// What is read is later than now, and reads as itself.
func FuzzResetTime(f *testing.F) {
	for _, text := range []string{"2026-10-07T03:00:00Z", "1791342000", "3am", "3:30pm (Europe/Berlin)",
		"Oct 7, 3am", "Jan 2, 2027, 3:04am (UTC)", "15:30"} {
		f.Add(text, int64(1791342000))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%maxUnix, 0).UTC()
		at, ok := ResetTime(text, now)
		if !ok {
			return
		}
		if !at.After(now) {
			t.Errorf("%q at %v: %v", text, now, at)
		}
		if again, ok := ResetTime(at.Format(time.RFC3339Nano), now); at.Year() < 10000 && (!ok || !again.Equal(at)) {
			t.Errorf("%q: %v, then %v, %v", text, at, again, ok)
		}
	})
}

// A conversation on a subscription: in its first turn it is warned that it comes near its limit, in its second it
// reaches that.
func TestAReachedLimitIsToldWithItsEnd(t *testing.T) {
	end := time.Unix(1795308000, 0)
	said := end.Add(-3 * time.Hour)
	for _, release := range []string{"2.1.7", "2.1.100", "2.1.200", "2.1.329"} {
		t.Run(release, func(t *testing.T) {
			var failures []procs.Failure
			var d decoder
			for _, line := range captures(t)[filepath.Join("testdata/captures", release+"_limit.ndjson")] {
				messages, _ := d.decode([]byte(line))
				for _, m := range messages {
					if r, ok := m.(procs.Result); ok {
						failures = append(failures, Classify(r, nil))
					}
				}
			}
			if len(failures) != 2 || failures[0] != (procs.Failure{}) || failures[1].Kind != procs.Limit {
				t.Fatalf("%+v", failures)
			}
			if at, ok := ResetTime(failures[1].Reset, said); !ok || !at.Equal(end) {
				t.Errorf("%q: %v, %v", failures[1].Reset, at, ok)
			}
		})
	}
}

func TestAWarningIsNoLimit(t *testing.T) {
	const rejected, warning, allowed = "rejected", "allowed_warning", "allowed"
	for _, c := range []struct {
		events []string
		kind   procs.FailureKind
	}{
		{[]string{warning}, procs.API},
		{[]string{rejected}, procs.Limit},
		{[]string{rejected, allowed}, procs.API},
		{[]string{warning, rejected}, procs.Limit},
	} {
		var d decoder
		for _, status := range c.events {
			d.decode([]byte(`{"type":"rate_limit_event","rate_limit_info":{"status":"` + status + `","resetsAt":1795254610}}`))
		}
		got, _ := d.decode(
			[]byte(`{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"no"}`))
		if f := Classify(got[0].(procs.Result), nil); f.Kind != c.kind {
			t.Errorf("%v: %+v", c.events, f)
		}
	}
}
