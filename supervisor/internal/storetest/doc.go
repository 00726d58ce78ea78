// Package storetest saves runs as a supervisor does, for tests of those who read them.
package storetest
