package request

import (
	"github.com/spf13/cobra"

	"claude-supervise/supervisor/conf"
	"claude-supervise/supervisor/questions"
)

// budgetFlags are what the whole run may use.
type budgetFlags struct {
	maxCost, maxTokens, maxTime string
	maxTurns                    int
}

func addBudgetFlags(cmd *cobra.Command, f *budgetFlags) {
	fl := cmd.Flags()
	fl.StringVar(&f.maxCost, "max-cost-usd", "", "spend at most `N` dollars; then ask, or exit 4")
	fl.StringVar(&f.maxTokens, "max-tokens", "", "at most `N` tokens, such as 2M, cache included")
	fl.StringVar(&f.maxTime, "max-time", "", "at most `TIME`, such as 90m, waits for you excluded")
	fl.IntVar(&f.maxTurns, "max-turns", 0, "at most `N` requests of main conversations")
}

// budget reads the flags.
func (f budgetFlags) budget() (b conf.Budget, err error) {
	if f.maxCost != "" {
		if b.CostUSD, err = questions.ParseUSD(f.maxCost); err != nil {
			return b, usage("--max-cost-usd %w", err)
		}
	}
	if f.maxTokens != "" {
		if b.Tokens, err = questions.ParseTokens(f.maxTokens); err != nil {
			return b, usage("--max-tokens %w", err)
		}
	}
	if f.maxTime != "" {
		if b.Time, err = questions.ParseBudgetTime(f.maxTime); err != nil {
			return b, usage("--max-time %w", err)
		}
	}
	if f.maxTurns < 0 {
		return b, usage("--max-turns takes 0 or more, not %d", f.maxTurns)
	}
	b.Turns = f.maxTurns
	return b, nil
}
