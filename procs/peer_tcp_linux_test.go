package procs

import (
	"net"
	"net/netip"
	"os/exec"
	"testing"
)

// Who sends a request by TCP is known by its socket, over either family, and not once it is gone.
func TestWhoIsAtTheOtherEndOfAConnectionIsKnown(t *testing.T) {
	if why := BelowClaude(This().PID); why != "" {
		t.Skip("these tests run below a claude: ", why) // in CI, too
	}
	for _, at := range []string{"127.0.0.1", "::1"} {
		server, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
		if err != nil {
			t.Logf("no %s here: %v", at, err)
			continue
		}
		defer server.Close()
		_, port, _ := net.SplitHostPort(server.Addr().String())
		for _, tags := range []bool{false, true} {
			cmd := exec.Command("bash", "-c", "read go; exec 3<>/dev/tcp/"+at+"/"+port+"; read go")
			in, err := cmd.StdinPipe()
			noError(t, err)
			noError(t, cmd.Start())
			if tags {
				noError(t, other(cmd.Process.Pid).Tag())
			}
			_, err = in.Write([]byte("\n"))
			noError(t, err)
			conn, err := server.Accept()
			noError(t, err)
			who, this := conn.RemoteAddr().(*net.TCPAddr).AddrPort(), conn.LocalAddr().(*net.TCPAddr).AddrPort()
			if why := BelowClaudeOver(who, this); (why != "") != tags {
				t.Errorf("%s, tagged %v: %q", at, tags, why)
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if why := BelowClaudeOver(who, this); why != "who sends it is gone" {
				t.Errorf("%s, gone: %q", at, why)
			}
			noError(t, conn.Close())
		}
	}
	far := netip.MustParseAddrPort("192.0.2.1:4000")
	if why := BelowClaudeOver(far, netip.MustParseAddrPort("192.0.2.2:80")); why != "" {
		t.Errorf("of another machine it says %q", why)
	}
}
