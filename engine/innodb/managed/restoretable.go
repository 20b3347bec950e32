package managed

import (
	"regexp"
	"strings"
)

// definition is the part of a dump's CREATE TABLE that a layout changes.
type definition struct {
	name    string
	columns []string
	types   map[string]string // types of the columns
	made    map[string]bool   // generated columns
	keys    [][]string        // primary and unique keys
	refers  []string          // tables to which its foreign keys refer
	other   []string          // what partitions cannot have
	engine  string
	divided bool // it has partitions
	packed  bool // its rows are compressed
	tail    int  // position in its text at which the options begin
}

var (
	creates = regexp.MustCompile("^CREATE TABLE (?:IF NOT EXISTS )?`((?:[^`]|``)+)` ?\\(\n")
	column  = regexp.MustCompile("^ *`((?:[^`]|``)+)` ([a-z]+)")
	// generated matches the beginning of a generated column's definition.
	generated = regexp.MustCompile("^ *`(?:[^`]|``)+` [a-z]+(?:\\((?:'(?:[^']|'')*'|[^')])*\\))?(?: \\w+)* GENERATED ALWAYS AS \\(")
	key       = regexp.MustCompile("^ *(?:PRIMARY KEY|UNIQUE KEY `(?:[^`]|``)+`) \\((.*?)\\)(?: USING [A-Z]+)?(?: COMMENT '.*')?,?$")
	keyPart   = regexp.MustCompile("`((?:[^`]|``)+)`( ?\\(\\d+\\))?")
	refers    = regexp.MustCompile("^ *CONSTRAINT .* FOREIGN KEY \\(.*\\) REFERENCES `((?:[^`]|``)+)` \\(")
	special   = regexp.MustCompile("^ *((?:FULLTEXT|SPATIAL) KEY `(?:[^`]|``)+`)")
	engines   = regexp.MustCompile(`\bENGINE ?= ?(\w+)`)
	whole     = regexp.MustCompile(`^(?:tiny|small|medium|big)?int$`)
)

// define reads a CREATE TABLE as both servers write it. is is false for any other statement.
func define(text string) (d definition, is bool) {
	m := creates.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	plain := func(name string) string { return strings.ReplaceAll(name, "``", "`") }
	d.name, d.types, d.made = plain(m[1]), map[string]string{}, map[string]bool{}
	d.tail = strings.LastIndex(text, "\n)")
	for _, options := range []string{"\n) ENGINE", "\n) /*!50100 TABLESPACE"} {
		if at := strings.Index(text, options); at >= 0 {
			d.tail = at
		}
	}
	if d.tail < 0 {
		return d, false
	}
	for _, line := range strings.Split(text[len(m[0]):d.tail], "\n") {
		if m := column.FindStringSubmatch(line); m != nil {
			name := plain(m[1])
			d.columns, d.types[name] = append(d.columns, name), m[2]
			if generated.MatchString(line) {
				d.made[name] = true
			}
		} else if m := key.FindStringSubmatch(line); m != nil {
			var columns []string
			for _, part := range keyPart.FindAllStringSubmatch(m[1], -1) {
				if part[2] == "" {
					columns = append(columns, plain(part[1]))
				}
			}
			d.keys = append(d.keys, columns)
		} else if m := refers.FindStringSubmatch(line); m != nil {
			d.refers = append(d.refers, plain(m[1]))
		} else if m := special.FindStringSubmatch(line); m != nil {
			d.other = append(d.other, "it has "+m[1])
		}
	}
	options := text[d.tail:]
	d.divided = strings.Contains(options, "PARTITION BY ")
	d.packed = strings.Contains(options, "ROW_FORMAT=COMPRESSED")
	if m := engines.FindStringSubmatch(options); m != nil {
		d.engine = m[1]
	}
	return d, true
}
