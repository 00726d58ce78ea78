// Package gittest makes repositories and files for tests.
package gittest
