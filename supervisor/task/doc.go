// Package task is what is asked of agents in words: a run's task with what is stated beside it, work for children, and
// what can be read from such words: what a task lacks, which files it and its report name, how long it takes. It is
// pure.
package task
