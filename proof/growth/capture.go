//go:build linux

package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"filewise"
	"filewise/engine/all"
	"filewise/internal/progress"
	"filewise/own/capture"
)

// formats lists the formats of logs: an engine that reads each, the log's beginning, and the form of a statement in it.
var formats = []struct {
	name, engine, head string
	write              func(w io.Writer, at time.Time, session int, seconds float64, text string)
}{
	{"general log", "mysql", generalHead, func(w io.Writer, at time.Time, session int, _ float64, text string) {
		fmt.Fprintf(w, "%s\t%5d Query\t%s\n", at.Format("2006-01-02T15:04:05.000000Z"), session+8, text)
	}},
	{"slow log", "mysql", "", func(w io.Writer, at time.Time, session int, seconds float64, text string) {
		fmt.Fprintf(w, "# Time: %s\n# User@Host: app[app] @ web [10.0.0.1]  Id: %5d\n# Query_time: %.6f  Lock_time: 0.000002 Rows_sent: 1  "+
			"Rows_examined: 12\nuse shop;\nSET timestamp=%d;\n%s;\n", at.Format("2006-01-02T15:04:05.000000Z"), session+8, seconds, at.Unix(), text)
	}},
	{"csvlog", "postgres", "", func(w io.Writer, at time.Time, session int, seconds float64, text string) {
		stamp := at.Format("2006-01-02 15:04:05.000 UTC")
		fmt.Fprintf(w, "%s,\"app\",\"shop\",%d,\"10.0.0.1:5%d\",6745abcd.%x,%d,\"SELECT\",%s,4/17,0,LOG,00000,"+
			"\"duration: %.3f ms  statement: %s\""+
			",,,,,,,,,\"web\",\"client backend\",,0\n", stamp, session+900, session, session+900, at.UnixMilli()&0xfffff, stamp, seconds*1000,
			strings.ReplaceAll(text, `"`, `""`))
	}},
	{"jsonlog", "postgres", "", func(w io.Writer, at time.Time, session int, seconds float64, text string) {
		fmt.Fprintf(w, `{"timestamp":"%s","user":"app","dbname":"shop","pid":%d,"remote_host":"10.0.0.1","remote_port":5%d,`+
			`"session_id":"6745abcd.%x",`+
			`"line_num":%d,"ps":"SELECT","vxid":"4/17","txid":0,"error_severity":"LOG","message":"duration: %.3f ms  statement: %s",`+
			`"application_name":"web","backend_type":"client backend","query_id":0}`+"\n", at.Format("2006-01-02 15:04:05.000 UTC"), session+900,
			session, session+900, at.UnixMilli()&0xfffff, seconds*1000, strings.ReplaceAll(text, `"`, `\"`))
	}},
}

var generalHead = func() string {
	head := "/usr/sbin/mysqld, Version: 8.0.31 (MySQL Community Server - GPL). started with:\nTcp port: 3306  Unix socket: /s\n" +
		"Time                 Id Command    Argument\n"
	for session := range sessions {
		head += fmt.Sprintf("2026-11-27T10:00:00.000000Z\t%5d Connect\tapp@web on shop using TCP/IP\n", session+8)
	}
	return head
}()

const sessions = 32

// captureRows returns rows that read logs of each format, one of them packed, with a shop's statements. The server with
// the facts about columns is made up, since the log's cost is measured.
func captureRows() (all []row) {
	for i, f := range formats {
		all = append(all, row{name: "capture, " + f.name, unit: "MB", sizes: [3]int{10, 100, 1000}, most: 200, prepare: writeLog(i, ""),
			work: takeLog(i, ""), reference: func(p *place, r row, size int) []string { return []string{"wc", p.file(r, size, "")} }})
	}
	return append(all, row{
		name: "capture, general log, gzip", unit: "MB", sizes: [3]int{10, 100, 1000}, most: 200, prepare: writeLog(0, ".gz"),
		work: takeLog(0, ".gz"), reference: func(p *place, r row, size int) []string { return []string{"gzip", "-t", p.file(r, size, ".gz")} }})
}

func writeLog(format int, ending string) func(context.Context, *place, row, int) error {
	return func(_ context.Context, p *place, r row, size int) (err error) {
		file, err := os.Create(p.file(r, size, ending))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		to := io.Writer(file)
		if ending == ".gz" {
			packed := gzip.NewWriter(file)
			defer func() { err = errors.Join(err, packed.Close()) }()
			to = packed
		}
		w := bufio.NewWriterSize(&limited{to, int64(size) * 1e6}, 1<<20)
		f, random, at := formats[format], rand.New(rand.NewPCG(1, 2)), time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)
		_, err = w.WriteString(f.head)
		for err == nil {
			session := random.IntN(sessions)
			for _, text := range order(random) {
				at = at.Add(time.Duration(random.IntN(300)) * time.Microsecond)
				f.write(w, at, session, float64(random.IntN(5000))/1e6, text)
			}
			_, err = w.Write(nil)
		}
		if errors.Is(err, io.ErrShortWrite) {
			return nil
		}
		return err
	}
}

// order returns the statements of one order in a shop: a whole transaction, or a single statement.
func order(random *rand.Rand) []string {
	n, m := random.IntN(1_000_000), random.IntN(5000)
	switch random.IntN(4) {
	case 0:
		return []string{"BEGIN", fmt.Sprintf("SELECT stock, price FROM items WHERE id = %d FOR UPDATE", m),
			fmt.Sprintf("UPDATE items SET stock = stock - %d WHERE id = %d", 1+n%5, m),
			fmt.Sprintf("INSERT INTO orders (id, customer, item, state, note) VALUES (%d, %d, %d, 'open', 'leave it at no. %d')", n, n/7, m, n%90),
			"COMMIT"}
	case 1:
		return []string{fmt.Sprintf("SELECT o.id, o.state, i.name, i.price FROM orders o JOIN items i ON i.id = o.item "+
			"WHERE o.customer = %d AND "+
			"o.state IN ('open', 'paid', 'sent') ORDER BY o.id DESC LIMIT 20", n/7)}
	case 2:
		return []string{fmt.Sprintf("/* web.py:%d */ SELECT id, name, price FROM items WHERE id IN (%s%d)", n%300,
			strings.Repeat(fmt.Sprint(m, ", "), 1+n%30), m)}
	}
	return []string{fmt.Sprintf("UPDATE customers SET seen = '2026-11-27 10:%02d:%02d' WHERE id = %d", n%60, m%60, n/7)}
}

// limited is a writer that accepts a limited number of bytes.
type limited struct {
	to   io.Writer
	left int64
}

func (l *limited) Write(text []byte) (int, error) {
	if l.left <= 0 {
		return 0, io.ErrShortWrite
	}
	l.left -= int64(len(text))
	return l.to.Write(text)
}

func takeLog(format int, ending string) func(context.Context, *place, row, int, io.Writer, io.Writer) error {
	return func(ctx context.Context, p *place, r row, size int, stdout, stderr io.Writer) error {
		file, err := os.Open(p.file(r, size, ending))
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		board := new(progress.Board)
		board.Show(stderr, true, func() int { return 80 })
		for _, e := range all.Engines() {
			if reads, is := capture.Of(e); is && e.Name() == formats[format].engine {
				s, err := capture.Take(progress.With(ctx, board), reads, madeUp{}, capture.Options{Database: "shop", Log: file,
					LogName: r.name, LogSize: info.Size()})
				if err != nil {
					return err
				}
				fmt.Fprintln(stdout, strings.Join(s.Account(), "\n"))
			}
		}
		return nil
	}
}

// madeUp is a server that reports nothing about statements except that they exist.
type madeUp struct{}

func (madeUp) Server() string { return "a made-up server" }

func (madeUp) Counted(context.Context) ([]filewise.CountedStatement, error) { return nil, nil }

func (madeUp) Sessions(context.Context) (active, connected int, err error) { return 1, 1, nil }

func (madeUp) Shape(_ context.Context, text string, _ []string) (filewise.Shape, error) {
	return filewise.Shape{Pieces: []string{text}, Tables: []string{"items"}}, nil
}

func (madeUp) Table(_ context.Context, name string, _ func(string) bool) (filewise.TableFacts, error) {
	return filewise.TableFacts{Name: name, Table: name, Rows: 1000}, nil
}

func (madeUp) Settings(context.Context, map[string]string) (map[string]string, error) {
	return nil, nil
}

func (madeUp) Close() error { return nil }
