package claude

import (
	"strconv"
	"strings"
	"time"

	"claude-supervise/procs"
)

// soonAgain is when to try again after a usage limit that is said to have ended already: the clock that said so may be
// ahead.
const soonAgain = time.Minute

// justPassed is how long ago a time of day may be that is not meant to be tomorrow's.
const justPassed = time.Hour

// ResetTime reads when a usage limit ends, as Failure.Reset has it: in RFC 3339, in Unix seconds, or in the CLI's own
// words, which are English in all releases, "3:30pm (Europe/Berlin)" for a time within 24 hours, else "Oct 7, 3am
// (UTC)" or, in another year, "Jan 7, 2027, 3am (UTC)". Words that name no zone are in now's, which ought to be the
// moment in which they were said. What it gives is always after now: a minute, if the limit has ended already. false:
// it cannot be read, or its zone is not known here.
func ResetTime(reset string, now time.Time) (time.Time, bool) {
	reset = strings.Trim(reset, " .")
	at, ok := time.Time{}, false
	if seconds, err := strconv.ParseInt(reset, 10, 64); err == nil {
		at, ok = time.Unix(seconds, 0), seconds >= minUnix && seconds < maxUnix
	} else if at, err = time.Parse(time.RFC3339, reset); err == nil {
		ok = true
	} else {
		at, ok = inWords(reset, now)
	}
	if ok && !at.After(now) {
		at = now.Add(soonAgain)
	}
	return at, ok
}

// What is taken for Unix seconds: up to the year 9999, after which times have no RFC 3339, and from 2001, which no
// number of hours is.
const minUnix, maxUnix = 1_000_000_000, 253402300800

// What the CLI writes: toLocaleString of en-US, whose separators depend on the version of its library, with the day's
// half put in small letters and the zone behind it.
var (
	inZone   = procs.Lazily(`^(.*?)\s*\(([A-Za-z0-9_+/-]+)\)$`)
	dayHalf  = procs.Lazily(`(?i)\s*([ap])\.?m\.?$`)
	timeOnly = []string{"3pm", "3:04pm", "15:04"}
)

func inWords(words string, now time.Time) (time.Time, bool) {
	zone := now.Location()
	if named := inZone().FindStringSubmatch(words); named != nil {
		var err error
		if zone, err = time.LoadLocation(named[2]); err != nil {
			return time.Time{}, false
		}
		words = named[1]
	}
	words = strings.Join(strings.Fields(strings.ReplaceAll(words, "\u202f", " ")), " ")
	words = strings.Replace(strings.ToLower(dayHalf().ReplaceAllString(words, "${1}m")), " at ", ", ", 1)
	now = now.In(zone)
	for _, clock := range timeOnly {
		if at, err := time.Parse(clock, words); err == nil {
			return nextDaily(at, now), true
		}
		if at, err := time.Parse("Jan 2, "+clock, words); err == nil {
			return nearestYear(at, now), true
		}
		if at, err := time.ParseInLocation("Jan 2, 2006, "+clock, words, zone); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}

// nextDaily returns the first moment with a time of day that has not passed for long.
func nextDaily(clock, now time.Time) time.Time {
	for days := -1; ; days++ {
		at := time.Date(now.Year(), now.Month(), now.Day()+days, clock.Hour(), clock.Minute(), 0, 0, now.Location())
		if now.Sub(at) < justPassed {
			return at
		}
	}
}

// nearestYear returns the moment of a day and a time that is nearest: those of another year are said with it.
func nearestYear(day, now time.Time) (nearest time.Time) {
	for year := now.Year() - 1; year <= now.Year()+1; year++ {
		at := time.Date(year, day.Month(), day.Day(), day.Hour(), day.Minute(), 0, 0, now.Location())
		if nearest.IsZero() || at.Sub(now).Abs() < nearest.Sub(now).Abs() {
			nearest = at
		}
	}
	return nearest
}
