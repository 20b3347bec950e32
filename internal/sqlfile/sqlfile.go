// Package sqlfile reads an engine's SQL files: named sections of text/template.
//
//	-- name: tables
//	CREATE TABLE {{ident .Table}} (id INTEGER PRIMARY KEY);
//
//	-- name: procedure whole
//	CREATE PROCEDURE p() BEGIN SELECT 1; END
//
// A section has statements, each ended by a semicolon at the end of a line. A section marked "whole" is one statement,
// semicolons included. A section can have several names for the same text. In the text, {{op}} is the part of the name
// after its first hyphen. Only comments may come before the first section. Engines pass their quoting of identifiers
// and literals as template functions.
package sqlfile

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template"
)

// File is a parsed SQL file. It is safe for concurrent use.
type File struct {
	name     string
	order    []string
	sections map[string]section
}

type section struct {
	text  func() (*template.Template, error) // parsed when first rendered, since a command renders few of all sections
	whole bool
}

var header = regexp.MustCompile(`^--\s*name:\s*(.*?)\s*$`)
var title = regexp.MustCompile(`^([a-z][a-z0-9_-]*(?:\s+[a-z][a-z0-9_-]*)*?)(\s+whole)?$`)

// Parse divides a file's text into sections. Errors hold the file's name and the line. Errors in a section's template
// are returned when it is rendered.
func Parse(name, text string, funcs template.FuncMap) (*File, error) {
	f := &File{name: name, sections: map[string]section{}}
	return f, f.Add(text, funcs)
}

// Add adds further sections.
func (f *File) Add(text string, funcs template.FuncMap) error {
	publish(text)
	var current []string // the names of the section being read
	var whole bool
	var body []string
	start := 0
	finish := func() error {
		for n := len(body) - 1; n >= 0 && (comment(body[n]) || strings.TrimSpace(body[n]) == ""); n-- { // they belong to the next section
			body = body[:n]
		}
		for _, name := range current {
			if err := f.add(name, strings.Join(body, "\n"), start, whole, funcs); err != nil {
				return err
			}
		}
		return nil
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		var m []string
		if strings.HasPrefix(line, "--") {
			m = header.FindStringSubmatch(line)
		}
		if m == nil {
			if current == nil && strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "--") {
				return fmt.Errorf("%s:%d: text before the first section", f.name, i+1)
			}
			body = append(body, line)
			continue
		}
		if err := finish(); err != nil {
			return err
		}
		t := title.FindStringSubmatch(m[1])
		if t == nil {
			return fmt.Errorf("%s:%d: %q is not a section's name", f.name, i+1, m[1])
		}
		current, whole, body, start = strings.Fields(t[1]), t[2] != "", nil, i+2
	}
	if err := finish(); err != nil {
		return err
	}
	if len(f.order) == 0 {
		return fmt.Errorf("%s: no section", f.name)
	}
	return nil
}

func (f *File) add(name, text string, line int, whole bool, funcs template.FuncMap) error {
	if _, twice := f.sections[name]; twice {
		return fmt.Errorf("%s:%d: section %q stands twice", f.name, line-1, name)
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return fmt.Errorf("%s:%d: section %q is empty", f.name, line-1, name)
	}
	_, operation, _ := strings.Cut(name, "-")
	op := template.FuncMap{"op": func() string { return operation }}
	f.order = append(f.order, name)
	f.sections[name] = section{sync.OnceValues(func() (*template.Template, error) {
		t, err := template.New(f.name + ":" + name).Option("missingkey=error").Funcs(funcs).Funcs(op).Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: section %q: %w", f.name, line, name, err)
		}
		return t, nil
	}), whole}
	return nil
}

// Must returns the file of Parse, and panics on an error. It is for embedded files, whose errors are the programmer's.
func Must(f *File, err error) *File {
	if err != nil {
		panic(err)
	}
	return f
}

// Files holds a folder's files by name, without ".sql".
type Files map[string]*File

// Apart removes a file from the others, each of which belongs to a workload, and returns it.
func (all Files) Apart(name string) *File {
	f := all[name]
	delete(all, name)
	return f
}

// Folder parses the files in folder "sql" of an embedded file system. If edit is not nil, it changes their texts first.
func Folder(files fs.FS, edit func(text string) string, funcs template.FuncMap) Files {
	names, err := fs.Glob(files, "sql/*.sql")
	all := Files{}
	for _, name := range names {
		var b []byte
		if b, err = fs.ReadFile(files, name); err != nil {
			break
		}
		text := string(b)
		if edit != nil {
			text = edit(text)
		}
		all[strings.TrimSuffix(path.Base(name), ".sql")] = Must(Parse(name, text, funcs))
	}
	if err != nil {
		panic(err) // the file is embedded: the programmer's error
	}
	return all
}

// Sections returns the sections' names in file order.
func (f *File) Sections() []string { return slices.Clone(f.order) }

// Has reports whether the file has a section with this name. A nil file has none.
func (f *File) Has(name string) bool {
	if f == nil {
		return false
	}
	_, ok := f.sections[name]
	return ok
}

// Statements renders a section, and divides it into statements without their final semicolons. It returns none if the
// section renders to nothing.
func (f *File) Statements(name string, data any) ([]string, error) {
	s, ok := f.sections[name]
	if !ok {
		return nil, fmt.Errorf("%s has no section %q", f.name, name)
	}
	text, err := s.text()
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := text.Execute(&b, data); err != nil {
		return nil, fmt.Errorf("%s, section %q: %w", f.name, name, err)
	}
	if s.whole {
		return nonEmpty([]string{b.String()}), nil
	}
	return nonEmpty(divide(b.String())), nil
}

// Statement renders a section that must be exactly one statement.
func (f *File) Statement(name string, data any) (string, error) {
	all, err := f.Statements(name, data)
	if err != nil {
		return "", err
	}
	if len(all) != 1 {
		return "", fmt.Errorf("%s: section %q has %d statements, expected 1", f.name, name, len(all))
	}
	return all[0], nil
}

// Text returns the only statement of a section without parameters. The programmer ensures that there is one.
func (f *File) Text(name string) string {
	statement, err := f.Statement(name, nil)
	if err != nil {
		panic(err)
	}
	return statement
}

// divide ends a statement at every line that ends with a semicolon.
func divide(text string) []string {
	var out, lines []string
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimRight(line, " \t\r")
		if comment(line) || !strings.HasSuffix(trimmed, ";") {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, strings.TrimRight(trimmed, "; \t"))
		out = append(out, strings.Join(lines, "\n"))
		lines = nil
	}
	return append(out, strings.Join(lines, "\n"))
}

func comment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "--") }

// nonEmpty drops statements that consist of comments alone.
func nonEmpty(all []string) []string {
	var out []string
	for _, s := range all {
		empty := true
		for line := range strings.SplitSeq(s, "\n") {
			if strings.TrimSpace(line) != "" && !comment(line) {
				empty = false
			}
		}
		if !empty {
			out = append(out, strings.TrimSpace(s))
		}
	}
	return out
}

// Short returns the beginning of a statement, for messages, without the comments before it.
func Short(statement string) string {
	line, rest, more := strings.Cut(strings.TrimSpace(statement), "\n")
	for more && strings.HasPrefix(line, "--") {
		line, rest, more = strings.Cut(strings.TrimSpace(rest), "\n")
	}
	if len(line) > 100 {
		line, more = strings.ToValidUTF8(line[:100], ""), true
	}
	if more {
		line += " …"
	}
	return line
}
