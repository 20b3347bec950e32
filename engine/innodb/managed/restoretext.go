package managed

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"filewise"
	"filewise/engine/innodb/dialect"
	"filewise/engine/internal/dumpfile"
	"filewise/internal/filesystem"
)

// openDump opens the text of a dump: a script of mysqldump or mariadb-dump, or the files of mydumper's directory,
// joined.
func openDump(path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return openScript(path)
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var of [len(endings)][]string
	for _, e := range entries {
		name := filesystem.UnpackedName(e.Name())
		at := slices.IndexFunc(endings[:], func(end string) bool { return strings.HasSuffix(name, end) })
		switch {
		case at >= 0:
			of[at] = append(of[at], filepath.Join(path, e.Name()))
		case strings.Contains(name, ".sql.") || strings.HasSuffix(name, ".dat"):
			return nil, fmt.Errorf("%s is packed by a program that Filewise does not have, or has rows for LOAD DATA", e.Name())
		}
	}
	switch {
	case len(of[0]) > 1:
		return nil, errSeveral
	case len(of[1]) == 0:
		return nil, errors.New("the directory has no tables of mydumper's")
	}
	return &files{left: slices.Concat(of[0], of[1], of[len(endings)-1], of[2], of[3], of[4])}, nil
}

// openScript opens a script, unless its head shows that another program wrote it.
func openScript(path string) (io.ReadCloser, error) {
	f, err := filesystem.OpenText(path)
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(f, 1<<20)
	head, _ := in.Peek(dumpfile.Head)
	if err := dumpfile.CheckHead(head, dumpPrograms, "mysqldump", "mariadb-dump"); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{in, f}, nil
}

var errSeveral = filewise.Errorf(filewise.CodeUsage, "dump only one", "the dump contains several databases")

// endings lists the endings of mydumper's files: the database, tables, views, triggers, routines with events, and rows.
// Rows are read before the triggers.
var endings = [...]string{"-schema-create.sql", "-schema.sql", "-schema-view.sql", "-schema-triggers.sql", "-schema-post.sql", ".sql"}

// files reads files one after the other.
type files struct {
	left []string
	now  io.ReadCloser
}

func (f *files) Read(to []byte) (int, error) {
	for {
		if f.now == nil {
			if len(f.left) == 0 {
				return 0, io.EOF
			}
			var err error
			if f.now, err = filesystem.OpenText(f.left[0]); err != nil {
				return 0, err
			}
			f.left = f.left[1:]
		}
		n, err := f.now.Read(to)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := f.Close(); err != nil || n > 0 {
			return n, err
		}
	}
}

func (f *files) Close() (err error) {
	if f.now != nil {
		err = f.now.Close()
		f.now = nil
	}
	return err
}

// statements splits a dump as the programs that load one do: a statement ends at the end of a line. Within texts the
// dumping programs write \n.
type statements struct {
	in        *bufio.Reader
	delimiter string
	ansi      dialect.ANSI
}

// simple matches the beginning of statements that cannot contain a routine's body.
var simple = regexp.MustCompile(`^(INSERT|CREATE TABLE|DROP|SET|LOCK|UNLOCK|USE) `)

// trimmed returns a statement without trailing spaces. In routines mydumper adds a space after each semicolon, so that
// the statement does not end there.
func (s *statements) trimmed(text string) string {
	if s.delimiter != ";" || text == "" || text[len(text)-1] != ' ' && text[len(text)-1] != '\t' || !simple.MatchString(text) {
		return text
	}
	return strings.TrimRight(text, " \t")
}

// next returns the next statement, or io.EOF after the last one.
func (s *statements) next() (string, error) {
	var b strings.Builder
	for {
		line, err := filesystem.Line(s.in, b.Len())
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		text := strings.TrimRight(line, "\r\n")
		delimiter, sets := strings.CutPrefix(text, "DELIMITER ")
		_, database, says := strings.Cut(text, " Database: ")
		switch {
		case b.Len() == 0 && says && strings.HasPrefix(text, "-- Host: ") && database != "":
			return "USE " + dialect.Ident(database), nil // a dump of one database has no USE
		case b.Len() > 0 || !sets && text != "" && !strings.HasPrefix(text, "--") && !strings.HasPrefix(text, "/*M!999999"):
			if b.Len() > 0 { // rows come in lines of a megabyte, which are not copied
				b.WriteString(text)
				text = b.String()
			}
			if whole, ends := strings.CutSuffix(s.trimmed(text), s.delimiter); ends {
				return s.ansi.Backticked(whole), nil
			}
			if b.Len() == 0 {
				b.WriteString(text)
			}
			b.WriteByte('\n')
		case sets:
			s.delimiter = delimiter
		}
		if err != nil && strings.TrimSpace(b.String()) == "" {
			return "", io.EOF
		}
		if err != nil {
			return "", fmt.Errorf("the dump ends within a statement: %w", io.ErrUnexpectedEOF)
		}
	}
}
