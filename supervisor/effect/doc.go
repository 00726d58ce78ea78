// Package effect is what ought to be under way, in words: the kinds of effects, and plans made of them. What is planned
// the core decides; the engine does it.
package effect
