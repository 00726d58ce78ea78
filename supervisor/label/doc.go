// Package label is how agents are named for people: in few words, of like ones by where they differ.
package label
