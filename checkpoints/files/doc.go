// Package files reads and writes files of the machine with suspicion: a disk may not respond.
package files
