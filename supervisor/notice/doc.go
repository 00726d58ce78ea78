// Package notice is what those who watch a run are told, in words for programs: what a notification is, and what has
// become of the tasks of a run.
package notice
