package text

import (
	"math"

	"github.com/dustin/go-humanize"
)

// Money says an amount of US dollars: "$0.42", "$1,204.00"; what is less than a cent and not nothing is "<$0.01".
func Money(usd float64) string {
	switch {
	case math.IsNaN(usd) || math.IsInf(usd, 0):
		return "$?"
	case usd < 0:
		return "-" + Money(-usd)
	case usd > 0 && usd < 0.01-1e-9:
		return "<$0.01"
	}
	return "$" + humanize.FormatFloat("#,###.##", usd)
}
