// Package conf is what a person asks for with a run, and changes of it later: what its agents may do, what bounds
// them, and which answers were given in advance. It is kept in the run's record; it knows no state.
package conf
