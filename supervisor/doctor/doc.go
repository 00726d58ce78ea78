// Package doctor checks the set-up that runs need, and lints what agents print. It changes nothing.
package doctor
