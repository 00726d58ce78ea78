// Package pack writes a run as one file, and makes a run of such a file, to go on elsewhere.
//
//	run, agents' logs, transcripts, work ──▶ Write ──▶ FILE ──▶ Unpack ──▶ the same, on another machine
//
// Anybody can have written the file: what of it is trusted for what stands in pack_trust.go. Programs of a repository
// are never run (package git), and no file of a person's is replaced that is not the one that was packed.
package pack
