package web

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// dialled has sent something to a server, and counts itself when the server lets it go.
func dialled(t *testing.T, s *Server, text string, gone *atomic.Int64) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.listener.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, _ = io.WriteString(c, text) // it may have been let go already
	if gone != nil {
		go func() {
			_, _ = io.Copy(io.Discard, c)
			gone.Add(1)
		}()
	}
	return c
}

const slowPost = "POST /login HTTP/1.1\r\nHost: localhost\r\n" +
	"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 900\r\n\r\nt"

// events opens a page that receives events, and gives the status of the answer.
func events(t *testing.T, s *Server, header string) (int, *bufio.Reader) {
	t.Helper()
	c := dialled(t, s, "GET /api/events HTTP/1.1\r\nHost: localhost\r\n"+header+"\r\n", nil)
	must(t, c.SetReadDeadline(time.Now().Add(30*time.Second)))
	r := bufio.NewReader(c)
	answer, err := http.ReadResponse(r, nil)
	must(t, err)
	t.Cleanup(func() { _, _ = c.Close(), answer.Body.Close() }) // in this order: the body has no end
	return answer.StatusCode, bufio.NewReader(answer.Body)
}

const owner = "Authorization: Bearer " + testToken + "\r\n"

// Hundreds of connections that send slowly hold no more than their share of descriptors, and anyone who has the token
// gets in, and stays.
func TestSlowPosts(t *testing.T) {
	s := opened(t, shelf{}, nil)
	status, stream := events(t, s, owner)
	var gone atomic.Int64
	const posts = 300
	for i := range posts {
		dialled(t, s, []string{slowPost, "GET / HTTP/1.1\r\nX: "}[i%2], &gone)
	}
	until(t, "those beyond the share are let go", func() bool { return gone.Load() >= posts-mostAnonymous })
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+"api/runs", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+testToken)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("whoever has the token gets %s", answer.Status)
	}
	for range 2 {
		if _, err := stream.ReadString('\n'); status != http.StatusOK || err != nil {
			t.Fatalf("the page that was open before: %d, %v", status, err)
		}
	}
	until(t, "the slow ones have run out of time", func() bool { return gone.Load() == posts })
}

// As many pages without the token as there may be leave connections for pages with it.
func TestReadersLeaveRoom(t *testing.T) {
	s := opened(t, shelf{}, nil)
	for range mostPages {
		if status, _ := events(t, s, ""); status != http.StatusOK {
			t.Fatalf("a reader gets %d", status)
		}
	}
	if status, _ := events(t, s, ""); status != http.StatusServiceUnavailable {
		t.Errorf("one reader too many gets %d", status)
	}
	if status, stream := events(t, s, owner); status != http.StatusOK {
		t.Errorf("whoever has the token gets %d", status)
	} else if line, err := stream.ReadString('\n'); err != nil || !strings.HasPrefix(line, "event: hello") {
		t.Errorf("and is told %q, %v", line, err)
	}
}

// Another host has its share and takes no other's; a connection with the token never has to go.
func TestShares(t *testing.T) {
	d := &limitedListener{}
	come := func(host string) (v, out *connection) {
		server, client := net.Pipe()
		t.Cleanup(func() { _ = client.Close() })
		v = &connection{Conn: server, listener: d, host: host}
		if out = d.enter(v); out != nil {
			must(t, out.Close())
		}
		return v, out
	}
	trusted, _ := come("192.0.2.1")
	trusted.trust()
	first, _ := come("192.0.2.1")
	for i := range 2 * mostOfHost {
		_, out := come("192.0.2.1")
		if (out != nil) != (i >= mostOfHost-1) || out != nil && i == mostOfHost-1 && out != first {
			t.Fatalf("connection %d puts out %v", i, out)
		}
	}
	for i := range 2 * mostAnonymous {
		if v, out := come(fmt.Sprintf("10.0.%d.%d", i/256, i%256)); out == trusted || out == v {
			t.Fatal("the wrong one was put out")
		}
	}
	if len(d.anonymous) != mostAnonymous || d.trusted != 1 || trusted.gone.Load() {
		t.Errorf("%d anonymous, %d trusted", len(d.anonymous), d.trusted)
	}
	if must(t, trusted.Close()); d.trusted != 0 {
		t.Error("a trusted connection that left is counted")
	}
	if a, b := hostOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::1")}), hostOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::ffff:2")}); a != b {
		t.Errorf("a host's own addresses: %s, %s", a, b)
	}
}
