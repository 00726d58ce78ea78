// Package filedrop is the folders of question and answer files (the hybrid protocol), whole: what stands in the files,
// who watches them, and how they are kept as the database has it.
//
//	database ──▶ FileDrop ──▶ pending/ID.json, answered/ID.json
//	             FileDrop ◀── answers/ID.txt ──▶ inbox, like any other client
//
// A supervisor has a FileDrop for its run: New opens the folders, Run keeps them, Put answers a script. Everybody else
// reads what scripts ask that belong to no run (Unowned), and answers them (Put of the package).
//
// The folders are never believed over the database: whatever is done here can be done again after a crash.
package filedrop
