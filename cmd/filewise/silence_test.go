//go:build unix

package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// faulty is a way to a server that goes silent, or repeats a row for ever, after so many of the server's messages.
type faulty struct {
	net.Listener
	socket      string
	postgres    bool
	endless     bool
	after, seen atomic.Int64
	over        chan struct{}
}

// overFaulty has a server's target lead over a way that passes everything for now.
func (f *existing) overFaulty(t *testing.T) *faulty {
	t.Helper()
	u, err := url.Parse(f.target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	way := &faulty{Listener: l, socket: u.Query().Get("host"), postgres: u.Scheme == "postgres", over: make(chan struct{})}
	if u.RawQuery = ""; way.postgres {
		way.socket += "/.s.PGSQL.5432"
		u.RawQuery = "sslmode=disable"
	}
	u.Host = l.Addr().String()
	f.target = u.String()
	go way.serve()
	t.Cleanup(func() { _ = l.Close(); close(way.over) })
	return way
}

func (f *faulty) serve() {
	for {
		c, err := f.Accept()
		if err != nil {
			return
		}
		s, err := net.Dial("unix", f.socket)
		if err != nil {
			_ = c.Close()
			continue
		}
		var asked atomic.Bool
		go func() {
			defer s.Close()
			b := make([]byte, 1<<16)
			for {
				n, err := c.Read(b)
				asked.Store(asked.Load() || n > 3 && b[3] == 0)
				if _, failed := s.Write(b[:n]); err != nil || failed != nil {
					return
				}
			}
		}()
		go func() {
			defer c.Close()
			f.answer(c, bufio.NewReader(s), &asked)
		}()
	}
}

// answer passes the server's messages on. asked is set by the client's next request.
func (f *faulty) answer(to io.Writer, from *bufio.Reader, asked *atomic.Bool) {
	at, definitions, rows := 0, 0, false
	for {
		head, err := from.Peek(5)
		if err != nil {
			return
		}
		length := 1 + int(binary.BigEndian.Uint32(head[1:]))
		if !f.postgres {
			length = 4 + (int(head[0]) | int(head[1])<<8 | int(head[2])<<16)
		}
		message := make([]byte, length)
		if _, err := io.ReadFull(from, message); err != nil {
			return
		}
		row := f.postgres && message[0] == 'D'
		if !f.postgres {
			if at++; asked.Swap(false) {
				at, definitions, rows = 0, int(message[4]), length <= 6 && message[4] > 0
				if length == 6 && message[5] == 0 {
					definitions = 0 // MariaDB's client has them
				}
			}
			row = rows && at > definitions && message[4] < 0xfb
		}
		passed := f.seen.Add(1) > f.after.Load()
		if passed && !f.endless {
			<-f.over
			return
		}
		for repeat := true; repeat; repeat = passed && row {
			if _, err := to.Write(message); err != nil {
				return
			}
			if !f.postgres {
				message[3]++
			}
		}
	}
}

// A server that goes silent at any of its messages, or repeats a row of an answer for ever: every command gives it up by
// itself with a remedy, and clean leaves nothing. Without proof/attack only doctor is tried.
func TestLateSilence(t *testing.T) {
	t.Parallel()
	servers := map[string]func(*testing.T) *owned{"mariadb": ownMariaDB, "postgres": ownPostgres}
	if attacked() {
		servers["mysql"] = ownMySQL
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := start(t)
			o.makeSales(t)
			o.silenced(t, []string{"doctor", "--target", "TARGET"}, nil, 100*time.Second)
			if !attacked() {
				return
			}
			study := filepath.Join(t.TempDir(), "own.yaml")
			if err := os.WriteFile(study, []byte("engine: "+name+"\n"+ownStudy), 0o600); err != nil {
				t.Fatal(err)
			}
			run := append([]string{"run", "--target", "TARGET"}, externalRun("200ms")...)
			from := strings.Fields("run " + study + " --from SALES --kind=partitions --size=4MiB --builds=1 --window=200ms --warm-up=0s " +
				"--max-blocks=3 --budget=0")
			for _, c := range []struct {
				first  []string
				words  string
				within time.Duration
			}{
				{nil, "inspect --target TARGET", 100 * time.Second}, {nil, "clean --yes --target TARGET", 100 * time.Second},
				{nil, "capture --target TARGET --database=sales --for=1s --log " + o.log(t), 100 * time.Second},
				{from, "apply --table=orders --untested --target TARGET --database=sales --layout=" + ownName, 100 * time.Second},
				{nil, strings.Join(run, " "), 6 * time.Minute}, {run, "resume", 6 * time.Minute},
				{nil, strings.Join(from, " "), 8 * time.Minute}, // a dump's own patience is 5 minutes
				{nil, "backup --files=1,2 --max-blocks=3 --budget=0 --target TARGET --database=sales --backup-option=" + o.options +
					" --volume=here=" + t.TempDir(), 8 * time.Minute},
			} {
				o.silenced(t, strings.Fields(c.words), c.first, c.within)
			}
		})
	}
}

// ownName is a layout of ownStudy, in one word.
const ownName = "4_files"

// silenced tries a command at moments of its own. If first is given, it is run to its end before, or for resume into its
// middle.
func (o *owned) silenced(t *testing.T, args, first []string, within time.Duration) {
	direct := o.target
	defer func() { o.target = direct }()
	t.Run(args[0], func(t *testing.T) {
		p := newPlace(t)
		p.env = append(p.env, "FILEWISE_PASSWORD="+accountPassword)
		before := o.dump(t, "sales")
		way := o.overFaulty(t)
		u, _ := url.Parse(o.target)
		u.Path = "/sales"
		place := func(words []string) []string {
			text := strings.NewReplacer("TARGET", o.target, "SALES", u.String(), ownName, "4 files").Replace(strings.Join(words, "\x00"))
			return strings.Split(text, "\x00")
		}
		way.after.Store(math.MaxInt64)
		if first != nil && args[0] != "resume" {
			p.run(0, place(first)...)
		}
		way.seen.Store(0)
		if args[0] == "resume" {
			p.run(0, place(first)...)
		} else {
			p.run(0, append(place(args), outOf(args[0], t)...)...)
		}
		all := way.seen.Load()
		moments := rand.New(rand.NewPCG(killSeed(t), uint64(all)))
		tries := 4
		if !attacked() {
			tries = 2 // each may take a patience of 20 s
		}
		for n := range tries {
			if args[0] == "resume" {
				c := p.start("filewise", place(first)...)
				p.untilTrials(c, 1)
				_ = c.Process.Signal(os.Interrupt)
				p.exit(c)
			}
			way.endless = n%2 == 1
			way.seen.Store(0)
			way.after.Store(moments.Int64N(all))
			c := p.start("filewise", append(place(args), outOf(args[0], t)...)...)
			select {
			case <-c.ended:
			case <-time.After(within):
				_ = c.Process.Signal(syscall.SIGQUIT)
				<-c.ended
				t.Errorf("after %d of %d messages, without end %v, it hangs:\n%.20000s", way.after.Load(), all, way.endless, &c.stderr)
			}
			if code := c.ProcessState.ExitCode(); code != 0 && (code < 3 && args[0] != "capture" || !strings.Contains(c.stderr.String(), "→")) {
				t.Errorf("after %d of %d messages, without end %v: exit code %d\n%s", way.after.Load(), all, way.endless, code, &c.stderr)
			}
			way.after.Store(math.MaxInt64)
			o.nothingLeft(t, p, before)
		}
	})
}

// outOf returns where a command writes its file, away from the user's.
func outOf(command string, t *testing.T) []string {
	if command == "capture" || command == "apply" {
		return []string{"--output", filepath.Join(t.TempDir(), "out")}
	}
	return nil
}
