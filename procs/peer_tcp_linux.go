package procs

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// BelowClaudeOver is BelowClaude of whoever is at the other end of a TCP connection that this process has accepted:
// who they are, and who this is. Of another machine or user nothing tells. Who has gone before that could be looked at
// counts as one, and so does who cannot be seen.
func BelowClaudeOver(who, this netip.AddrPort) string {
	uid, inode := tcpSocket(who, this)
	switch {
	case inode == "" && !who.Addr().Unmap().IsLoopback() || uid != "" && uid != strconv.Itoa(os.Geteuid()):
		return ""
	case inode == "" || inode == "0":
		return "who sends it is gone"
	}
	all, err := list()
	if err != nil {
		return "who sends it cannot be told: " + err.Error()
	}
	found, hidden := false, false
	for _, p := range all {
		folder := procPath(p.pid, "fd")
		open, err := os.ReadDir(folder)
		holds := slices.ContainsFunc(open, func(e os.DirEntry) bool {
			to, err := os.Readlink(filepath.Join(folder, e.Name()))
			return err == nil && to == "socket:["+inode+"]"
		})
		if !holds {
			if _, closed := tagOn(p.pid); !os.IsPermission(err) || closed != nil {
				continue
			}
			hidden = true // sshd, or who wants to hide: it may be the one
		}
		found = found || holds
		if why := BelowClaude(p.pid); why != "" {
			return why
		}
	}
	if !found && !hidden {
		return "who sends it is not to be seen"
	}
	return ""
}

// tcpSocket returns the user and the inode of a socket of this machine, as its owner sees it; "": there is none.
func tcpSocket(local, remote netip.AddrPort) (uid, inode string) {
	for _, name := range []string{"tcp", "tcp6"} {
		f, err := os.Open("/proc/net/" + name)
		if err != nil {
			continue
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if at := strings.Fields(lines.Text()); len(at) > 9 && isEnd(at[1], local) && isEnd(at[2], remote) {
				uid, inode = at[7], at[9]
			}
		}
		_ = f.Close() // only read
	}
	return uid, inode
}

// isEnd reports whether /proc/net/tcp writes an end of a connection so: each four bytes of its address as a number of
// this machine, and its port.
func isEnd(written string, end netip.AddrPort) bool {
	address, port, _ := strings.Cut(written, ":")
	bytes, err := hex.DecodeString(address)
	number, wrong := strconv.ParseUint(port, 16, 16)
	if err != nil || wrong != nil || len(bytes)%4 != 0 {
		return false
	}
	for at := 0; at < len(bytes); at += 4 {
		binary.NativeEndian.PutUint32(bytes[at:], binary.BigEndian.Uint32(bytes[at:]))
	}
	is, ok := netip.AddrFromSlice(bytes)
	return ok && uint16(number) == end.Port() && is.Unmap() == end.Addr().Unmap().WithZone("")
}
