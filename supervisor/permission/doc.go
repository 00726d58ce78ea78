// Package permission is about what a person lets an agent do: what a call would do, as it is shown before it is
// permitted, and how claude is started so that no file of a folder grants or runs anything.
//
// It permits nothing itself: the person does, and the core (supervisor/permission.go) takes them at their word.
package permission
