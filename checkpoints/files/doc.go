// Package files reads and writes files that others read and write, too: with suspicion and with bounds, whole or not at
// all, and without waiting for a disk that does not respond.
package files
