// Package filedrop keeps the folders of question and answer files (the hybrid protocol) as the database has it, and
// takes answers from there.
//
//	database ──▶ Syncer ──▶ pending/ID.json, answered/ID.json
//	             Syncer ◀── answers/ID.txt ──▶ inbox, like any other client
//
// The folders are never believed over the database: whatever is done here can be done again after a crash.
package filedrop
